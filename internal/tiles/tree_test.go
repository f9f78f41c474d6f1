// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package tiles

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const journalID = "jrn_test"

type key struct{ private ed25519.PrivateKey }

var signing = key{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))}

func (k key) KeyID() string                       { return journal.KeyID(k.PublicKey()) }
func (k key) PublicKey() ed25519.PublicKey        { return k.private.Public().(ed25519.PublicKey) }
func (k key) Sign(message []byte) ([]byte, error) { return ed25519.Sign(k.private, message), nil }

func trusted(s *journal.SignedCheckpoint) bool { return s.SignedBy(signing.PublicKey()) }

// oracle is the tree of package tlog, with all hashes in memory.
type oracle struct {
	t      testing.TB
	stored []tlog.Hash
	n      int64
}

func (o *oracle) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = o.stored[index]
	}
	return hashes, nil
}

func recordHash(i int) Hash { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i))) }

func (o *oracle) grow(n int) {
	for ; o.n < int64(n); o.n++ {
		hash := recordHash(int(o.n))
		stored, err := tlog.StoredHashes(o.n, hash[:], o)
		require.NoError(o.t, err)
		o.stored = append(o.stored, stored...)
	}
}

func (o *oracle) root(size int) Hash {
	h, err := tlog.TreeHash(int64(size), o)
	require.NoError(o.t, err)
	return h
}

func grow(t testing.TB, tree *Tree, n int) {
	for i := int(tree.Size()); i < n; i++ {
		require.NoError(t, tree.Append(recordHash(i)))
	}
}

func checkpointOf(t testing.TB, tree *Tree) *journal.SignedCheckpoint {
	root, err := tree.Root(tree.Size())
	require.NoError(t, err)
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: journalID, Size: tree.Size(), Root: root}, signing)
	require.NoError(t, err)
	s, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return s
}

func TestEveryRootIsThatOfRFC6962(t *testing.T) {
	o := &oracle{t: t}
	tree := New(durable.OS{}, t.TempDir())
	for size := 1; size <= 600; size++ {
		o.grow(size)
		grow(t, tree, size)
		root, err := tree.Root(uint64(size))
		require.NoError(t, err)
		require.Equal(t, o.root(size), root, size)
	}
	for size := 1; size <= 600; size++ {
		root, err := tree.Root(uint64(size))
		require.NoError(t, err)
		require.Equal(t, o.root(size), root, "the tree as it was at %d", size)
	}
	_, err := tree.Root(0)
	require.Error(t, err)
	_, err = tree.Root(601)
	require.Error(t, err)
}

func TestThreeLevelsOfTilesAreOneTree(t *testing.T) {
	const size = 1<<16 + 300
	o := &oracle{t: t}
	o.grow(size)
	dir := t.TempDir()
	tree := New(durable.OS{}, dir)
	grow(t, tree, size)
	require.NoError(t, tree.Save(checkpointOf(t, tree)))
	assert.Zero(t, tree.Unwritten())
	loaded, checkpoint, err := Load(durable.OS{}, dir, journalID, trusted)
	require.NoError(t, err)
	assert.Equal(t, o.root(size), checkpoint.Root)
	for _, at := range []int{1, 255, 256, 257, 65535, 65536, 65537, size} {
		root, err := loaded.Root(uint64(at))
		require.NoError(t, err)
		assert.Equal(t, o.root(at), root, at)
		path, err := loaded.ProveInclusion(uint64(at-1), size)
		require.NoError(t, err)
		want, err := tlog.ProveRecord(size, int64(at-1), o)
		require.NoError(t, err)
		assert.Equal(t, plain(want), path)
		path, err = loaded.ProveConsistency(uint64(at), size)
		require.NoError(t, err)
		want2, err := tlog.ProveTree(size, int64(at), o)
		require.NoError(t, err)
		assert.Equal(t, plain(tlog.RecordProof(want2)), path)
	}
	_, err = os.Stat(filepath.Join(dir, "tile", "1", "000"))
	require.NoError(t, err, "the layout is that of c2sp.org/tlog-tiles")
}

func TestATreeGoesOnFromItsFiles(t *testing.T) {
	o := &oracle{t: t}
	dir := t.TempDir()
	tree := New(durable.OS{}, dir)
	for _, size := range []int{1, 2, 255, 256, 257, 511, 512, 600, 1025} {
		grow(t, tree, size)
		require.NoError(t, tree.Save(checkpointOf(t, tree)))
		var err error
		tree, _, err = Load(durable.OS{}, dir, journalID, trusted)
		require.NoError(t, err)
		o.grow(size)
		root, err := tree.Root(uint64(size))
		require.NoError(t, err)
		assert.Equal(t, o.root(size), root)
	}
}

