// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/durable"
)

// ErrDamaged says that a journal is damaged where no crash can have done it, and
// that it stays unavailable until someone examined it. Every DamageError is one.
var ErrDamaged = errors.New("journal is damaged")

// DamageError tells where a journal is damaged. It has to be examined, not
// written to.
type DamageError struct {
	// Segment is a file name.
	Segment string
	Offset  int64
	// Sequence is that of the entry that should stand there.
	Sequence uint64
	Reason   error
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal is damaged in %s at offset %d (sequence %d), and no crash did that: %v; "+
		"keep the files as they are and run: readtrail verify", e.Segment, e.Offset, e.Sequence, e.Reason)
}

// Is reports whether the target is ErrDamaged.
func (e *DamageError) Is(target error) bool { return target == ErrDamaged }

// Unwrap returns the reason.
func (e *DamageError) Unwrap() error { return e.Reason }

// SequenceError is what a Validate returns for a line that is intact but has
// another sequence than its place demands.
type SequenceError struct {
	// Found is the sequence of the line.
	Found uint64
}

// Error implements error.
func (e *SequenceError) Error() string { return fmt.Sprintf("entry has sequence %d", e.Found) }

// gap says how the last segment does not continue the one before, whose last
// line is intact and has sequence end.
func gap(before, last Info, end uint64) error {
	why := "entries between them are missing, or it is a stray file"
	if end >= last.First {
		why = "one of the two is a stray file"
	}
	if last.Size == 0 {
		why += "; it is empty, so that it can be moved away"
	}
	return fmt.Errorf("it begins at sequence %d, but %s before it ends with %d: %s", last.First, Name(before.First), end, why)
}

// MissingError says that segments are not there that were there before: a volume
// or a directory is gone, or somebody moved them. What a journal holds cannot be
// said until they are back; that is no damage.
type MissingError struct {
	// Segments are file names, at least one.
	Segments []string
}

// Error implements error.
func (e *MissingError) Error() string {
	more := ""
	if n := len(e.Segments) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("missing since the journal was opened: segment %s%s; put back what is missing, and the journal goes on by itself",
		e.Segments[0], more)
}

// Missing returns a MissingError if a segment that is known is not there.
func Missing(fs durable.FS, dir string, known Known) error {
	segments, err := List(fs, dir)
	if err != nil {
		return err
	}
	found := make([]uint64, len(segments))
	for i, s := range segments {
		found[i] = s.First
	}
	return missing(known.Segments, found)
}

// missing is Missing for segments that were found. Both are sorted.
func missing(known, found []uint64) error {
	var names []string
	for _, first := range known {
		if _, ok := slices.BinarySearch(found, first); !ok {
			names = append(names, Name(first))
		}
	}
	if names == nil {
		return nil
	}
	return &MissingError{Segments: names}
}
