// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "errors"

// The event types of journal records (contract 15) that this version writes.
const (
	EventJournalOpened    = "journal.opened"
	EventJournalResumed   = "journal.resumed"
	EventJournalRecovered = "journal.recovered"
	EventJournalClosed    = "journal.closed"
	EventItemUnrecordable = "item.unrecordable"
)

// Journal is the body of a journal_record: the journal about itself. An absent
// occurred_at is filled by the journal with recorded_at.
type Journal struct {
	Header `json:",inline"`
	// Detail depends on the event type.
	Detail any `json:"detail,omitzero"`
}

// Recovered is the detail of journal.recovered: what a crash tore off, where
// it stood and where it is kept (contract 8).
type Recovered struct {
	Segment string `json:"segment"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
	Digest  string `json:"digest"`
	KeptAs  string `json:"kept_as"`
}

// Unrecordable is the detail of item.unrecordable: why a telemetry item could
// not become a record. Its ids stand in the correlation.
type Unrecordable struct {
	Reason string `json:"reason"`
	// ItemID is the id that the record would have had.
	ItemID string `json:"item_id"`
	// Item is the kind of telemetry item: span, span_event or log.
	Item Signal `json:"item"`
}

// The reasons of item.unrecordable.
const (
	// ReasonNoTime: the item has neither an end nor a start.
	ReasonNoTime = "no_time"
	// ReasonTooLarge: the record would exceed the largest entry.
	ReasonTooLarge = "too_large"
	// ReasonInvalid: the record would not be JSON, whatever else.
	ReasonInvalid = "invalid"
)

// ReasonOf returns the reason for an error of a draft.
func ReasonOf(err error) string {
	if errors.Is(err, ErrTooLarge) {
		return ReasonTooLarge
	}
	return ReasonInvalid
}
