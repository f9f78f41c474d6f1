// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"errors"
	"fmt"
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
}

// Segment is one file of a journal.
type Segment struct {
	Path string
	// FirstSequence is the sequence that the file's name promises; 0 if it
	// promises none.
	FirstSequence uint64
	// Size is the size in bytes when the source was opened. Reading stops
	// there, so that a journal that grows is read as it was.
	Size int64
}

// Size returns the bytes of all segments.
func (s *Source) Size() int64 {
	var size int64
	for _, segment := range s.Segments {
		size += segment.Size
	}
	return size
}

// Open finds the journals of a target: a root with journals somewhere below
// it, the directory of one journal, a segment, or a file that holds segments
// one after another. Other files, such as what a crash tore off and caches, are
// left out. No journal at all is an error that wraps ErrNoJournal.
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
		return openRoot(target, resolved)
	default:
		return nil, fmt.Errorf("open journal: %s is neither a file nor a directory", target)
	}
}

// openRoot finds every directory with segments at or below root and names it
// by target.
func openRoot(target, root string) ([]*Source, error) {
	var sources []*Source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return refuseLink(path, d)
		}
		if name := d.Name(); path != root && (name == "tiles" || name == "index") {
			return filepath.SkipDir
		}
		segments, err := segmentsIn(path)
		if err != nil || len(segments) == 0 {
			return err
		}
		sources = append(sources, &Source{Path: target + strings.TrimPrefix(path, root), Segments: segments})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%w in %s: a journal is a directory with segments named by %d digits and %s", ErrNoJournal, target, sequenceDigits, segmentSuffix)
	}
	return sources, nil
}

// refuseLink refuses a link to a directory, which a walk does not follow: a
// journal behind it would be left out without a word.
func refuseLink(path string, d fs.DirEntry) error {
	if d.Type()&fs.ModeSymlink == 0 {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a link to a directory; name its target instead", path)
	}
	return nil
}

// segmentsIn lists the segments of one directory in order.
func segmentsIn(directory string) ([]Segment, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
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
