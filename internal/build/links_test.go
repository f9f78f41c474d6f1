// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	// notInAnchor is what GitHub leaves out of a heading's anchor.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// documents returns the Markdown files of the tree and their texts.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "_build" || name == "bin" || name == "node_modules" || len(name) > 2 && name[0] == '.'):
			return fs.SkipDir
		case filepath.Ext(name) == ".md":
			text, err := os.ReadFile(path)
			texts[path] = fenced.ReplaceAllString(string(text), "")
			return err
		}
		return nil
	}))
	require.Contains(t, texts, "../../README.md")
	return texts
}

// anchors returns those that GitHub gives to the headings of a text.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
		unique := anchor
		for n := 1; out[unique]; n++ {
			unique = anchor + "-" + strconv.Itoa(n)
		}
		out[unique] = true
	}
	return out
}

// TestLinksOfDocumentsLead looks up every link within the tree: the file, and in
// a document the heading.
func TestLinksOfDocumentsLead(t *testing.T) {
	texts := documents(t)
	for path, text := range texts {
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			target, anchor, _ := strings.Cut(l[1], "#")
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); !assert.NoError(t, err, "%s links to %s", path, l[1]) {
				continue
			}
			if anchor != "" {
				assert.True(t, anchors(texts[file])[anchor], "%s links to %s, and there is no such heading", path, l[1])
			}
		}
	}
}

// TestDecisionsAreListed: who looks for a decision looks at the list.
func TestDecisionsAreListed(t *testing.T) {
	list, err := os.ReadFile("../../docs/adr/README.md")
	require.NoError(t, err)
	decisions, err := filepath.Glob("../../docs/adr/[0-9]*.md")
	require.NoError(t, err)
	require.NotEmpty(t, decisions)
	numbers := map[string]string{}
	for _, path := range decisions {
		name := filepath.Base(path)
		assert.Contains(t, string(list), "]("+name+")", "docs/adr/README.md does not list it")
		number := name[:4]
		assert.Empty(t, numbers[number], "two decisions have the number of %s", name)
		numbers[number] = name
	}
}
