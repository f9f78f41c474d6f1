// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"cmp"
	"path/filepath"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

// The kinds of journals, which are their directories (contract 7): reads has what
// telemetry tells, actions what comes by the synchronous path.
const (
	reads   = "reads"
	actions = "actions"
)

// journalName is what tells one journal from another in a directory.
type journalName struct {
	organization, retention, kind string
}

func nameOf(s record.Scope, kind string) journalName {
	return journalName{organization: s.OrganizationRef, retention: s.RetentionClass, kind: kind}
}

// kindOf returns the kind of the journal that a draft belongs to.
func kindOf(d *record.Draft) string {
	if d.OfActions() {
		return actions
	}
	return reads
}

// String spells the name as it stands in logs and metrics.
func (n journalName) String() string {
	name := durable.PathElement(n.organization) + "/" + durable.PathElement(n.retention)
	if n.kind == actions {
		name += "/" + actions
	}
	return name
}

// directory returns where the journal is below root (contract 7).
func (n journalName) directory(root string) string {
	return filepath.Join(root, durable.PathElement(n.organization), durable.PathElement(n.retention), n.kind)
}

// compare orders names as their directories are.
func (n journalName) compare(other journalName) int {
	return cmp.Or(
		cmp.Compare(n.organization, other.organization), cmp.Compare(n.retention, other.retention), cmp.Compare(n.kind, other.kind),
	)
}
