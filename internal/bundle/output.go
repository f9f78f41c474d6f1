// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/readtrail/readtrail/journal"
)

// output writes the archive, and the index beside it until it is its turn.
type output struct {
	archive *archiveWriter
	scratch string
	// index is a file: there may be millions of artifacts.
	index      *os.File
	indexSize  int64
	indexSum   interface{ Sum([]byte) []byte }
	indexWrite io.Writer
	tree       tree
	size       int64
}

func newOutput(w io.Writer, scratch string) *output {
	return &output{archive: newArchiveWriter(w), scratch: scratch}
}

// discard takes the scratch file away.
func (o *output) discard() {
	if o.index != nil {
		_ = o.index.Close()
		_ = os.Remove(o.index.Name())
	}
}

// add writes an artifact.
func (o *output) add(name string, content []byte) error {
	return o.stream(name, int64(len(content)), sha256.Sum256(content), bytes.NewReader(content))
}

// stream writes an artifact whose digest is known already.
func (o *output) stream(name string, size int64, sum [sha256.Size]byte, content io.Reader) error {
	if err := o.begin(); err != nil {
		return err
	}
	h := sha256.New()
	if err := o.archive.add(name, size, io.TeeReader(content, h)); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if [sha256.Size]byte(h.Sum(nil)) != sum {
		return fmt.Errorf("%s changed while it was read", name)
	}
	line := (&Artifact{Digest: spell(sum), Name: name, Size: size}).line()
	o.tree.add(line)
	o.size += size
	n, err := o.indexWrite.Write(append(line, '\n'))
	o.indexSize += int64(n)
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

func (o *output) begin() (err error) {
	if o.index != nil {
		return nil
	}
	if o.index, err = os.CreateTemp(o.scratch, "index-"); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	h := sha256.New()
	o.indexSum, o.indexWrite = h, io.MultiWriter(o.index, h)
	return nil
}

// finish writes the index, the manifest and its signature.
func (o *output) finish(m *Manifest, s journal.Signer) error {
	if err := o.begin(); err != nil {
		return err
	}
	if _, err := o.index.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read index: %w", err)
	}
	if err := o.archive.add(indexName, o.indexSize, o.index); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	m.Artifacts = Totals{
		Count: o.tree.size, Size: o.size, MerkleRoot: spell(o.tree.root()), IndexDigest: spell([sha256.Size]byte(o.indexSum.Sum(nil))),
	}
	text, err := m.format()
	if err != nil {
		return err
	}
	signature, err := signManifest(text, s)
	if err != nil {
		return err
	}
	err = errors.Join(
		o.archive.add(manifestName, int64(len(text)), bytes.NewReader(text)),
		o.archive.add(sigName, int64(len(signature)), bytes.NewReader(signature)),
		o.archive.close(),
	)
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}
