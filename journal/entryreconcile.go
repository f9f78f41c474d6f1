// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"slices"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// EntryReconciliation holds audit events among entries that were taken out of their
// journals against these entries and the files beside them, as Reconciliation does
// against whole journals. All lines given to it are those of entries that were found
// valid. It is not for concurrent use.
type EntryReconciliation struct {
	parts parts
	of    *reconciling
	// artifacts counts how often a digest is named.
	artifacts map[string]uint64
	found     *lookup
}

// NewEntryReconciliation returns one that has collected nothing yet.
func NewEntryReconciliation() *EntryReconciliation {
	e := &EntryReconciliation{artifacts: map[string]uint64{}}
	e.of = NewReconciliation("").begin(nil, nil)
	return e
}

// Collect takes what a line, without its LF, names if it is that of an audit event.
func (e *EntryReconciliation) Collect(line []byte) {
	p := &e.parts
	if p.read(line, nil) != nil || p.kind != record.KindAuditEvent || !schema.Supports(p.kind, p.schemaVersion) {
		return
	}
	j := e.of
	j.events++
	c := checked{names: p.names()}
	if c.names == nil {
		j.notGood++
		return
	}
	j.effects = j.effects || c.names.effects
	j.take(&c, reference{})
	for _, digest := range c.names.artifacts {
		j.artifacts.named++
		if _, known := e.artifacts[digest]; known || len(e.artifacts) < maxCompared {
			e.artifacts[digest]++
		}
	}
}

// AuditEvents returns how many were collected.
func (e *EntryReconciliation) AuditEvents() uint64 { return e.of.events }

// Find looks through a line, without its LF, once all were collected.
func (e *EntryReconciliation) Find(line []byte) {
	if e.found == nil {
		named := e.of.all.named
		slices.SortFunc(named, func(a, b naming) int { return cmp.Compare(a.key, b.key) })
		e.found = &lookup{r: e.of.all, seek: &seeker{wanted: named}, left: len(named)}
	}
	if e.found.left == 0 || e.parts.read(line, nil) != nil {
		return
	}
	if seen := e.found.seek.in(&e.parts); seen != nil {
		e.found.find(seen.keys)
	}
}

// FindArtifact takes the digest of a file that is there.
func (e *EntryReconciliation) FindArtifact(digest string) {
	e.of.artifacts.compared += e.artifacts[digest]
	delete(e.artifacts, digest)
}

// Reconciled returns what was compared, nil if there was no audit event.
func (e *EntryReconciliation) Reconciled() *Reconciled {
	j := e.of
	if j.events == 0 {
		return nil
	}
	to := &Reconciled{AuditEvents: j.events, Lineage: NotPerformed, IDs: j.ids, ArtifactsNamed: j.artifacts.named, ArtifactsCompared: j.artifacts.compared}
	if e.found != nil {
		to.Found = j.ids - uint64(e.found.left)
	}
	if to.Found == to.IDs && to.IDs > 0 && j.beyond+j.waiting+j.notGood+j.onlyItself == 0 {
		to.Lineage = Valid
	}
	if to.ArtifactsNamed > 0 {
		to.Artifacts = outcome(false, to.ArtifactsCompared < to.ArtifactsNamed || j.notGood > 0)
	}
	if j.effects {
		to.Effects = NotPerformed
	}
	return to
}
