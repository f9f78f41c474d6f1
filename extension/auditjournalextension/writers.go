// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/record"
)

// writers are the exporters that write to the journals. Each says for itself who may
// choose which organization, for the receivers that lead to it; here it shows when one
// says nothing.
type writers struct {
	mu sync.Mutex
	// bound says of each exporter whether it binds clients to organizations.
	bound map[component.ID]bool
}

// Attach says that an exporter begins to write, and whether it binds clients to
// organizations. If some exporters do and others do not, the latter are a way around
// the former, and nothing may start.
func (j *journals) Attach(exporter component.ID, binds bool) error {
	j.writers.mu.Lock()
	defer j.writers.mu.Unlock()
	for other, otherBinds := range j.writers.bound {
		if otherBinds == binds {
			continue
		}
		open, closed := exporter, other
		if binds {
			open, closed = other, exporter
		}
		return fmt.Errorf("exporters::%s::clients must be set, since exporters::%s has clients and writes to the same journals of %s: "+
			`list who writes through this exporter for whom; subject "*" is every client of its receivers`, open, closed, j.id)
	}
	if _, known := j.writers.bound[exporter]; known {
		return nil
	}
	if j.writers.bound == nil {
		j.writers.bound = map[component.ID]bool{}
	}
	j.writers.bound[exporter] = binds
	if n := organizations(j.Scopes()); n > 1 && !binds {
		j.logger.Warn("Every client may write for every organization: set exporters::"+exporter.String()+"::clients to say who writes for whom",
			zap.Int("organizations", n))
	}
	return nil
}

func organizations(scopes []record.Scope) int {
	names := map[string]struct{}{}
	for _, s := range scopes {
		names[s.OrganizationRef] = struct{}{}
	}
	return len(names)
}
