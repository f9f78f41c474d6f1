// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "errors"

// The event types of journal records (contract 15) that this version writes.
const (
	EventJournalOpened    = "journal.opened"
	EventJournalResumed   = "journal.resumed"
	EventJournalRecovered = "journal.recovered"
	EventKeyRotated       = "journal.key_rotated"
	EventKeyAccepted      = "journal.key_accepted"
	EventJournalHeartbeat = "journal.heartbeat"
	EventJournalGap       = "journal.gap"
	EventHoldSet          = "journal.hold_set"
	EventHoldLifted       = "journal.hold_lifted"
	EventJournalPruned    = "journal.pruned"
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

// KeyRotated is the detail of journal.key_rotated: the key that signs the next
// entry, journal.key_accepted (contract 4).
type KeyRotated struct {
	IncomingKeyID string `json:"incoming_key_id"`
}

// KeyAccepted is the detail of journal.key_accepted.
type KeyAccepted struct {
	OutgoingKeyID string `json:"outgoing_key_id"`
}

// Heartbeat is the detail of journal.heartbeat, which makes silence provable
// (contract 5).
type Heartbeat struct {
	// SilentSince is recorded_at of the entry before.
	SilentSince Time `json:"silent_since,omitzero"`
}

// Gap is the detail of journal.gap: a place outside the journal that a checkpoint
// did not reach, or that one reaches again.
type Gap struct {
	// Sink is the name that the configuration gives the place.
	Sink  string   `json:"sink"`
	State GapState `json:"state"`
	// Reason is a token in lower case, such as timeout; absent when closed.
	Reason string `json:"reason,omitzero"`
	// TreeSize is the size of the first checkpoint that the sink missed or, of a
	// closed gap, of the first one that it took again.
	TreeSize uint64 `json:"tree_size"`
}

// GapState says whether a gap begins or ends.
type GapState string

// The states of a gap.
const (
	GapOpen   GapState = "open"
	GapClosed GapState = "closed"
)

// Hold is the detail of journal.hold_set and journal.hold_lifted: a legal hold on
// the whole journal. While one is set nothing of the journal is pruned.
type Hold struct {
	HoldID      string `json:"hold_id"`
	Reason      string `json:"reason,omitzero"`
	RequestedBy string `json:"requested_by,omitzero"`
}

// Pruned is the detail of journal.pruned: what is removed at the beginning of the
// journal, and what the rest is anchored to. It is written before anything is
// removed.
type Pruned struct {
	// FirstSequence is that of the first entry that stays.
	FirstSequence uint64 `json:"first_sequence"`
	// Anchor is the record hash of the last entry that goes.
	Anchor string `json:"anchor"`
	// TreeHashes are the hashes of the largest complete RFC 6962 subtrees of the
	// FirstSequence-1 entries that go, from the left, each in 64 hex digits.
	TreeHashes []string        `json:"tree_hashes"`
	Segments   []PrunedSegment `json:"segments"`
	Rule       PruneRule       `json:"rule"`
}

// PrunedSegment is a segment that was removed.
type PrunedSegment struct {
	Segment string `json:"segment"`
	// Size is in bytes, Digest the SHA-256 of the file.
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
	// ArchivedAs says where a locked copy is, if there is one.
	ArchivedAs string `json:"archived_as,omitzero"`
}

// PruneRule says why entries may go.
type PruneRule struct {
	// KeepDays is how long entries of the retention class are kept.
	KeepDays    int64  `json:"keep_days"`
	RequestedBy string `json:"requested_by,omitzero"`
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
