// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/record"
)

// MaxGroupSize is the most entries that one group signature covers.
const MaxGroupSize = 4096

// groupAlgorithm names group signatures (contract 4): one Ed25519 signature over
// the RFC 6962 tree of the entries that were committed together. Its value has
// all that one of them needs to be verified alone:
//
//	index   uint32, big-endian: the entry's place in the group, from 0
//	size    uint32, big-endian: the entries of the group
//	path    32 bytes each: the inclusion path from the leaf up, as long as index and size demand
//	64 bytes: the Ed25519 signature over groupPrefix and the 32 bytes of the root
const groupAlgorithm = "Ed25519-RFC6962"

// groupPrefix keeps a signature of a group from being that of anything else.
const groupPrefix = "readtrail/group/v1\n"

const (
	groupHeadBytes = 4 + 4
	// maxGroupPath is the longest path in a group of MaxGroupSize.
	maxGroupPath = 12
)

// Groupable reports whether entries of a kind may have a group signature: every
// one but an audit_event, whose seed knows plain signatures only.
func Groupable(kind record.Kind) bool { return kind != record.KindAuditEvent }

func groupMessage(root [sha256.Size]byte) []byte { return append([]byte(groupPrefix), root[:]...) }

// SignedGroup is the signature of a commit group. It is safe for concurrent use.
type SignedGroup struct {
	entries   []*Unsigned
	tree      groupTree
	signature []byte
}

// SignGroup signs entries that AssembleGrouped made for one signer, at least one
// and at most MaxGroupSize, in their order. It signs once, however many they are.
func SignGroup(entries []*Unsigned, s Signer) (*SignedGroup, error) {
	if len(entries) == 0 || len(entries) > MaxGroupSize {
		return nil, fmt.Errorf("group of %d entries cannot be signed, only one of 1 to %d", len(entries), MaxGroupSize)
	}
	hashes := make([][sha256.Size]byte, len(entries))
	for i, u := range entries {
		if !u.grouped {
			return nil, errors.New("entry assembled for a signature of its own cannot be signed in a group")
		}
		if err := u.checkSigner(s); err != nil {
			return nil, err
		}
		hashes[i] = u.digest
	}
	tree := newGroupTree(hashes)
	signature, err := signWith(s, groupMessage(tree.root()))
	if err != nil {
		return nil, err
	}
	return &SignedGroup{entries: entries, tree: tree, signature: signature}, nil
}

// Line completes entry i of the group and returns its line with its LF, which the
// Unsigned no longer owns.
func (g *SignedGroup) Line(i int) []byte {
	value := make([]byte, 0, groupHeadBytes+maxGroupPath*sha256.Size+ed25519.SignatureSize)
	value = binary.BigEndian.AppendUint32(value, uint32(i))
	value = binary.BigEndian.AppendUint32(value, uint32(len(g.entries)))
	value = g.tree.appendPath(value, i)
	value = append(value, g.signature...)
	return g.entries[i].fill(value)
}

var errGroupSignature = errors.New("signature value is not that of a group: index, size, path and signature")

// groupSignature is the value of a group signature, parsed.
type groupSignature struct {
	index, size uint32
	path        [][sha256.Size]byte
	signature   [ed25519.SignatureSize]byte
}

// parseGroupSignature reads the bytes of a value. It verifies nothing, but what
// it takes has exactly one spelling.
func parseGroupSignature(value []byte) (groupSignature, error) {
	if len(value) < groupHeadBytes+ed25519.SignatureSize {
		return groupSignature{}, errGroupSignature
	}
	g := groupSignature{index: binary.BigEndian.Uint32(value), size: binary.BigEndian.Uint32(value[4:])}
	path := value[groupHeadBytes : len(value)-ed25519.SignatureSize]
	if g.index >= g.size || len(path) != pathLength(g.index, g.size)*sha256.Size {
		return groupSignature{}, errGroupSignature
	}
	for ; len(path) > 0; path = path[sha256.Size:] {
		g.path = append(g.path, [sha256.Size]byte(path))
	}
	copy(g.signature[:], value[len(value)-ed25519.SignatureSize:])
	return g, nil
}

// root returns the root of the group if a record hash is the one at index.
func (g groupSignature) root(recordHash [sha256.Size]byte) [sha256.Size]byte {
	return rootOf(LeafHash(recordHash), g.index, g.size, g.path)
}

// continues reports whether g can stand behind previous, the last group signature
// before it in a journal: one signature covers entries in their order. The size is
// not what is signed, and a path may lead to the same root for another one, so
// that only the neighbors say whether it is right.
func (g groupSignature) continues(previous groupSignature) bool {
	return g.signature != previous.signature || g.size == previous.size && g.index == previous.index+1
}
