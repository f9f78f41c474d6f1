// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package tiles

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// headVersion changes whenever older heads can no longer be read.
const headVersion = "readtrail/tree/v1\n"

// maxHeadBytes bounds a head: 255 hashes on each of 7 levels, 53 stumps, and a
// checkpoint.
const maxHeadBytes = 256<<10 + journal.MaxCheckpointBytes

// ErrNoHead says that there is no tree, or none that can be believed.
var ErrNoHead = errors.New("no tree that a checkpoint of the journal confirms")

// New returns the empty tree of a journal in a directory.
func New(fs durable.FS, dir string) *Tree { return newTree(fs, dir) }

// NewPruned returns the tree of a journal of which the first base entries were
// pruned: stumps are the hashes of their largest complete subtrees, from the
// left.
func NewPruned(fs durable.FS, dir string, base uint64, stumps []Hash) (*Tree, error) {
	if base > record.MaxInteger || len(stumps) != bits.OnesCount64(base) {
		return nil, fmt.Errorf("a tree of %d entries has %d subtrees, not %d", base, bits.OnesCount64(base), len(stumps))
	}
	t := newTree(fs, dir)
	t.setBase(int64(base), stumps)
	t.setSize(int64(base))
	for level := range t.edge {
		first := int64(base) >> (height * (level + 1)) * width
		for i := range t.edge[level] {
			// The others stay unknown.
			t.edge[level][i] = t.stumps[node{height * level, first + int64(i)}]
		}
	}
	return t, nil
}

func (t *Tree) setBase(base int64, stumps []Hash) {
	t.base, t.stumps = base, make(map[node]tlog.Hash, len(stumps))
	_, _ = frontier(uint64(base), func(at node) (tlog.Hash, error) {
		t.stumps[at] = stumps[len(t.stumps)]
		return tlog.Hash{}, nil
	})
}

// setSize gives the edge the form that it has in a tree of a size.
func (t *Tree) setSize(size int64) {
	t.size, t.edge = size, nil
	for ; size > 0; size >>= height {
		t.edge = append(t.edge, make([]tlog.Hash, size%width, width))
	}
}

// formatHead spells what is not in full tiles: what is known of the pruned part,
// the edge, and the checkpoint.
func (t *Tree) formatHead(checkpoint *journal.SignedCheckpoint) []byte {
	var b bytes.Buffer
	line := func(h tlog.Hash) { b.WriteString(h.String() + "\n") }
	b.WriteString(headVersion + "base " + strconv.FormatInt(t.base, 10) + "\n")
	_, _ = frontier(uint64(t.base), func(at node) (tlog.Hash, error) {
		line(t.stumps[at])
		return tlog.Hash{}, nil
	})
	b.WriteString("size " + strconv.FormatInt(t.size, 10) + "\n")
	for _, level := range t.edge {
		for _, h := range level {
			line(h)
		}
	}
	b.WriteByte('\n')
	b.Write(checkpoint.Note)
	return b.Bytes()
}

// Load reads the tree of a journal. It is believed only if it has the size and
// the root of a checkpoint of that journal that is trusted, otherwise Load
// returns an error that wraps ErrNoHead.
func Load(fs durable.FS, dir, journalID string, trusted func(*journal.SignedCheckpoint) bool) (*Tree, *journal.SignedCheckpoint, error) {
	text, err := durable.ReadWhole(fs, filepath.Join(dir, headName), maxHeadBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNoHead, err)
	}
	t := newTree(fs, dir)
	checkpoint, ok := t.parseHead(string(text))
	if !ok || checkpoint.Origin != journalID || checkpoint.Size != t.Size() || t.base > t.size || !trusted(checkpoint) {
		return nil, nil, ErrNoHead
	}
	if root, err := t.Root(t.Size()); err != nil || root != checkpoint.Root {
		return nil, nil, ErrNoHead
	}
	return t, checkpoint, nil
}

func (t *Tree) parseHead(text string) (*journal.SignedCheckpoint, bool) {
	p := headParser{rest: text, ok: true}
	p.prefix(headVersion)
	base := p.number("base ")
	t.setBase(base, p.hashes(bits.OnesCount64(uint64(base))))
	t.setSize(p.number("size "))
	for level := range t.edge {
		for i, h := range p.hashes(len(t.edge[level])) {
			t.edge[level][i] = h
		}
	}
	p.prefix("\n")
	if !p.ok {
		return nil, false
	}
	checkpoint, err := journal.ParseCheckpoint([]byte(p.rest))
	return checkpoint, err == nil
}

// headParser reads a head from its beginning to the checkpoint. It goes on after
// an error, with zeros.
type headParser struct {
	rest string
	ok   bool
}

func (p *headParser) prefix(text string) {
	rest, found := strings.CutPrefix(p.rest, text)
	p.rest, p.ok = rest, p.ok && found
}

func (p *headParser) line() string {
	line, rest, found := strings.Cut(p.rest, "\n")
	p.rest, p.ok = rest, p.ok && found
	return line
}

func (p *headParser) number(name string) int64 {
	p.prefix(name)
	text := p.line()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > record.MaxInteger || strconv.FormatInt(n, 10) != text {
		p.ok = false
		return 0
	}
	return n
}

func (p *headParser) hashes(n int) []Hash {
	hashes := make([]Hash, n)
	for i := range hashes {
		h, err := base64.StdEncoding.Strict().DecodeString(p.line())
		if err != nil || copy(hashes[i][:], h) != tlog.HashSize || len(h) != tlog.HashSize {
			p.ok = false
		}
	}
	return hashes
}
