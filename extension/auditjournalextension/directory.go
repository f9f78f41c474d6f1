// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"path/filepath"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

// reads is the directory of the journal that telemetry goes to (contract 7).
const reads = "reads"

// journalName is what tells one journal from another in a directory.
type journalName struct {
	organization, retention string
}

func nameOf(s record.Scope) journalName {
	return journalName{organization: s.OrganizationRef, retention: s.RetentionClass}
}

// String spells the name as it stands in logs and metrics.
func (n journalName) String() string {
	return durable.PathElement(n.organization) + "/" + durable.PathElement(n.retention)
}

// directory returns where the journal is below root (contract 7).
func (n journalName) directory(root string) string {
	return filepath.Join(root, durable.PathElement(n.organization), durable.PathElement(n.retention), reads)
}
