// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/readtrail/readtrail/record"
)

// Line is one line of a segment.
type Line struct {
	// Segment is the index in Source.Segments.
	Segment int
	// Offset is where the line begins in its file, in bytes.
	Offset int64
	// Bytes are the line without its LF. They are valid until the next line is
	// read. They are nil if the line is longer than an entry can be.
	Bytes []byte
	// Size is the length of the line in bytes with its LF.
	Size int64
	// TooLong says that the line is longer than record.MaxEntryBytes.
	TooLong bool
	// Torn says that the file ends before the line does.
	Torn bool
}

// Lines reads the lines of all segments in order, with one buffer of at most
// the size of the largest entry. It ends after the first error.
func (s *Source) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var largest int64
		for _, segment := range s.Segments {
			largest = max(largest, segment.Size)
		}
		// One byte more than the largest entry, for its LF.
		r := bufio.NewReaderSize(nil, int(min(largest, record.MaxEntryBytes))+1)
		for i := range s.Segments {
			if !s.segmentLines(i, r, yield) {
				return
			}
		}
	}
}

// segmentLines reports whether the next segment should be read.
func (s *Source) segmentLines(i int, r *bufio.Reader, yield func(Line, error) bool) bool {
	segment := s.Segments[i]
	f, err := segment.open()
	if err != nil {
		yield(Line{Segment: i}, fmt.Errorf("read segment: %w", err))
		return false
	}
	defer f.Close()
	r.Reset(io.LimitReader(f, segment.Size))
	for offset := int64(0); ; {
		line, err := readLine(r)
		line.Segment, line.Offset = i, offset
		offset += line.Size
		if err != nil {
			yield(line, fmt.Errorf("read segment: %w", err))
			return false
		}
		if line.Size == 0 {
			break
		}
		if !yield(line, nil) {
			return false
		}
	}
	return true
}

// readLine reads one line; a Size of 0 means that there is none.
func readLine(r *bufio.Reader) (Line, error) {
	var line Line
	for {
		chunk, err := r.ReadSlice('\n')
		line.Size += int64(len(chunk))
		switch {
		case err == nil:
			line.Bytes = chunk[:len(chunk)-1]
		case errors.Is(err, bufio.ErrBufferFull):
			line.TooLong = true
			continue
		case errors.Is(err, io.EOF):
			line.Bytes, line.Torn = chunk, len(chunk) > 0 || line.TooLong
		default:
			return line, err
		}
		if line.TooLong {
			line.Bytes = nil
		}
		return line, nil
	}
}
