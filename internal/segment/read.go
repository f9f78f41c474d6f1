// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/readtrail/readtrail/internal/durable"
)

// Position is where a line begins.
type Position struct {
	// Segment is the first sequence of the segment.
	Segment uint64
	Offset  int64
}

// Line is a line and its place.
type Line struct {
	Position
	// Bytes are without the LF. Those of an iteration are valid until its next
	// step.
	Bytes []byte
}

// End returns the position after the line.
func (l Line) End() Position {
	return Position{Segment: l.Segment, Offset: l.Offset + int64(len(l.Bytes)) + 1}
}

// ErrNoLine says that no line stands at a position.
var ErrNoLine = errors.New("no line stands there")

var (
	errUnterminated = fmt.Errorf("%w: it has no end", ErrNoLine)
	errTooLong      = fmt.Errorf("%w: it is longer than the largest entry", ErrNoLine)
)

// lineReader reads the lines of one segment from an offset to a size.
type lineReader struct {
	buffer *bufio.Reader
	next   Position
}

func newLineReader(r io.ReaderAt, from Position, size int64) *lineReader {
	section := io.NewSectionReader(r, from.Offset, max(size-from.Offset, 0))
	return &lineReader{buffer: bufio.NewReaderSize(section, MaxLineBytes), next: from}
}

// read returns the next line; io.EOF after the last, errUnterminated or
// errTooLong if what comes is not a line.
func (l *lineReader) read() (Line, error) {
	raw, err := l.buffer.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Line{}, errTooLong
	case errors.Is(err, io.EOF) && len(raw) > 0:
		return Line{}, errUnterminated
	case err != nil:
		return Line{}, err
	}
	line := Line{Position: l.next, Bytes: raw[:len(raw)-1]}
	l.next = line.End()
	return line, nil
}

// Lines iterates over the lines of a journal from a position on, through all
// later segments. Its sizes are those at the start; it ends with an error where
// a file cannot be read, and with ErrNoLine where a line is not complete.
func Lines(fsys durable.FS, dir string, from Position) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		segments, err := List(fsys, dir)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for _, s := range segments {
			if s.First < from.Segment {
				continue
			}
			at := Position{Segment: s.First}
			if s.First == from.Segment {
				at = from
			}
			if !linesOf(fsys, dir, at, s.Size, yield) {
				return
			}
		}
	}
}

func linesOf(fsys durable.FS, dir string, from Position, size int64, yield func(Line, error) bool) bool {
	f, err := fsys.Open(pathOf(dir, from.Segment))
	if err != nil {
		return yield(Line{}, err)
	}
	defer f.Close()
	lines := newLineReader(f, from, size)
	for {
		line, err := lines.read()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			yield(Line{Position: lines.next}, fmt.Errorf("read %s at %d: %w", Name(from.Segment), lines.next.Offset, err))
			return false
		}
		if !yield(line, nil) {
			return false
		}
	}
}

// LinesOf iterates over the lines of one segment, as Lines does over all.
func LinesOf(fsys durable.FS, dir string, s Info) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		linesOf(fsys, dir, Position{Segment: s.First}, s.Size, yield)
	}
}

// LastLine returns the last whole line of a segment, which may be written
// meanwhile, and ErrNoLine if it has none.
func LastLine(fsys durable.FS, dir string, s Info) (Line, error) {
	f, err := fsys.Open(pathOf(dir, s.First))
	if err != nil {
		return Line{}, err
	}
	defer f.Close()
	line, err := lastLine(f, s)
	if errors.Is(err, errUnterminated) {
		if s.Size, err = endOfLines(f, s.Size); err == nil {
			line, err = lastLine(f, s)
		}
	}
	if err != nil {
		return Line{}, fmt.Errorf("read %s: %w", Name(s.First), err)
	}
	return line, nil
}

// endOfLines returns where the last line ends that is whole.
func endOfLines(r io.ReaderAt, size int64) (int64, error) {
	from := max(size-MaxGroupBytes-MaxLineBytes, 0)
	b := make([]byte, size-from)
	if _, err := r.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return from + int64(bytes.LastIndexByte(b, '\n')) + 1, nil
}

// Remove takes the name of a segment away, durably.
func Remove(fsys durable.FS, dir string, first uint64) error {
	if err := fsys.Unlink(pathOf(dir, first)); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// firstRead is how much of a line is read at first; most lines are shorter.
const firstRead = 4 << 10

// ReadLine returns the line that begins at a position, without its LF. It returns
// ErrNoLine if the journal has no such segment or the segment no line there.
func ReadLine(fsys durable.FS, dir string, at Position) ([]byte, error) {
	f, err := fsys.Open(pathOf(dir, at.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrNoLine, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for size := firstRead; ; size *= 8 {
		size = min(size, MaxLineBytes)
		b := make([]byte, size)
		n, err := f.ReadAt(b, at.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s at %d: %w", Name(at.Segment), at.Offset, err)
		}
		if end := bytes.IndexByte(b[:n], '\n'); end >= 0 {
			return b[:end], nil
		}
		if err != nil || size == MaxLineBytes {
			return nil, fmt.Errorf("read %s at %d: %w", Name(at.Segment), at.Offset, ErrNoLine)
		}
	}
}

// lastLine returns the last line of a segment, which must end with an LF.
func lastLine(r io.ReaderAt, s Info) (Line, error) {
	from := max(s.Size-2*MaxLineBytes, 0)
	b := make([]byte, s.Size-from)
	if _, err := r.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return Line{}, err
	}
	at := Line{Position: Position{Segment: s.First, Offset: s.Size}}
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return at, errUnterminated
	}
	b = b[:len(b)-1]
	begin := bytes.LastIndexByte(b, '\n') + 1
	if begin == 0 && from > 0 {
		return at, errTooLong
	}
	at.Offset, at.Bytes = from+int64(begin), b[begin:]
	return at, nil
}
