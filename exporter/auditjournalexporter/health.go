// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// calm is how long nothing must have been refused before the status is OK
// again. Two pipelines can share the exporter: that one of them is right says
// nothing about the other.
const calm = time.Minute

// health reports the component's status when it changes. The lock is held
// while reporting, so that reports arrive in the order of the changes.
type health struct {
	now func() time.Time

	mu   sync.Mutex
	host component.Host
	// lastRefusal is when something was refused last, zero while the status is OK.
	lastRefusal time.Time
}

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

func (h *health) refused(reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wasOK := h.lastRefusal.IsZero()
	h.lastRefusal = h.now()
	if wasOK {
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(reason))
	}
}

func (h *health) accepted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.lastRefusal.IsZero() && h.now().Sub(h.lastRefusal) >= calm {
		h.lastRefusal = time.Time{}
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
