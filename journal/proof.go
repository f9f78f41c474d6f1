// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/record"
)

// maxProofHashes bounds the path of a proof: no tree is higher.
const maxProofHashes = 63

// MaxProofBytes bounds the text of a proof: header, index, path and checkpoint.
const MaxProofBytes = MaxCheckpointBytes + (maxProofHashes+4)*64

var (
	errProofMalformed       = errors.New("malformed tlog-proof")
	errConsistencyMalformed = errors.New("malformed consistency proof")
	// ErrNotIncluded says that a proof does not show that an entry is in the tree
	// of its checkpoint.
	ErrNotIncluded = errors.New("the proof does not lead from the entry to the root of the checkpoint")
	// ErrInconsistent says that a proof does not show that one tree continues
	// another.
	ErrInconsistent = errors.New("the newer checkpoint does not continue the older one")
)

// InclusionProof shows that an entry is in the tree of a checkpoint
// (c2sp.org/tlog-proof): whoever trusts the checkpoint needs neither journal nor
// writer to know that the entry stood there.
type InclusionProof struct {
	// Index is the sequence of the entry less one.
	Index uint64
	// Path holds the hashes from the leaf up (RFC 6962 section 2.1.1).
	Path [][sha256.Size]byte
	// Checkpoint holds the tree's size and root, and who says so; parsing verifies
	// no signature.
	Checkpoint *SignedCheckpoint
}

// Format returns the proof as the text of a .tlog-proof file.
func (p *InclusionProof) Format() []byte {
	return torchwood.FormatProof(int64(p.Index), toHashes(p.Path), p.Checkpoint.Note)
}

// ParseProof reads the text of a .tlog-proof file. It must be the one that Format
// writes; extra data, which nothing authenticates, are refused.
func ParseProof(text []byte) (*InclusionProof, error) {
	if len(text) > MaxProofBytes {
		return nil, errProofMalformed
	}
	rest, ok := strings.CutPrefix(string(text), "c2sp.org/tlog-proof@v1\nindex ")
	if !ok {
		return nil, errProofMalformed
	}
	number, rest, _ := strings.Cut(rest, "\n")
	index, err := strconv.ParseUint(number, 10, 64)
	if err != nil || index >= record.MaxInteger {
		return nil, errProofMalformed
	}
	path, rest, ok := parseHashes(rest)
	if !ok {
		return nil, errProofMalformed
	}
	checkpoint, err := ParseCheckpoint([]byte(rest))
	if err != nil {
		return nil, err
	}
	p := &InclusionProof{Index: index, Path: path, Checkpoint: checkpoint}
	if !bytes.Equal(p.Format(), text) {
		return nil, errProofMalformed
	}
	return p, nil
}

// Verify says whether the proof leads from an entry's record hash to the root of
// its checkpoint. Who signed the checkpoint is for SignedCheckpoint.Signer.
func (p *InclusionProof) Verify(recordHash [sha256.Size]byte) error {
	if tlog.CheckRecord(toHashes(p.Path), int64(p.Checkpoint.Size), p.Checkpoint.Root, int64(p.Index), LeafHash(recordHash)) != nil {
		return ErrNotIncluded
	}
	return nil
}

// ConsistencyProof shows that the tree of a checkpoint continues an older tree:
// that no entry of the older one was changed, removed or put in between.
type ConsistencyProof struct {
	// OldSize is the size of the older tree, at most that of Checkpoint.
	OldSize uint64
	// Path holds the hashes of RFC 6962 section 2.1.2.
	Path       [][sha256.Size]byte
	Checkpoint *SignedCheckpoint
}

// Format returns the proof as c2sp.org/tlog-witness spells it: the older size,
// the hashes, an empty line, and the newer checkpoint.
func (p *ConsistencyProof) Format() []byte {
	var b bytes.Buffer
	b.WriteString("old " + strconv.FormatUint(p.OldSize, 10) + "\n")
	for _, h := range p.Path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(p.Checkpoint.Note)
	return b.Bytes()
}

// ParseConsistencyProof reads what ConsistencyProof.Format writes.
func ParseConsistencyProof(text []byte) (*ConsistencyProof, error) {
	if len(text) > MaxProofBytes {
		return nil, errConsistencyMalformed
	}
	rest, ok := strings.CutPrefix(string(text), "old ")
	if !ok {
		return nil, errConsistencyMalformed
	}
	number, rest, _ := strings.Cut(rest, "\n")
	size, err := strconv.ParseUint(number, 10, 64)
	if err != nil || size > record.MaxInteger {
		return nil, errConsistencyMalformed
	}
	path, rest, ok := parseHashes(rest)
	if !ok {
		return nil, errConsistencyMalformed
	}
	checkpoint, err := ParseCheckpoint([]byte(rest))
	if err != nil {
		return nil, err
	}
	p := &ConsistencyProof{OldSize: size, Path: path, Checkpoint: checkpoint}
	if !bytes.Equal(p.Format(), text) {
		return nil, errConsistencyMalformed
	}
	return p, nil
}

// Verify says whether the proof's checkpoint continues an older one. Who signed
// the two is for SignedCheckpoint.Signer.
func (p *ConsistencyProof) Verify(older Checkpoint) error {
	newer := p.Checkpoint.Checkpoint
	if older.Origin != newer.Origin || older.Size != p.OldSize || older.Size == 0 || older.Size > newer.Size {
		return ErrInconsistent
	}
	if tlog.CheckTree(toHashes(p.Path), int64(newer.Size), newer.Root, int64(older.Size), older.Root) != nil {
		return ErrInconsistent
	}
	return nil
}

// parseHashes reads lines of base64 up to an empty one.
func parseHashes(text string) (path [][sha256.Size]byte, rest string, ok bool) {
	for {
		line, after, found := strings.Cut(text, "\n")
		switch {
		case !found:
			return nil, "", false
		case line == "":
			return path, after, true
		}
		h, err := tlog.ParseHash(line)
		if err != nil || len(path) == maxProofHashes {
			return nil, "", false
		}
		path, text = append(path, h), after
	}
}

// toHashes spells a path in the type of package tlog.
func toHashes(path [][sha256.Size]byte) []tlog.Hash {
	hashes := make([]tlog.Hash, len(path))
	for i, h := range path {
		hashes[i] = h
	}
	return hashes
}
