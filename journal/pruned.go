// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"

	"github.com/readtrail/readtrail/record"
)

// announcement is a journal.pruned that says what stood before the first entry of
// a journal.
type announcement struct {
	*record.Pruned
	// sequence is that of the entry itself.
	sequence uint64
	anchor   link
	tree     treeHead
}

var prunedMark = []byte(`"` + record.EventJournalPruned + `"`)

// findPruned looks for the journal.pruned that announced the removal of what stood
// before sequence first: the newest that names it. If there is none, the removal
// may have been interrupted, and the one that names the next larger sequence
// announced it. Only entries count that are hashed and signed as they must be;
// whether their keys are trusted there is judged when they are read in their turn.
// It returns nil if there is none. It reads the journal without parsing most of it.
func findPruned(ctx context.Context, s *Source, opt *Options, first uint64) (*announcement, error) {
	var found *announcement
	k := newChecker(&Options{Registry: opt.Registry, SkipSchema: true})
	for line, err := range s.Lines() {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if line.Torn || line.TooLong || !bytes.Contains(line.Bytes, prunedMark) {
			continue
		}
		c := k.check(line.Bytes)
		if c.notEntry != nil || c.computed != c.recordHash || c.pruned == nil || opt.Registry != nil && c.signature != Valid {
			continue
		}
		a, ok := announced(&c)
		if !ok || a.FirstSequence < first || a.sequence <= a.FirstSequence {
			continue
		}
		if found == nil || a.FirstSequence <= found.FirstSequence {
			found = a
		}
	}
	return found, nil
}

func announced(c *checked) (*announcement, bool) {
	a := &announcement{Pruned: c.pruned, sequence: c.sequence}
	if a.FirstSequence < 2 {
		return nil, false
	}
	var okAnchor, okTree bool
	a.anchor, okAnchor = parseLink([]byte(a.Anchor))
	a.tree, okTree = treeHeadOf(a.FirstSequence-1, a.TreeHashes)
	return a, okAnchor && okTree
}
