// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names of segment files (contract 7): 20 digits, the sequence of the first
// entry, and a suffix.
const (
	segmentSuffix    = ".events"
	compressedSuffix = ".events.zst"
	sequenceDigits   = 20
)

// ErrNoJournal says that a target holds no segment.
var ErrNoJournal = errors.New("no journal found")

// Source is one journal that can be read: a directory of segments, or one file
// with one segment or several, one after another.
type Source struct {
	// Path is the directory or the file.
	Path string
	// Segments are in the order of their entries.
	Segments []Segment

	// endsEarly says that the journal goes on behind the last segment.
	endsEarly bool
	// endsBefore is the sequence that the name of the next segment promises then.
	endsBefore uint64
}

// Segment is one file of a journal, or what takes the place of one.
type Segment struct {
	// Path is the file, or names what Open opens.
	Path string
	// FirstSequence is the sequence that the file's name promises; 0 if it
	// promises none.
	FirstSequence uint64
	// Size is the size in bytes when the source was opened. Reading stops
	// there, so that a journal that grows is read as it was.
	Size int64
	// Open opens the bytes of a segment that is not a file, such as an object of
	// an archive. It is nil for a file.
	Open func() (io.ReadCloser, error)
}

// open opens the bytes of the segment.
func (s *Segment) open() (io.ReadCloser, error) {
	if s.Open != nil {
		return s.Open()
	}
	return os.Open(s.Path)
}

// Size returns the bytes of all segments.
func (s *Source) Size() int64 {
	var size int64
	for _, segment := range s.Segments {
		size += segment.Size
	}
	return size
}

// LeftOutError says what of a target Open could not take. Nothing is left out
// without a word: it may be a journal.
type LeftOutError struct {
	// Problems are errors of one line each.
	Problems []error
}

func (e *LeftOutError) Error() string {
	if n := len(e.Problems) - 1; n > 0 {
		return fmt.Sprintf("%v (and %d more)", e.Problems[0], n)
	}
	return e.Problems[0].Error()
}

// Unwrap returns the problems.
func (e *LeftOutError) Unwrap() []error { return e.Problems }

// Open finds the journals of a target: a root with journals somewhere below
// it, the directory of one journal, a segment, or a file that holds segments
// one after another. Other files, such as what a crash tore off, and the caches
// in a journal's directory are not part of it. No journal at all is an error that
// wraps ErrNoJournal. If some of a root cannot be taken, Open returns the rest of
// its journals together with a *LeftOutError.
func Open(target string) ([]*Source, error) {
	// A link to a root is a root.
	resolved, err := filepath.EvalSymlinks(target)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	switch {
	case info.Mode().IsRegular():
		if strings.HasSuffix(target, compressedSuffix) {
			return nil, compressedError(target)
		}
		first, _ := firstSequenceOf(filepath.Base(target), segmentSuffix)
		return []*Source{{Path: target, Segments: []Segment{{Path: target, FirstSequence: first, Size: info.Size()}}}}, nil
	case info.IsDir():
		w := walk{target: target, root: resolved}
		return w.open()
	default:
		return nil, fmt.Errorf("open journal: %s is neither a file nor a directory", target)
	}
}

// segmentsIn lists the segments of one directory in order.
func segmentsIn(directory string, entries []fs.DirEntry) ([]Segment, error) {
	var segments []Segment
	var compressed []string
	for _, e := range entries {
		if _, ok := firstSequenceOf(e.Name(), compressedSuffix); ok {
			compressed = append(compressed, e.Name())
		}
		first, ok := firstSequenceOf(e.Name(), segmentSuffix)
		if !ok {
			continue
		}
		path := filepath.Join(directory, e.Name())
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s has the name of a segment but is not a file", path)
		}
		segments = append(segments, Segment{Path: path, FirstSequence: first, Size: info.Size()})
	}
	for _, name := range compressed {
		// Leaving it out would look like missing entries.
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name()+".zst" == name }) {
			return nil, compressedError(filepath.Join(directory, name))
		}
	}
	slices.SortFunc(segments, func(a, b Segment) int { return cmp.Compare(a.FirstSequence, b.FirstSequence) })
	return segments, nil
}

func compressedError(path string) error {
	return fmt.Errorf("%s is compressed, which this version does not read; run: zstd -d %[1]s", path)
}

// firstSequenceOf reads the name of a segment.
func firstSequenceOf(name, suffix string) (uint64, bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found || len(digits) != sequenceDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0
}
