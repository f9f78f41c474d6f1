// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/readtrail/readtrail/record"
)

var groupSigner = newKeySigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))

// groupOf assembles and signs a group of so many entries.
func groupOf(t testing.TB, size int) (entries []*Unsigned, lines [][]byte) {
	t.Helper()
	previous := ""
	for i := range size {
		kind := record.KindRead
		if i%3 == 1 {
			kind = "action_record" // stands before integrity
		}
		u := AssembleGrouped(kind, "1.0.0", fmt.Appendf(nil, `{"n":"%d"}`, i), previous, groupSigner)
		previous = u.RecordHash()
		entries = append(entries, u)
	}
	g, err := SignGroup(entries, groupSigner)
	require.NoError(t, err)
	for i := range entries {
		lines = append(lines, g.Line(i))
	}
	return entries, lines
}

func valueOf(t testing.TB, line []byte) []byte {
	t.Helper()
	var p parts
	require.NoError(t, p.read(bytes.TrimSuffix(line, []byte("\n")), nil))
	require.Equal(t, groupAlgorithm, string(p.algorithm))
	return p.value
}

// Root and inclusion are those of another implementation of RFC 6962, for every
// place of groups of every shape, and each line is canonical and hashes to what
// was chained.
func TestEveryEntryOfAGroupVerifiesAlone(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33, 100, MaxGroupSize} {
		entries, lines := groupOf(t, size)
		tree := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
		for _, u := range entries {
			require.NoError(t, tree.Append(rfc6962.DefaultHasher.HashLeaf(u.digest[:]), nil))
		}
		root, err := tree.GetRootHash(nil)
		require.NoError(t, err)
		for i, line := range lines {
			require.LessOrEqual(t, len(line), entries[i].Size())
			if size == MaxGroupSize && i%97 > 0 {
				continue
			}
			var p parts
			require.NoError(t, p.read(bytes.TrimSuffix(line, []byte("\n")), nil))
			require.Equal(t, entries[i].digest, p.cut.digest(p.line))
			value := valueOf(t, line)
			require.True(t, verifyGroup(groupSigner.public, entries[i].digest, value))

			require.Equal(t, uint32(i), binary.BigEndian.Uint32(value))
			require.Equal(t, uint32(size), binary.BigEndian.Uint32(value[4:]))
			var path [][]byte
			for rest := value[8 : len(value)-64]; len(rest) > 0; rest = rest[32:] {
				path = append(path, rest[:32])
			}
			leaf := rfc6962.DefaultHasher.HashLeaf(entries[i].digest[:])
			require.NoError(t, proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(i), uint64(size), leaf, path, root))
			require.True(t, ed25519.Verify(groupSigner.public, append([]byte("readtrail/group/v1\n"), root...), value[len(value)-64:]))
		}
	}
}

func TestTheValueOfAGroupSignatureIsAlwaysSpelledTheSame(t *testing.T) {
	_, lines := groupOf(t, 3)
	sum := sha256.Sum256(bytes.Join(lines, nil))
	require.Equal(t, "AAAAAgAAAAMBsCTMb3L9IAImunJuZ0rC", base64.StdEncoding.EncodeToString(valueOf(t, lines[2]))[:32])
	require.Equal(t, "256939f84dc40d3229b1b86da89d984b47215747335f28edc8238e442919281f", hex.EncodeToString(sum[:]))
}

// verifyGroup reports whether a value is the group signature by a key of the entry
// with a record hash.
func verifyGroup(public ed25519.PublicKey, recordHash [sha256.Size]byte, value []byte) bool {
	g, err := parseGroupSignature(value)
	if err != nil {
		return false
	}
	k := &checker{parts: parts{sealed: sealed{key: &Key{PublicKey: public}, group: g}}}
	return k.verifyGroup(&recordHash)
}

func TestAChangedGroupSignatureDoesNotVerify(t *testing.T) {
	entries, lines := groupOf(t, 11)
	for i, line := range lines {
		value := valueOf(t, line)
		for bit := range len(value) * 8 {
			value[bit/8] ^= 1 << (bit % 8)
			if bit/8 < 4 || bit/8 >= 8 || !verifyGroup(groupSigner.public, entries[i].digest, value) {
				require.False(t, verifyGroup(groupSigner.public, entries[i].digest, value), "entry %d bit %d", i, bit)
			} else {
				require.False(t, continued(t, lines, i, value), "entry %d bit %d", i, bit)
			}
			value[bit/8] ^= 1 << (bit % 8)
		}
		require.True(t, continued(t, lines, i, value))
		for size := range value {
			require.False(t, verifyGroup(groupSigner.public, entries[i].digest, value[:size]))
		}
		require.False(t, verifyGroup(groupSigner.public, entries[i].digest, append(value, make([]byte, 32)...)))
		require.False(t, verifyGroup(groupSigner.public, entries[(i+1)%len(entries)].digest, value))
	}
}