func TestAPrunedTreeGoesOnFromItsSubtrees(t *testing.T) {
	o := &oracle{t: t}
	o.grow(1400)
	whole := New(durable.OS{}, t.TempDir())
	grow(t, whole, 1400)
	for _, base := range []int{1, 2, 3, 255, 256, 257, 700, 1023, 1025} {
		stumps, err := whole.Frontier(uint64(base))
		require.NoError(t, err)
		dir := t.TempDir()
		tree, err := NewPruned(durable.OS{}, dir, uint64(base), stumps)
		require.NoError(t, err)
		root, err := tree.Root(uint64(base))
		require.NoError(t, err)
		assert.Equal(t, o.root(base), root)
		for _, size := range []int{base + 1, base + 100, 1400} {
			grow(t, tree, size)
			root, err := tree.Root(uint64(size))
			require.NoError(t, err)
			require.Equal(t, o.root(size), root, "pruned at %d, grown to %d", base, size)
		}
		require.NoError(t, tree.Save(checkpointOf(t, tree)))
		tree, _, err = Load(durable.OS{}, dir, journalID, trusted)
		require.NoError(t, err)
		assert.EqualValues(t, base, tree.Base())
		for index := base; index < 1400; index += 97 {
			path, err := tree.ProveInclusion(uint64(index), 1400)
			require.NoError(t, err)
			want, err := tlog.ProveRecord(1400, int64(index), o)
			require.NoError(t, err)
			require.Equal(t, plain(want), path)
		}
		_, err = tree.ProveConsistency(uint64(base), 1400)
		require.NoError(t, err, "a checkpoint of what was pruned is still continued")
		_, err = tree.Leaf(0)
		if base > 1 {
			require.ErrorIs(t, err, ErrUnknown)
		}
		again, err := tree.Frontier(1300)
		require.NoError(t, err)
		want, err := whole.Frontier(1300)
		require.NoError(t, err)
		assert.Equal(t, want, again, "and can be pruned again")
	}
	_, err := NewPruned(durable.OS{}, t.TempDir(), 7, []Hash{{}})
	require.Error(t, err)
}

func TestATreeThatNoCheckpointConfirmsIsNotBelieved(t *testing.T) {
	save := func(t *testing.T) (string, []byte) {
		dir := t.TempDir()
		tree := New(durable.OS{}, dir)
		grow(t, tree, 300)
		require.NoError(t, tree.Save(checkpointOf(t, tree)))
		text, err := os.ReadFile(filepath.Join(dir, headName))
		require.NoError(t, err)
		return dir, text
	}
	dir, text := save(t)
	load := func(text []byte, id string, trusted func(*journal.SignedCheckpoint) bool) error {
		require.NoError(t, os.WriteFile(filepath.Join(dir, headName), text, 0o600))
		_, _, err := Load(durable.OS{}, dir, id, trusted)
		return err
	}
	require.NoError(t, load(text, journalID, trusted))
	assert.ErrorIs(t, load(text, "jrn_other", trusted), ErrNoHead)
	assert.ErrorIs(t, load(text, journalID, func(*journal.SignedCheckpoint) bool { return false }), ErrNoHead)
	signatureBegins := bytes.Index(text, []byte("\n\n— "))
	for i := range text[:signatureBegins] {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		assert.ErrorIs(t, load(changed, journalID, trusted), ErrNoHead, "byte %d", i)
		assert.ErrorIs(t, load(text[:i], journalID, trusted), ErrNoHead, "cut at %d", i)
	}
	assert.ErrorIs(t, load(make([]byte, maxHeadBytes+1), journalID, trusted), ErrNoHead)
	require.NoError(t, os.Remove(filepath.Join(dir, headName)))
	_, _, err := Load(durable.OS{}, dir, journalID, trusted)
	require.ErrorIs(t, err, ErrNoHead)
}

func TestATileThatWasChangedProvesNothing(t *testing.T) {
	dir := t.TempDir()
	tree := New(durable.OS{}, dir)
	grow(t, tree, 600)
	require.NoError(t, tree.Save(checkpointOf(t, tree)))
	want, err := tree.Root(600)
	require.NoError(t, err)
	path := filepath.Join(dir, "tile", "0", "000")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	load := func(data []byte) *Tree {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		tree, _, err := Load(durable.OS{}, dir, journalID, trusted)
		require.NoError(t, err)
		return tree
	}
	changed := bytes.Clone(good)
	changed[40] ^= 1
	_, err = load(changed).ProveInclusion(3, 600)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = load(good[:100]).ProveInclusion(3, 600)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = load(make([]byte, tileBytes)).ProveInclusion(3, 600)
	require.ErrorIs(t, err, ErrDamaged, "what a power loss leaves")
	root, err := load(changed).Root(600)
	require.NoError(t, err)
	assert.Equal(t, want, root, "what is signed next does not depend on it")
	require.NoError(t, os.Remove(path))
	tree, _, err = Load(durable.OS{}, dir, journalID, trusted)
	require.NoError(t, err)
	_, err = tree.ProveInclusion(3, 600)
	require.ErrorIs(t, err, ErrUnknown)
}

func FuzzLoad(f *testing.F) {
	dir := f.TempDir()
	tree := New(durable.OS{}, dir)
	grow(f, tree, 300)
	require.NoError(f, tree.Save(checkpointOf(f, tree)))
	text, err := os.ReadFile(filepath.Join(dir, headName))
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(headVersion + "base 9007199254740991\nsize 9007199254740991\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, headName), text, 0o600))
		if tree, _, err := Load(durable.OS{}, dir, journalID, trusted); err == nil {
			assert.EqualValues(t, 300, tree.Size(), "no other head was confirmed")
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	tree := New(durable.OS{}, b.TempDir())
	hash := recordHash(1)
	b.ReportAllocs()
	for b.Loop() {
		_ = tree.Append(hash)
		if tree.Unwritten() > 64 {
			require.NoError(b, tree.Spill())
		}
	}
}
