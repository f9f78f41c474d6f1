// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// kinds are the names of journals' directories (contract 7).
var kinds = []string{"reads", "actions"}

// ReadJournal finds out which journal a directory holds: by its entries, and its
// kind by its name.
func ReadJournal(source *journal.Source) (Journal, error) {
	j := Journal{Dir: source.Path, FS: durable.OS{}}
	j.Kind = filepath.Base(source.Path)
	if !slices.Contains(kinds, j.Kind) {
		return j, fmt.Errorf("%s: the directory of a journal that is archived is called reads or actions, as the collector made it", source.Path)
	}
	for line, err := range source.Lines() {
		if err != nil {
			return j, err
		}
		e, err := journal.ParseLine(line.Bytes)
		if err != nil {
			break
		}
		if h := e.Header; h.JournalID != "" && h.Scope.OrganizationRef != "" {
			j.Organization, j.RetentionClass, j.JournalID = h.Scope.OrganizationRef, h.Scope.RetentionClass, h.JournalID
			return j, j.check()
		}
	}
	return j, fmt.Errorf("%s: its first entries do not say which journal it is; run readtrail verify", source.Path)
}

// CheckpointsIn returns where the checkpoints of the journal are in a directory
// that holds those of several.
func (j *Journal) CheckpointsIn(dir string) string { return filepath.Join(dir, j.JournalID) }
