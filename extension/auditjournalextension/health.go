// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/readtrail/readtrail/internal/ledger"
)

// health reports the component's status when it changes: a recoverable error
// from the first journal that cannot be written until the last one that can
// again, and a permanent one for a journal that somebody has to examine. The
// lock is held while reporting, so that reports arrive in the order of the
// changes.
type health struct {
	mu       sync.Mutex
	host     component.Host
	degraded map[journalName]struct{}
	// damaged ends all reports: no other status follows a permanent error.
	damaged bool
}

func newHealth() *health { return &health{degraded: make(map[journalName]struct{})} }

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

// set says how a journal is: nil if it can be written.
func (h *health) set(name journalName, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.degraded)
	if err == nil {
		delete(h.degraded, name)
	} else {
		h.degraded[name] = struct{}{}
		err = fmt.Errorf("journal %s: %w", name, err)
	}
	now := len(h.degraded)
	switch {
	case h.damaged:
	case errors.Is(err, ledger.ErrDamaged):
		h.damaged = true
		componentstatus.ReportStatus(h.host, componentstatus.NewPermanentErrorEvent(err))
	case before == 0 && now > 0:
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(err))
	case before > 0 && now == 0:
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
