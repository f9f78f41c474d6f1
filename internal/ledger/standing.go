// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Standing is what entries of a journal decided that later ones have to obey:
// the legal holds that are set, and where pruning has the journal begin. A
// running writer keeps it beside the index of repeats, which learns every entry
// or is learned anew from all of them.
type Standing struct {
	// Holds are the legal holds that are set and not lifted, oldest first.
	Holds []record.Hold `json:"holds,omitempty"`
	// Begins is what the newest journal.pruned says; its FirstSequence is 0 if there
	// is none. Segments and Rule are left out.
	Begins record.Pruned `json:"begins,omitzero"`
}

// held reports whether a legal hold is set.
func (s Standing) held() bool { return len(s.Holds) > 0 }

// hold returns the index of a hold, or -1.
func (s Standing) hold(id string) int {
	return slices.IndexFunc(s.Holds, func(h record.Hold) bool { return h.HoldID == id })
}

// after returns the standing behind an entry of the journal about itself.
// Setting a hold that is set and lifting one that is not change nothing.
func (s Standing) after(eventType string, detail any) Standing {
	switch d := detail.(type) {
	case record.Hold:
		at := s.hold(d.HoldID)
		switch {
		case eventType == record.EventHoldSet && at < 0:
			s.Holds = append(slices.Clip(s.Holds), d)
		case eventType == record.EventHoldLifted && at >= 0:
			s.Holds = slices.Concat(s.Holds[:at], s.Holds[at+1:])
		}
	case record.Pruned:
		if d.FirstSequence > s.Begins.FirstSequence {
			s.Begins = record.Pruned{FirstSequence: d.FirstSequence, Anchor: d.Anchor, TreeHashes: d.TreeHashes}
		}
	}
	return s
}

// afterStored is after for an entry that was read.
func (s Standing) afterStored(e *journal.Entry) (Standing, error) {
	if e.Kind != record.KindJournal {
		return s, nil
	}
	known := true
	switch e.Header.EventType {
	case record.EventHoldSet, record.EventHoldLifted:
		var hold record.Hold
		hold, known = detailOf[record.Hold](e)
		s = s.after(e.Header.EventType, hold)
	case record.EventJournalPruned:
		var pruned record.Pruned
		pruned, known = detailOf[record.Pruned](e)
		s = s.after(e.Header.EventType, pruned)
	}
	if !known {
		return s, fmt.Errorf("detail of %s in entry %d cannot be read; run: readtrail verify", e.Header.EventType, e.Header.Sequence)
	}
	return s, nil
}

// text spells a standing for the index; the zero one is "".
func (s Standing) text() string {
	if !s.held() && s.Begins.FirstSequence == 0 {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		// Strings and integers that were read from JSON are JSON.
		panic(err)
	}
	return string(text)
}

func parseStanding(text string) (s Standing, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// aboutItself stands in every line with a journal_record, whose canonical form
// has that name directly behind a comma.
var aboutItself = []byte(`,"` + string(record.KindJournal) + `":{`)

// ReadStanding reads a journal to its end, which may be written meanwhile: the
// last line counts if it is whole. It verifies nothing.
func ReadStanding(ctx context.Context, fs durable.FS, dir string) (Standing, error) {
	var s Standing
	segments, err := segment.List(fs, dir)
	if err != nil {
		return s, err
	}
	for line, err := range segment.Lines(fs, dir, segment.Position{}) {
		last := len(segments) > 0 && line.Segment >= segments[len(segments)-1].First
		switch {
		case ctx.Err() != nil:
			return s, ctx.Err()
		case errors.Is(err, segment.ErrNoLine) && last:
			return s, nil
		case err != nil:
			return s, err
		case !bytes.Contains(line.Bytes, aboutItself):
			continue
		}
		e, err := journal.ParseLine(line.Bytes)
		if err == nil {
			s, err = s.afterStored(e)
		}
		if err != nil {
			return s, fmt.Errorf("%s at %d: %w", segment.Name(line.Segment), line.Offset, err)
		}
	}
	return s, nil
}
