// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/journal"
)

// forest holds the record hashes of a journal and their tree.
type forest struct {
	t      testing.TB
	hashes [][sha256.Size]byte
	stored []tlog.Hash
}

func newForest(t testing.TB, n int) *forest {
	f := &forest{t: t}
	for i := range n {
		f.hashes = append(f.hashes, sha256.Sum256(binary.BigEndian.AppendUint32(nil, uint32(i))))
		stored, err := tlog.StoredHashesForRecordHash(int64(i), journal.LeafHash(f.hashes[i]), f)
		require.NoError(t, err)
		f.stored = append(f.stored, stored...)
	}
	return f
}

func (f *forest) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		out[i] = f.stored[index]
	}
	return out, nil
}

func (f *forest) checkpoint(size int) *journal.SignedCheckpoint {
	root, err := tlog.TreeHash(int64(size), f)
	require.NoError(f.t, err)
	return parsedCheckpoint(f.t, signedCheckpoint(f.t, journal.Checkpoint{Origin: "jrn_test", Size: uint64(size), Root: root}, trusted))
}

func (f *forest) inclusion(index, size int) *journal.InclusionProof {
	path, err := tlog.ProveRecord(int64(size), int64(index), f)
	require.NoError(f.t, err)
	return &journal.InclusionProof{Index: uint64(index), Path: toArrays(path), Checkpoint: f.checkpoint(size)}
}

func (f *forest) consistency(older, size int) *journal.ConsistencyProof {
	path, err := tlog.ProveTree(int64(size), int64(older), f)
	require.NoError(f.t, err)
	return &journal.ConsistencyProof{OldSize: uint64(older), Path: toArrays(path), Checkpoint: f.checkpoint(size)}
}

func toArrays(path []tlog.Hash) (out [][sha256.Size]byte) {
	for _, h := range path {
		out = append(out, h)
	}
	return out
}

func TestAProofShowsItsEntryAndNoOther(t *testing.T) {
	const largest = 20
	f := newForest(t, largest)
	for size := 1; size <= largest; size++ {
		for index := range size {
			p, err := journal.ParseProof(f.inclusion(index, size).Format())
			require.NoError(t, err)
			for i, hash := range f.hashes {
				if i == index {
					assert.NoError(t, p.Verify(hash))
				} else {
					assert.ErrorIs(t, p.Verify(hash), journal.ErrNotIncluded)
				}
			}
		}
	}
}

func TestAnotherImplementationVerifiesAProof(t *testing.T) {
	f := newForest(t, 9)
	vkey, err := journal.CheckpointKey("jrn_test", trusted.PublicKey())
	require.NoError(t, err)
	v, err := torchwood.NewLogVerifier(vkey)
	require.NoError(t, err)
	policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy("jrn_test"), torchwood.SingleVerifierPolicy(v))
	require.NoError(t, torchwood.VerifyProof(policy, journal.LeafHash(f.hashes[3]), f.inclusion(3, 9).Format()))
}

func TestAConsistencyProofShowsThatATreeGoesOn(t *testing.T) {
	const largest = 20
	f := newForest(t, largest)
	other := newForest(t, largest)
	other.hashes[0][0] ^= 1
	other = rebuilt(other)
	for size := 1; size <= largest; size++ {
		for older := 1; older <= size; older++ {
			p, err := journal.ParseConsistencyProof(f.consistency(older, size).Format())
			require.NoError(t, err)
			assert.NoError(t, p.Verify(f.checkpoint(older).Checkpoint))
			assert.ErrorIs(t, p.Verify(other.checkpoint(older).Checkpoint), journal.ErrInconsistent)
			another := f.checkpoint(older).Checkpoint
			another.Origin = "jrn_other"
			assert.ErrorIs(t, p.Verify(another), journal.ErrInconsistent)
			if older > 1 {
				assert.ErrorIs(t, p.Verify(f.checkpoint(older-1).Checkpoint), journal.ErrInconsistent)
			}
		}
	}
}

// rebuilt hashes the tree of changed record hashes.
func rebuilt(f *forest) *forest {
	f.stored = nil
	for i, hash := range f.hashes {
		stored, err := tlog.StoredHashesForRecordHash(int64(i), journal.LeafHash(hash), f)
		require.NoError(f.t, err)
		f.stored = append(f.stored, stored...)
	}
	return f
}

func TestWhatIsNoProofIsRefused(t *testing.T) {
	f := newForest(t, 9)
	good := string(f.inclusion(3, 9).Format())
	head, note, _ := strings.Cut(good, "\n\n")
	for name, text := range map[string]string{
		"nothing":                 "",
		"another header":          strings.Replace(good, "@v1", "@v2", 1),
		"extra data":              strings.Replace(good, "index", "extra AAAA\nindex", 1),
		"an index with a zero":    strings.Replace(good, "index 3", "index 03", 1),
		"a negative index":        strings.Replace(good, "index 3", "index -1", 1),
		"an index beyond 2^53-1":  strings.Replace(good, "index 3", "index 9007199254740991", 1),
		"a hash that is cut":      strings.Replace(good, "=\n", "\n", 1),
		"a path of 64":            "c2sp.org/tlog-proof@v1\nindex 3\n" + strings.Repeat(strings.Split(good, "\n")[2]+"\n", 64) + "\n" + note,
		"no checkpoint":           head + "\n\n",
		"no empty line before it": head + "\n" + note,
		"too many bytes":          good + strings.Repeat("x", 100<<10),
	} {
		_, err := journal.ParseProof([]byte(text))
		assert.ErrorContains(t, err, "malformed", name)
		assert.NotContains(t, err.Error(), "index", "the error says nothing of the input")
	}
	consistent := string(f.consistency(4, 9).Format())
	for _, text := range []string{"", "old", "old 04" + consistent[5:], "old -4" + consistent[5:], "old 4\n\n", consistent + "x", "new" + consistent[3:]} {
		_, err := journal.ParseConsistencyProof([]byte(text))
		assert.ErrorContains(t, err, "malformed", text)
	}
}

func FuzzParseProof(f *testing.F) {
	trees := newForest(f, 9)
	f.Add(trees.inclusion(3, 9).Format())
	f.Add(trees.consistency(4, 9).Format())
	older := trees.checkpoint(4).Checkpoint
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := journal.ParseProof(text); err == nil {
			assert.Equal(t, text, p.Format(), "there is one spelling")
			_ = p.Verify(trees.hashes[3])
		}
		if p, err := journal.ParseConsistencyProof(text); err == nil {
			assert.Equal(t, text, p.Format(), "there is one spelling")
			_ = p.Verify(older)
		}
	})
}
