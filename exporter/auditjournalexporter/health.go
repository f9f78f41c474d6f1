// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// health reports the component's status when it changes. The lock is held
// while reporting, so that reports arrive in the order of the changes.
type health struct {
	mu       sync.Mutex
	host     component.Host
	refusing bool
}

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

func (h *health) refused(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.refusing {
		h.refusing = true
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(reason))
	}
}

func (h *health) accepted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refusing {
		h.refusing = false
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
