// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/journal"
)

// Artifact is a line of the index. Its RFC 8785 form is the data of a leaf of the
// Merkle tree (RFC 6962) whose root the manifest has.
type Artifact struct {
	Digest string `json:"digest"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
}

const (
	artifactsDir = "artifacts/"
	indexName    = "index.jsonl"
	manifestName = "manifest.json"
	sigName      = "manifest.sig"
)

// maxIndexLine bounds a line of the index: a name, and 120 bytes around it.
const maxIndexLine = maxName + 128

var errIndex = errors.New("a line of the index is not as it is written, or is out of order")

// line returns the line without its LF. A name holds nothing that JSON escapes but
// the quotation mark.
func (a *Artifact) line() []byte {
	b, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		panic(err) // strings and a number
	}
	return b
}

// parseArtifact reads a line of the index: the one that line writes.
func parseArtifact(line []byte) (*Artifact, error) {
	var a Artifact
	if err := json.Unmarshal(line, &a, json.RejectUnknownMembers(true)); err != nil {
		return nil, errIndex
	}
	if _, ok := journal.ParseHash(a.Digest); !ok || a.Size < 0 || a.Size > maxFileBytes || checkName(a.Name) != nil ||
		!strings.HasPrefix(a.Name, artifactsDir) || !bytes.Equal(a.line(), line) {
		return nil, errIndex
	}
	return &a, nil
}

// indexReader reads the index in order.
type indexReader struct {
	lines *bufio.Reader
	tree  tree
	last  string
	count uint64
	bytes int64
}

func newIndexReader(r io.Reader) *indexReader {
	return &indexReader{lines: bufio.NewReaderSize(r, maxIndexLine)}
}

// next returns the next artifact, nil behind the last one.
func (x *indexReader) next() (*Artifact, error) {
	line, err := x.lines.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, nil
	case errors.Is(err, io.EOF), errors.Is(err, bufio.ErrBufferFull):
		return nil, errIndex
	case err != nil:
		return nil, err
	}
	line = line[:len(line)-1]
	a, err := parseArtifact(line)
	if err != nil {
		return nil, err
	}
	if a.Name <= x.last {
		return nil, errIndex
	}
	x.last = a.Name
	x.count++
	x.bytes += a.Size
	x.tree.add(line)
	return a, nil
}

// tree is an RFC 6962 tree as far as its root needs it: the hashes of its largest
// complete subtrees, from the left.
type tree struct {
	size   uint64
	hashes []tlog.Hash
}

func (t *tree) add(data []byte) {
	h := tlog.RecordHash(data)
	for n := t.size; n&1 == 1; n >>= 1 {
		h = tlog.NodeHash(t.hashes[len(t.hashes)-1], h)
		t.hashes = t.hashes[:len(t.hashes)-1]
	}
	t.hashes = append(t.hashes, h)
	t.size++
}

// root returns the root; of no leaves it is the hash of nothing.
func (t *tree) root() tlog.Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	h := t.hashes[len(t.hashes)-1]
	for i := len(t.hashes) - 2; i >= 0; i-- {
		h = tlog.NodeHash(t.hashes[i], h)
	}
	return h
}

func spell(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }
