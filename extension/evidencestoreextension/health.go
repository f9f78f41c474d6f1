// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// theDisk stands for what every scope shares; a scope has a slash in its name.
const theDisk = "directory"

// health reports the component's status and its gauge when they change: a
// recoverable error as long as the disk or a scope is in trouble. The lock is
// held while reporting, so that reports arrive in the order of the changes.
type health struct {
	// degraded sets the gauge.
	degraded func(int64)

	mu   sync.Mutex
	host component.Host
	// troubles are why copies cannot be stored, by theDisk or a scope.
	troubles map[string]error
	// reported is the text of the status, "" for OK.
	reported string
}

func newHealth(degraded func(int64)) *health {
	return &health{degraded: degraded, troubles: map[string]error{}}
}

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

// set says how the disk or a scope is: nil if copies can be stored. It returns
// whether that changed.
func (h *health) set(what string, err error) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, found := h.troubles[what]
	switch {
	case err == nil && !found, err != nil && found && before.Error() == err.Error():
		return false
	case err == nil:
		delete(h.troubles, what)
	default:
		h.troubles[what] = err
	}
	h.report()
	return true
}

func (h *health) report() {
	names := slices.Sorted(maps.Keys(h.troubles))
	if len(names) == 0 {
		h.reported = ""
		h.degraded(0)
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
		return
	}
	h.degraded(1)
	err := fmt.Errorf("%s: %w", names[0], h.troubles[names[0]])
	if text := err.Error(); text != h.reported {
		h.reported = text
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(err))
	}
}

func (h *health) inTrouble(what string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.troubles[what] != nil
}
