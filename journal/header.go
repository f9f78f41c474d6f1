// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/readtrail/readtrail/record"
)

// readFrame reads from the body what the journal itself rests on, in every body
// of every version: which journal, which place, when. The layout of an audit
// event names no journal (contract 1).
func (e *Entry) readFrame() error {
	var frame struct {
		JournalID  text   `json:"journal_id"`
		Sequence   uint64 `json:"sequence"`
		RecordedAt string `json:"recorded_at"`
	}
	if err := json.Unmarshal(e.Body, &frame); err != nil {
		return notEntry("body lacks a sequence, journal_id or recorded_at of its type")
	}
	e.Header.JournalID, e.Header.Sequence = string(frame.JournalID), frame.Sequence
	if frame.Sequence == 0 {
		return notEntry("body lacks a sequence from 1 on")
	}
	if frame.JournalID == "" && e.Kind != kindAuditEvent {
		return notEntry("body lacks a journal_id")
	}
	var err error
	if e.Header.RecordedAt, err = record.ParseTime(frame.RecordedAt); err != nil {
		return notEntry("recorded_at: %w", err)
	}
	return nil
}

// readHeader reads the rest of the header of a body that this version knows. It
// takes no member of another type for an absent one; whether a value is one that
// its member may have is for the schema to say.
func (e *Entry) readHeader() error {
	var header struct {
		EventID     text           `json:"event_id"`
		EventType   text           `json:"event_type"`
		OccurredAt  string         `json:"occurred_at"`
		Correlation jsontext.Value `json:"correlation"`
		Scope       jsontext.Value `json:"scope"`
	}
	if err := json.Unmarshal(e.Body, &header); err != nil {
		return notEntry("header of the body has a member of the wrong type")
	}
	if header.EventID == "" || header.EventType == "" {
		return notEntry("body lacks an event_id or event_type")
	}
	h := &e.Header
	h.EventID, h.EventType = string(header.EventID), string(header.EventType)
	var err error
	if h.OccurredAt, err = record.ParseTime(header.OccurredAt); err != nil {
		return notEntry("occurred_at: %w", err)
	}
	if header.Correlation != nil {
		if err := readHeld(header.Correlation, &h.Correlation); err != nil {
			return notEntry("correlation has a member that is not one of contract 1")
		}
	}
	if err := readHeld(header.Scope, &h.Scope); err != nil {
		return notEntry("scope is missing or has a member that is not one of contract 1")
	}
	return nil
}

// readRotation reads what a record of the journal about itself says about a
// change of keys, as far as it can be read; what does not fit is for the schema
// to refuse.
func (e *Entry) readRotation() (eventType, incoming string) {
	var event struct {
		EventType string `json:"event_type"`
	}
	if err := json.Unmarshal(e.Body, &event); err != nil || event.EventType != eventKeyRotated {
		return event.EventType, ""
	}
	var rotated struct {
		Detail struct {
			IncomingKeyID string `json:"incoming_key_id"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(e.Body, &rotated); err != nil {
		return event.EventType, ""
	}
	return event.EventType, rotated.Detail.IncomingKeyID
}
