// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/v2"

	"github.com/readtrail/readtrail/record"
)

// parseHeader reads the header of a body. Of a body that is not supported it
// reads only what the journal itself rests on: which journal, which place, when.
func parseHeader(body []byte, supported bool) (EntryHeader, error) {
	var frame struct {
		JournalID  string `json:"journal_id"`
		Sequence   uint64 `json:"sequence"`
		RecordedAt string `json:"recorded_at"`
	}
	if err := json.Unmarshal(body, &frame); err != nil || frame.Sequence == 0 {
		return EntryHeader{}, notEntry("body lacks a sequence, journal_id or recorded_at of its type")
	}
	h := EntryHeader{JournalID: frame.JournalID, Sequence: frame.Sequence}
	var err error
	if h.RecordedAt, err = record.ParseTime(frame.RecordedAt); err != nil {
		return EntryHeader{}, notEntry("recorded_at: %w", err)
	}
	if !supported {
		return h, nil
	}
	var header struct {
		EventID     string             `json:"event_id"`
		EventType   string             `json:"event_type"`
		OccurredAt  string             `json:"occurred_at"`
		Correlation record.Correlation `json:"correlation"`
		Scope       record.Scope       `json:"scope"`
	}
	if err := json.Unmarshal(body, &header); err != nil {
		return EntryHeader{}, notEntry("header of the body has a member of the wrong type")
	}
	if h.OccurredAt, err = record.ParseTime(header.OccurredAt); err != nil {
		return EntryHeader{}, notEntry("occurred_at: %w", err)
	}
	h.EventID, h.EventType = header.EventID, header.EventType
	h.Correlation, h.Scope = header.Correlation, header.Scope
	return h, nil
}
