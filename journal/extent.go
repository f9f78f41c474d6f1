// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Between returns the part of the source that holds the entries from one sequence
// to another, both included, in whole segments: what is read is never less than
// what was asked for. From 0 means from the beginning, and to 0 to the end. It is
// an error if the names of the segments say that there is no such entry.
func (s *Source) Between(from, to uint64) (*Source, error) {
	if to > 0 && from > to {
		return nil, fmt.Errorf("%s: no entry is between %d and %d", s.Path, from, to)
	}
	part := &Source{Path: s.Path, endsEarly: s.endsEarly}
	for i, segment := range s.Segments {
		if i+1 < len(s.Segments) && from > 0 && s.Segments[i+1].FirstSequence > 0 && s.Segments[i+1].FirstSequence <= from {
			continue
		}
		if to > 0 && segment.FirstSequence > to {
			part.endsEarly, part.endsBefore = true, segment.FirstSequence
			break
		}
		part.Segments = append(part.Segments, segment)
	}
	if len(part.Segments) == 0 {
		return nil, fmt.Errorf("%s: the journal begins at %d, behind %d", s.Path, s.Segments[0].FirstSequence, to)
	}
	return part, nil
}

// reaches reports whether the source may hold the entry at a sequence.
func (s *Source) reaches(sequence uint64) bool {
	return !s.endsEarly || sequence < s.endsBefore
}

// patienceStep is how long is waited before a line in flight is looked for again.
const patienceStep = 20 * time.Millisecond

// inFlight reports whether a line that the source cuts off becomes whole in the file
// within the patience of the options: a writer was about to write it when the
// source was opened.
func (v *verifier) inFlight(segment int, offset int64) bool {
	s := v.source.Segments[segment]
	if s.Open != nil {
		return false // nobody writes to an archive
	}
	for waited := time.Duration(0); ; waited += patienceStep {
		if isWhole(s, offset) {
			return true
		}
		if waited >= v.options.Patience {
			return false
		}
		select {
		case <-v.ctx.Done():
			return false
		case <-time.After(patienceStep):
		}
	}
}

// isWhole reports whether a file has grown since it was opened, and the line at
// offset has an end.
func isWhole(s Segment, offset int64) bool {
	f, err := os.Open(s.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() <= s.Size {
		return false
	}
	line := make([]byte, record.MaxEntryBytes+1)
	n, err := f.ReadAt(line, offset)
	return (err == nil || errors.Is(err, io.EOF)) && bytes.IndexByte(line[:n], '\n') >= 0
}