// continued reports whether the neighbors of entry i agree with a value.
func continued(t *testing.T, lines [][]byte, i int, value []byte) bool {
	t.Helper()
	g, err := parseGroupSignature(value)
	require.NoError(t, err)
	for n := max(i-1, 0); n <= min(i+1, len(lines)-1); n++ {
		neighbor, err := parseGroupSignature(valueOf(t, lines[n]))
		require.NoError(t, err)
		if n < i && !g.continues(neighbor) || n > i && !neighbor.continues(g) {
			return false
		}
	}
	return true
}

// A signature of a group says nothing about an entry that has its root as hash,
// and the other way round.
func TestASignatureOfAGroupIsNotThatOfAnEntry(t *testing.T) {
	entries, lines := groupOf(t, 1)
	value := valueOf(t, lines[0])
	require.False(t, ed25519.Verify(groupSigner.public, entries[0].digest[:], value[8:]))
	plain, err := groupSigner.Sign(entries[0].digest[:])
	require.NoError(t, err)
	require.False(t, verifyGroup(groupSigner.public, entries[0].digest, append(value[:8:8], plain...)))
}

// failingSigner returns what a broken device might.
type failingSigner struct {
	*keySigner
	signature []byte
	err       error
}

func (s failingSigner) Sign([]byte) ([]byte, error) { return s.signature, s.err }

func TestAGroupIsNotSigned(t *testing.T) {
	entries, _ := groupOf(t, 2)
	plain := Assemble(record.KindRead, "1.0.0", []byte(`{}`), "", groupSigner)
	other := newKeySigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	for name, c := range map[string]struct {
		entries []*Unsigned
		signer  Signer
		want    string
	}{
		"without entries":                 {nil, groupSigner, "group of 0 entries cannot be signed"},
		"with too many":                   {make([]*Unsigned, MaxGroupSize+1), groupSigner, "group of 4097 entries cannot be signed"},
		"with an entry that stands alone": {append(entries, plain), groupSigner, "cannot be signed in a group"},
		"by another key":                  {entries, other, "cannot be signed by key " + other.id},
		"by a device that fails":          {entries, failingSigner{groupSigner, nil, errors.New("token is gone")}, "sign with key " + groupSigner.id + ": token is gone"},
		"with half a signature":           {entries, failingSigner{groupSigner, make([]byte, 32), nil}, "signature has 32 bytes, want 64"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := SignGroup(c.entries, c.signer)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := entries[0].Sign(groupSigner)
	require.ErrorContains(t, err, "cannot have a signature of its own")
}

func FuzzAGroupSignatureHasOneSpelling(f *testing.F) {
	for _, size := range []int{1, 2, 7, 8} {
		_, lines := groupOf(f, size)
		for _, line := range lines {
			f.Add(valueOf(f, line))
		}
	}
	f.Add(make([]byte, 72))
	f.Add(bytes.Repeat([]byte{0xff}, 8+32*32+64))
	f.Fuzz(func(t *testing.T, value []byte) {
		g, err := parseGroupSignature(value)
		if err != nil {
			require.Equal(t, errGroupSignature, err)
			require.False(t, verifyGroup(groupSigner.public, [32]byte{}, value))
			return
		}
		again := binary.BigEndian.AppendUint32(nil, g.index)
		again = binary.BigEndian.AppendUint32(again, g.size)
		for _, h := range g.path {
			again = append(again, h[:]...)
		}
		require.Equal(t, value, append(again, g.signature[:]...))
		var path [][]byte
		for _, h := range g.path {
			path = append(path, h[:])
		}
		// Another implementation finds the same root.
		root := g.root([32]byte{})
		leaf := rfc6962.DefaultHasher.HashLeaf(make([]byte, 32))
		require.NoError(t, proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(g.index), uint64(g.size), leaf, path, root[:]))
	})
}
