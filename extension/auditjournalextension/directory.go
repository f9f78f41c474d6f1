// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"fmt"
	"path/filepath"
	"strings"

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
func (n journalName) String() string { return escape(n.organization) + "/" + escape(n.retention) }

// directory returns where the journal is below root (contract 7).
func (n journalName) directory(root string) string {
	return filepath.Join(root, escape(n.organization), escape(n.retention), reads)
}

// escape spells a name as one path element: letters, digits, "-", "_" and an
// inner "." stand for themselves, any other byte is percent-escaped, so that no
// name leaves its directory and no two names share one.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
