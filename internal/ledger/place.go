// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"path/filepath"
	"regexp"
	"strings"
)

// place is where a journal is. Those who run it are told, those who send to it
// are not.
type place struct{ paths *regexp.Regexp }

// newPlace takes the directories of a journal.
func newPlace(dirs ...string) place {
	var paths []string
	for _, dir := range dirs {
		for _, dir := range []string{dir, filepath.Clean(dir)} {
			paths = append(paths, regexp.QuoteMeta(dir))
		}
	}
	// A whole path only: a directory may be called "a".
	return place{regexp.MustCompile(`(^|[\s"'(])(?:` + strings.Join(paths, "|") + `)(/+|$|[\s"':;,)])`)}
}

// hide returns an error without the place in its text. It still is what it was.
func (p place) hide(err error) error {
	if err == nil {
		return nil
	}
	text := p.paths.ReplaceAllStringFunc(err.Error(), func(path string) string {
		found := p.paths.FindStringSubmatch(path)
		if strings.HasPrefix(found[2], "/") {
			return found[1]
		}
		return found[1] + "the journal's directory" + found[2]
	})
	if text == err.Error() {
		return err
	}
	return placeless{text, err}
}

// placeless is an error with another text.
type placeless struct {
	text  string
	cause error
}

// Error implements error.
func (e placeless) Error() string { return e.text }

// Unwrap returns the error with its own text.
func (e placeless) Unwrap() error { return e.cause }
