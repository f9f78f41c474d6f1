// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/readtrail/readtrail/internal/durable"
)

var errShort = errors.New("segment ends before what was durable")

// Validate says whether a line is intact behind those that it was asked about
// before, and why not. The first line that it is asked about stands behind one
// that it does not see. Sequence is what the name of the segment demands.
type Validate func(line Line, sequence uint64) error

// Admit is asked once it is known where the intact lines end, before anything on
// the disk is changed. Torn are the bytes behind them that are about to be cut
// off, nil if there are none. An error leaves everything as it is.
type Admit func(torn []byte) error

// Known is what the caller of Open knows to be durable, because it wrote or
// found it before; the zero Known is nothing.
type Known struct {
	// Segments are the first sequences of all segments.
	Segments []uint64
	// End is where the last durable line ends.
	End Position
}

// Open opens the journal in dir for appending, after making sure that its last
// segment is intact and durable. A torn tail is moved to a file of its own. It
// returns a DamageError for damage before the tail or in what is known, and a
// MissingError if a segment that is known is not there. Open may be interrupted
// anywhere and run again. Admit has the last word before the tail is touched. Open also returns the names of all torn bytes of the last
// segment; Describe tells what they are.
func Open(fs durable.FS, dir string, limits Limits, known Known, validate Validate, admit Admit) (w *Writer, torn []string, err error) {
	w = &Writer{fs: fs, dir: dir, limits: limits}
	segments, tornFiles, err := list(fs, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range segments {
		w.found = append(w.found, s.First)
	}
	if err := missing(known.Segments, w.found); err != nil {
		return nil, nil, err
	}
	if len(segments) == 0 {
		return w, nil, admit(nil)
	}
	last := segments[len(segments)-1]
	if len(segments) > 1 {
		if err := checkAnchor(fs, dir, segments[len(segments)-2], last, validate); err != nil {
			return nil, nil, err
		}
	}
	w.first = last.First
	if w.file, err = fs.OpenFile(pathOf(dir, last.First)); err != nil {
		return nil, nil, err
	}
	cut := last.Size - MaxGroupBytes
	if known.End.Segment == last.First {
		cut = max(cut, known.End.Offset)
	}
	kept, err := w.recover(last, cut, validate, admit)
	if err != nil {
		return nil, nil, errors.Join(err, w.file.Close())
	}
	if kept != "" && !slices.Contains(tornFiles, kept) {
		tornFiles = append(tornFiles, kept)
	}
	for _, name := range tornFiles {
		if segment, _, ok := parseTornName(name); ok && segment == Name(last.First) {
			torn = append(torn, name)
		}
	}
	return w, torn, nil
}

// checkAnchor checks the line that the last segment stands behind. The segment
// of that line was durable before the last one was created.
func checkAnchor(fs durable.FS, dir string, s, last Info, validate Validate) error {
	f, err := fs.Open(pathOf(dir, s.First))
	if err != nil {
		return err
	}
	defer f.Close()
	sequence := last.First - 1
	line, err := lastLine(f, s)
	switch {
	case errors.Is(err, errUnterminated), errors.Is(err, errTooLong):
	case err != nil:
		return fmt.Errorf("read %s: %w", Name(s.First), err)
	default:
		err = validate(line, sequence)
	}
	var other *SequenceError
	switch {
	case errors.As(err, &other):
		// The line is intact: it is the last segment that does not continue it.
		return &DamageError{Segment: Name(last.First), Sequence: other.Found + 1, Reason: gap(s, last, other.Found)}
	case err != nil:
		return &DamageError{Segment: Name(s.First), Offset: line.Offset, Sequence: sequence, Reason: err}
	}
	return nil
}

// recover finds the end of the last segment, cuts off what is torn, which begins
// at floor at the earliest, and makes the rest durable. It returns the name that
// the torn bytes are kept as.
func (w *Writer) recover(last Info, floor int64, validate Validate, admit Admit) (kept string, err error) {
	end, damage, err := w.intact(last, validate)
	if err != nil {
		return "", err
	}
	if end < floor {
		return "", damage
	}
	torn, err := readTorn(w.file, end, last.Size)
	if err != nil {
		return "", fmt.Errorf("read the tail of %s: %w", Name(last.First), err)
	}
	if err := admit(torn); err != nil {
		return "", err
	}
	if len(torn) > 0 {
		if kept, err = keepTorn(w.fs, w.dir, Name(last.First), end, torn); err != nil {
			return "", fmt.Errorf("keep the torn tail of %s: %w", Name(last.First), err)
		}
		// The bytes are safe. A crash before or in the middle of the cut leads here
		// again, and to the same kept bytes.
		if err := w.file.Truncate(end); err != nil {
			return "", fmt.Errorf("cut the torn tail of %s: %w", Name(last.First), err)
		}
	}
	w.size = end
	if err := w.rewriteTail(); err != nil {
		return "", fmt.Errorf("make the tail of %s durable: %w", Name(last.First), err)
	}
	// The name may be one that a creation left without its sync.
	return kept, w.fs.SyncDir(w.dir)
}

// intact returns where the intact lines of a segment end, and what is wrong there
// if something is expected to follow.
func (w *Writer) intact(last Info, validate Validate) (end int64, damage *DamageError, err error) {
	lines := newLineReader(w.file, Position{Segment: last.First}, last.Size)
	for sequence := last.First; ; sequence++ {
		end = lines.next.Offset
		line, reason := lines.read()
		switch {
		case errors.Is(reason, io.EOF):
			return end, &DamageError{Segment: Name(last.First), Offset: end, Sequence: sequence, Reason: errShort}, nil
		case errors.Is(reason, errUnterminated), errors.Is(reason, errTooLong):
		case reason != nil:
			return 0, nil, fmt.Errorf("read %s at %d: %w", Name(last.First), end, reason)
		default:
			reason = validate(line, sequence)
		}
		if reason != nil {
			return end, &DamageError{Segment: Name(last.First), Offset: end, Sequence: sequence, Reason: reason}, nil
		}
	}
}

// rewriteTail writes the last MaxGroupBytes again, as they are, and syncs them.
// The sync alone would not do: after a failed one, of this process or of one that
// died, pages can be marked clean that never reached the disk, and only writing
// makes them dirty again.
func (w *Writer) rewriteTail() error {
	from := max(w.size-MaxGroupBytes, 0)
	tail := make([]byte, w.size-from)
	if n, err := w.file.ReadAt(tail, from); n < len(tail) {
		return err
	}
	if len(tail) > 0 {
		if _, err := w.file.WriteAt(tail, from); err != nil {
			return err
		}
	}
	return w.file.Sync()
}
