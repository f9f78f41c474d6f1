// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// health reports the component's status when it changes: a recoverable error from
// the first request that the journal cannot take until the next one that it took.
// The lock is held while reporting, so that reports arrive in the order of the
// changes.
type health struct {
	host component.Host

	mu      sync.Mutex
	trouble string
}

func newHealth(host component.Host) *health { return &health{host: host} }

func (h *health) unavailable(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text := err.Error(); text != h.trouble {
		h.trouble = text
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(err))
	}
}

func (h *health) available() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trouble != "" {
		h.trouble = ""
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
