// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

// sealed is a file of a journal that nobody writes any more.
type sealed struct {
	name string
	// first is the sequence of the first entry of the segment, and next that of the
	// segment behind it. They are 0 for what a crash tore off.
	first, next uint64
	size        int64
}

// sealedFiles lists what of a journal can be archived: the segments behind which
// another one holds something, and what was torn off them. A last segment that is
// empty does not seal the one before: its name may not be durable yet, and after a
// crash the one before would be written again.
func sealedFiles(fs durable.FS, dir string) ([]sealed, error) {
	segments, err := segment.List(fs, dir)
	if err != nil {
		return nil, err
	}
	if n := len(segments); n > 0 && segments[n-1].Size == 0 {
		segments = segments[:n-1]
	}
	var out []sealed
	done := map[string]bool{}
	for i, s := range segments[:max(len(segments)-1, 0)] {
		name := segment.Name(s.First)
		done[name] = true
		out = append(out, sealed{name: name, first: s.First, next: segments[i+1].First, size: s.Size})
	}
	files, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if len(f.Name) > len(segment.Name(1)) && done[f.Name[:len(segment.Name(1))]] && segmentObject.MatchString(f.Name) {
			out = append(out, sealed{name: f.Name, size: f.Size})
		}
	}
	return out, nil
}

// contents is what an archive has to know about a file.
type contents struct {
	digest [sha256.Size]byte
	// recorded is the latest recorded_at in it, zero for what holds no entries.
	recorded time.Time
}

// examine reads a sealed file. A segment must be one: every line an entry with the
// hash that it says, each chained to the one before, and the last one before the
// next segment. What is damaged must not be locked as if it were evidence, nor be
// what lets the local copy go. Signatures are for readtrail verify.
func examine(fs durable.FS, dir string, s sealed) (contents, error) {
	f, err := fs.Open(filepath.Join(dir, s.name))
	if err != nil {
		return contents{}, err
	}
	defer f.Close()
	h := sha256.New()
	bytes := io.TeeReader(io.NewSectionReader(f, 0, s.size), h)
	var c contents
	if s.first == 0 {
		_, err = io.Copy(io.Discard, bytes)
	} else {
		c.recorded, err = checkEntries(bytes, s)
	}
	if err != nil {
		return contents{}, fmt.Errorf("%s: %w", s.name, err)
	}
	c.digest = [sha256.Size]byte(h.Sum(nil))
	return c, nil
}

// errDamaged says that a local segment is not one.
var errDamaged = errors.New("segment is damaged and is not archived; run readtrail verify")

func checkEntries(r io.Reader, s sealed) (latest time.Time, err error) {
	lines := bufio.NewReaderSize(r, segment.MaxLineBytes)
	previous := ""
	for sequence := s.first; ; sequence++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			if sequence != s.next {
				return latest, fmt.Errorf("%w: it ends before sequence %d, and the next segment begins with %d", errDamaged, sequence, s.next)
			}
			return latest, nil
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return latest, err
		}
		e, parseErr := journal.ParseLine([]byte(strings.TrimSuffix(string(line), "\n")))
		switch {
		case err != nil || parseErr != nil:
			return latest, fmt.Errorf("%w: no entry where sequence %d is expected", errDamaged, sequence)
		case e.Header.Sequence != sequence || sequence >= s.next:
			return latest, fmt.Errorf("%w: the entry where sequence %d is expected says another one", errDamaged, sequence)
		case journal.SpellHash(e.PayloadDigest()) != e.Integrity.RecordHash || previous != "" && e.Integrity.PreviousEventHash != previous:
			return latest, fmt.Errorf("%w: sequence %d breaks the chain", errDamaged, sequence)
		}
		previous = e.Integrity.RecordHash
		if at := e.Header.RecordedAt.Std(); at.After(latest) {
			latest = at
		}
	}
}

// sectionFile is an open file as the body of an upload.
type sectionFile struct {
	*io.SectionReader
	io.Closer
}

func openSection(fs durable.FS, path string, size int64) (io.ReadSeekCloser, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	return sectionFile{io.NewSectionReader(f, 0, size), f}, nil
}
