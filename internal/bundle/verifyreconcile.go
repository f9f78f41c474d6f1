// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/readtrail/readtrail/journal"
)

// reconcile looks up what the audit events of the bundle name in its other entries, and
// their artifacts among its files (requirement E4, step 8). It reads the bundle once
// more, and only if there is an audit event. What is not in a bundle may be in the
// journals, so nothing is ever unresolved; and in a bundle that is not what its maker
// packed nothing is found.
func (v *verifier) reconcile(index *file) error {
	if v.named.AuditEvents() == 0 {
		return nil
	}
	sound := true
	for _, c := range []*check{&v.membership, &v.digests, &v.merkle, &v.entries, &v.signature, &v.schema} {
		sound = sound && c.result() == journal.Valid
	}
	if sound {
		if err := v.lookThrough(index); err != nil {
			return err
		}
	}
	v.tellReconciled(sound)
	return nil
}

// lookThrough walks through the artifacts and the index, which were compared before.
func (v *verifier) lookThrough(index *file) error {
	lines := newIndexReader(io.NewSectionReader(index.content, 0, index.size))
	archive := &archiveReader{r: v.archive, size: v.size}
	for {
		wanted, err := lines.next()
		if err != nil || wanted == nil {
			return err
		}
		f, err := archive.next()
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return err
		}
		v.named.FindArtifact(wanted.Digest)
		if parseName(wanted.Name).kind != kindEntry {
			continue
		}
		text, ok, err := f.all(limits[kindEntry])
		if err != nil {
			return err
		}
		if ok {
			v.named.Find(bytes.TrimSuffix(text, []byte("\n")))
		}
	}
}

// tellReconciled says what was not compared.
func (v *verifier) tellReconciled(sound bool) {
	r := v.named.Reconciled()
	v.report.Reconciled = r
	said := []string{fmt.Sprintf("of %d audit events", r.AuditEvents)}
	if r.AuditEvents == 1 {
		said[0] = "of 1 audit event"
	}
	if !sound {
		said = append(said, "nothing was looked up, since not every artifact and entry is valid")
	} else if r.Found < r.IDs || r.Lineage != journal.Valid {
		said = append(said, fmt.Sprintf("%d of %d ids are in the bundle: verify the journals for the others", r.Found, r.IDs))
	}
	if r.ArtifactsCompared < r.ArtifactsNamed {
		said = append(said, fmt.Sprintf("%d of %d artifacts are in the bundle", r.ArtifactsCompared, r.ArtifactsNamed))
	}
	said = append(said, "manifests and effects at the source are not compared")
	f := Finding{Code: journal.CodeReconcileNotPerformed, Detail: strings.Join(said, "; ")}
	p := v.trust.Policy
	if p.Demands(journal.DemandLineage) && r.Lineage != journal.Valid || p.Demands(journal.DemandArtifacts) && r.ArtifactsNamed > 0 && r.Artifacts != journal.Valid {
		f.Class = journal.ClassUnchecked
	}
	v.report.add(f)
}
