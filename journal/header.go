// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// frame is what the journal itself rests on, in every body of every version: which
// journal, which place, when.
type frame struct {
	// journalID is as it stands in the line. The layout of an audit event names no
	// journal (contract 1).
	journalID  []byte
	sequence   uint64
	recordedAt record.Time
}

func (p *parts) readFrame() (frame, error) {
	var f frame
	id, sequence, at := p.headerMember("journal_id"), p.headerMember("sequence"), p.headerMember("recorded_at")
	if id != nil {
		var ok bool
		if f.journalID, ok = stringOf(id); !ok || len(f.journalID) == 0 {
			return f, notEntry("body lacks a sequence, journal_id or recorded_at of its type")
		}
	}
	var err error
	if f.sequence, err = strconv.ParseUint(string(sequence), 10, 64); err != nil || f.sequence == 0 {
		return f, notEntry("body lacks a sequence from 1 on")
	}
	if id == nil && p.kind != record.KindAuditEvent {
		return f, notEntry("body lacks a journal_id")
	}
	text, _ := stringOf(at)
	if f.recordedAt, err = record.ParseTime(string(text)); err != nil {
		return f, notEntry("recorded_at: %w", err)
	}
	return f, nil
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

// event is what a record of the journal about itself says, as far as it changes
// what is expected of the entries around it.
type event struct {
	eventType string
	// rotatedTo is the key that a journal.key_rotated names.
	rotatedTo string
	// pruned is the detail of a journal.pruned.
	pruned *record.Pruned
	// recovered is the detail of a journal.recovered.
	recovered *record.Recovered
}

// readEvent reads a journal_record as far as it can be read; what does not fit is
// for the schema to refuse.
func (p *parts) readEvent() event {
	text, _ := stringOf(p.headerMember("event_type"))
	e := event{eventType: string(text)}
	detail := p.headerMember("detail")
	switch e.eventType {
	case record.EventKeyRotated:
		var rotated record.KeyRotated
		if json.Unmarshal(detail, &rotated) == nil {
			e.rotatedTo = rotated.IncomingKeyID
		}
	case record.EventJournalPruned:
		pruned := &record.Pruned{}
		if json.Unmarshal(detail, pruned) == nil {
			e.pruned = pruned
		}
	case record.EventJournalRecovered:
		recovered := &record.Recovered{}
		if json.Unmarshal(detail, recovered) == nil {
			e.recovered = recovered
		}
	}
	return e
}
