// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/readtrail/readtrail/internal/ledger"
)

// health reports the component's status when it changes: a recoverable error
// from the first journal that cannot be written until the last one that can
// again, with the newest cause of all that are left, and a permanent one for a
// journal that somebody has to examine. The lock is held while reporting, so that
// reports arrive in the order of the changes.
type health struct {
	mu   sync.Mutex
	host component.Host
	// degraded are the journals that cannot be written, the newest cause last.
	degraded []trouble
	// damaged ends all reports: no other status follows a permanent error.
	damaged bool
}

// trouble is why a journal cannot be written.
type trouble struct {
	name journalName
	err  error
}

func newHealth() *health { return &health{} }

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

// set says how a journal is: nil if it can be written.
func (h *health) set(name journalName, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.newest()
	if i := slices.IndexFunc(h.degraded, func(t trouble) bool { return t.name == name }); i >= 0 {
		if err != nil && err.Error() == h.degraded[i].err.Error() {
			return
		}
		h.degraded = slices.Delete(h.degraded, i, i+1)
	}
	if err != nil {
		h.degraded = append(h.degraded, trouble{name, err})
	}
	now := h.newest()
	switch {
	case h.damaged:
	case errors.Is(err, ledger.ErrDamaged):
		h.damaged = true
		componentstatus.ReportStatus(h.host, componentstatus.NewPermanentErrorEvent(now))
	case now == nil && before != nil:
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	case now != nil && (before == nil || before.Error() != now.Error()):
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(now))
	}
}

// newest returns the newest cause, nil if every journal can be written.
func (h *health) newest() error {
	if len(h.degraded) == 0 {
		return nil
	}
	t := h.degraded[len(h.degraded)-1]
	return fmt.Errorf("journal %s: %w", t.name, t.err)
}
