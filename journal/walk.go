// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// walk finds every directory with segments at or below a root.
type walk struct {
	// target is how the root was named, and root where it is.
	target, root string

	sources  []*Source
	problems []error
	// journals are the directories with segments.
	journals map[string]bool
}

func (w *walk) open() ([]*Source, error) {
	w.journals = map[string]bool{}
	// Every problem is kept; none ends the walk.
	_ = filepath.WalkDir(w.root, w.visit)
	switch {
	case len(w.problems) > 0:
		return w.sources, &LeftOutError{w.problems}
	case len(w.sources) == 0:
		return nil, fmt.Errorf("%w in %s: a journal is a directory with segments named by %d digits and %s", ErrNoJournal, w.target, sequenceDigits, segmentSuffix)
	}
	return w.sources, nil
}

// visit implements fs.WalkDirFunc.
func (w *walk) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		w.leaveOut(err)
		return fs.SkipDir
	}
	if !d.IsDir() {
		w.visitFile(path, d)
		return nil
	}
	if w.isCache(path) {
		return fs.SkipDir
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		w.leaveOut(err)
		return fs.SkipDir
	}
	segments, err := segmentsIn(path, entries)
	if err != nil {
		w.leaveOut(err)
	} else if len(segments) > 0 {
		w.sources = append(w.sources, &Source{Path: w.target + strings.TrimPrefix(path, w.root), Segments: segments})
	}
	w.journals[path] = err != nil || len(segments) > 0
	return nil
}

// isCache reports whether a directory is one of the caches of a journal
// (contract 7). Elsewhere, an organization or a class may have such a name.
func (w *walk) isCache(path string) bool {
	name := filepath.Base(path)
	return path != w.root && (name == "tiles" || name == "index") && w.journals[filepath.Dir(path)]
}

// visitFile refuses a link to a directory, which a walk does not follow, and one
// to nothing, which may have been one: a journal behind it would be left out
// without a word.
func (w *walk) visitFile(path string, d fs.DirEntry) {
	if d.Type()&fs.ModeSymlink == 0 {
		return
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		w.leaveOut(fmt.Errorf("%s is a link that leads nowhere; mend or remove it", path))
	case info.IsDir():
		w.leaveOut(fmt.Errorf("%s is a link to a directory; name its target instead", path))
	}
}

func (w *walk) leaveOut(err error) {
	w.problems = append(w.problems, fmt.Errorf("open journal: %w", err))
}
