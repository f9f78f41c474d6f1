// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// Trust is what a verifier is given from outside the bundle.
type Trust struct {
	// Keys are trusted to sign journals, and ManifestKeys to sign manifests.
	Keys, ManifestKeys *journal.Registry
	// Policy says who attests, and what is demanded; nil demands nothing.
	Policy *journal.Policy
}

// Verify checks a bundle of size bytes (requirement E7): that it holds exactly what
// its signed manifest lists, and that each entry in it stood in its journal. It
// needs no journal, reads the bundle twice, and once more if there are audit events in
// it, and keeps of each journal what its checkpoints need. An error means that the bundle
// could not be read.
func Verify(ctx context.Context, r io.ReaderAt, size int64, trust Trust) (*Report, error) {
	v := &verifier{ctx: ctx, trust: trust, archive: r, size: size, named: journal.NewEntryReconciliation(), report: &Report{
		ManifestSignature: journal.NotPerformed, Findings: []Finding{}, Counts: map[journal.Code]uint64{},
	}}
	ends, err := v.scan()
	if errors.Is(err, errArchive) {
		v.find(journal.CodeNotCanonical, "", err.Error())
		return v.finish(), nil
	}
	if err != nil {
		return nil, err
	}
	if err := v.judgeManifest(ends); err != nil {
		return nil, err
	}
	if err := v.compare(ends); err != nil {
		return nil, err
	}
	if err := v.reconcile(ends.index); err != nil {
		return nil, err
	}
	return v.finish(), nil
}

type verifier struct {
	ctx     context.Context
	trust   Trust
	archive io.ReaderAt
	size    int64
	report  *Report

	manifest *Manifest
	// listed are the journals of the manifest, by the path elements of their ids.
	listed  map[string]*Journal
	current *journalCheck
	visited map[*Journal]bool
	// redactions are counted again.
	redactions map[Redaction]uint64
	// named is what audit events name.
	named *journal.EntryReconciliation

	membership, digests, merkle             check
	entries, signature, schema              check
	inclusion, checkpoints, time, witnessed check
	omissions, completeness                 check
}

func (v *verifier) find(code journal.Code, name, detail string) {
	v.report.add(Finding{Code: code, Name: name, Detail: detail})
}

// ends are the files behind the artifacts, nil for one that is not there.
type ends struct{ index, manifest, sig *file }

// scan reads all headers, and with them whether the archive is one that a maker
// writes.
func (v *verifier) scan() (*ends, error) {
	found := &ends{}
	a := &archiveReader{r: v.archive, size: v.size}
	for {
		f, err := a.next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		switch f.name {
		case indexName:
			found.index = f
		case manifestName:
			found.manifest = f
		case sigName:
			found.sig = f
		}
	}
}

// compare walks through the artifacts and the index at the same time: both are in
// the order of the names.
func (v *verifier) compare(e *ends) error {
	if v.manifest == nil {
		return nil
	}
	v.listed, v.redactions, v.visited = make(map[string]*Journal, len(v.manifest.Journals)), map[Redaction]uint64{}, map[*Journal]bool{}
	for i := range v.manifest.Journals {
		j := &v.manifest.Journals[i]
		v.listed[durable.PathElement(j.JournalID)] = j
	}
	if e.index == nil {
		v.find(journal.CodeArtifactMissing, indexName, "nothing says which artifacts belong to the bundle")
		v.merkle.broken, v.membership.broken = true, true
		return nil
	}
	if err := v.judgeIndexDigest(e.index); err != nil {
		return err
	}
	index := newIndexReader(io.NewSectionReader(e.index.content, 0, e.index.size))
	archive := &archiveReader{r: v.archive, size: v.size}
	wanted, err := index.next()
	var there *file
	if err == nil {
		there, err = archive.next()
	}
	for err == nil && (wanted != nil || there.isArtifact()) {
		if err = v.ctx.Err(); err != nil {
			break
		}
		switch {
		case wanted != nil && (!there.isArtifact() || wanted.Name < there.name):
			v.membership.broken = true
			v.find(journal.CodeArtifactMissing, wanted.Name, "")
			v.take(wanted, nil)
			wanted, err = index.next()
		case wanted == nil || there.name < wanted.Name:
			v.membership.broken = true
			v.find(CodeArtifactUnlisted, there.name, "")
			there, err = archive.next()
		default:
			if err = v.hold(wanted, there); err == nil {
				wanted, err = index.next()
			}
			if err == nil {
				there, err = archive.next()
			}
		}
	}
	if errors.Is(err, errIndex) {
		v.merkle.broken, v.membership.broken = true, true
		v.find(journal.CodeNotCanonical, indexName, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	v.endJournals()
	v.judgeRedactions()
	v.judgeIndex(index)
	return v.judgeRest(archive, there)
}

// isArtifact reports whether a file belongs to the index. Artifacts come first.
func (f *file) isArtifact() bool { return f != nil && f.name < indexName }

// judgeRest finds what is none of the files behind the artifacts.
func (v *verifier) judgeRest(archive *archiveReader, f *file) error {
	var err error
	for ; err == nil && f != nil; f, err = archive.next() {
		if f.name != indexName && f.name != manifestName && f.name != sigName {
			v.membership.broken = true
			v.find(CodeArtifactUnlisted, f.name, "")
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// judgeIndexDigest says whether the index is the one of the manifest, before what
// it says counts.
func (v *verifier) judgeIndexDigest(f *file) error {
	digest, err := digestOf(f)
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	v.merkle.made, v.membership.made = true, true
	if digest != v.manifest.Artifacts.IndexDigest {
		v.merkle.broken = true
		v.find(journal.CodeArtifactDigestMismatch, indexName, "the manifest names "+v.manifest.Artifacts.IndexDigest+", and it has "+digest)
	}
	return nil
}

// judgeIndex says whether what the index lists is what the manifest sums up.
func (v *verifier) judgeIndex(x *indexReader) {
	totals := &v.manifest.Artifacts
	if v.merkle.broken || spell(x.tree.root()) == totals.MerkleRoot && x.count == totals.Count && x.bytes == totals.Size {
		return
	}
	v.merkle.broken = true
	v.find(journal.CodeArtifactDigestMismatch, indexName,
		fmt.Sprintf("it lists %d artifacts with the root %s, and the manifest has %d with %s", x.count, spell(x.tree.root()), totals.Count, totals.MerkleRoot))
}

func digestOf(f *file) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(f.content, 0, f.size))
	return spell([sha256.Size]byte(h.Sum(nil))), err
}

// hold compares an artifact with its line in the index.
func (v *verifier) hold(wanted *Artifact, there *file) error {
	digest, err := digestOf(there)
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	v.digests.made = true
	if digest != wanted.Digest || there.size != wanted.Size {
		v.digests.broken = true
		v.find(journal.CodeArtifactDigestMismatch, wanted.Name, "it should have the digest "+wanted.Digest+" and has "+digest)
		return v.take(wanted, nil)
	}
	return v.take(wanted, there)
}
