// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package segment keeps the files of a journal (contract 7, 8): it appends
// commit groups to segments, makes them durable, rotates, reads lines back and
// recovers the tail that a crash tore. Lines are opaque to it; whoever opens a
// journal says what an intact line is.
//
// One rule carries everything: no byte of a group is written before the fsync of
// the group before returned, and a group has at most MaxGroupBytes. What a crash
// can tear therefore stands within the last MaxGroupBytes of the last segment;
// damage anywhere else was not done by a crash.
package segment

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

const (
	// MaxGroupBytes is G of contract 8: the most bytes that one group writes. It
	// is the same for every writer, since the next one relies on it.
	MaxGroupBytes = 4 << 20
	// MaxLineBytes is the longest line, with its LF.
	MaxLineBytes = record.MaxEntryBytes + 1
)

const (
	suffix     = ".events"
	tornSuffix = ".torn"
)

var (
	segmentName = regexp.MustCompile(`^([0-9]{20})\.events$`)
	tornName    = regexp.MustCompile(`^([0-9]{20}\.events)\.(0|[1-9][0-9]{0,18})(?:\.[1-9][0-9]{0,3})?\.torn$`)
)

// Name returns the file name of the segment that begins with a sequence.
func Name(first uint64) string { return fmt.Sprintf("%020d%s", first, suffix) }

// parseName returns the first sequence that a segment's name gives.
func parseName(name string) (first uint64, ok bool) {
	m := segmentName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	first, err := strconv.ParseUint(m[1], 10, 64)
	return first, err == nil && first > 0
}

// tornFileName names what was torn off a segment at an offset. Attempt is 1
// unless other bytes torn off at the same place have the name already.
func tornFileName(segment string, offset int64, attempt int) string {
	name := segment + "." + strconv.FormatInt(offset, 10)
	if attempt > 1 {
		name += "." + strconv.Itoa(attempt)
	}
	return name + tornSuffix
}

// parseTornName returns the segment and offset that the name of torn bytes gives.
func parseTornName(name string) (segment string, offset int64, ok bool) {
	m := tornName.FindStringSubmatch(name)
	if m == nil {
		return "", 0, false
	}
	offset, err := strconv.ParseInt(m[2], 10, 64)
	return m[1], offset, err == nil
}

// Info is a segment.
type Info struct {
	// First is the sequence of its first line.
	First uint64
	// Size is in bytes.
	Size int64
}

// List returns the segments of a journal in their order.
func List(fs durable.FS, dir string) ([]Info, error) {
	segments, _, err := list(fs, dir)
	return segments, err
}

// list returns the segments and the names of torn bytes.
func list(fs durable.FS, dir string) (segments []Info, torn []string, err error) {
	files, err := fs.List(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if first, ok := parseName(f.Name); ok {
			segments = append(segments, Info{First: first, Size: f.Size})
		} else if strings.HasSuffix(f.Name, tornSuffix) {
			torn = append(torn, f.Name)
		}
	}
	return segments, torn, nil
}

func pathOf(dir string, first uint64) string { return filepath.Join(dir, Name(first)) }
