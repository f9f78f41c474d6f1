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
	// degraded are the journals that cannot be written or archived, or whose
	// checkpoints cannot be made or do not reach a sink, and the key that not all could take, the
	// newest cause last.
	degraded []trouble
	// damaged ends all reports: no other status follows a permanent error.
	damaged bool
}

// trouble is why a journal cannot be written, not be archived, or not be attested,
// or why it cannot have another key.
type trouble struct {
	// name is empty for the key, which all journals have in common.
	name journalName
	part part
	// sink is the place that does not take checkpoints, if part is partCheckpoints; it
	// is empty if none can be made.
	sink string
	err  error
}

// part is what of a journal has trouble. The greater one hides the others.
type part int

const (
	partArchive part = iota
	partCheckpoints
	partKey
	partJournal
)

func newHealth() *health { return &health{} }

func (h *health) setHost(host component.Host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.host = host
}

// set says how a journal is: nil if it can be written.
func (h *health) set(name journalName, err error) { h.change(name, partJournal, "", err) }

// setArchive says how the archive of a journal is: nil if it holds what it should.
func (h *health) setArchive(name journalName, err error) { h.change(name, partArchive, "", err) }

// setCheckpoints says whether checkpoints of a journal can be made: nil if so.
func (h *health) setCheckpoints(name journalName, err error) {
	h.change(name, partCheckpoints, "", err)
}

// setSink says how a place outside did with the last checkpoint of a journal.
func (h *health) setSink(name journalName, sink string, err error) {
	h.change(name, partCheckpoints, sink, err)
}

// setKey says whether every journal has the key that the key file names: nil if so.
func (h *health) setKey(err error) { h.change(journalName{}, partKey, "", err) }

func (h *health) change(name journalName, of part, sink string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.newest()
	i := slices.IndexFunc(h.degraded, func(t trouble) bool { return t.name == name && t.part == of && t.sink == sink })
	switch {
	case err == nil && i >= 0:
		h.degraded = slices.Delete(h.degraded, i, i+1)
	case err != nil && i < 0:
		h.degraded = append(h.degraded, trouble{name, of, sink, err})
	case err != nil && (of == partArchive || of == partCheckpoints):
		// The same place fails again, at another object. A new event would begin the
		// time anew that a health check waits before it calls the collector unhealthy,
		// which it then would never do.
		return
	case err != nil && err.Error() != h.degraded[i].err.Error():
		h.degraded = append(slices.Delete(h.degraded, i, i+1), trouble{name, of, sink, err})
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

// newest returns the newest cause, that of a journal before that of an archive,
// nil if there is none.
func (h *health) newest() error {
	var newest *trouble
	for i := range h.degraded {
		if t := &h.degraded[i]; newest == nil || t.part >= newest.part {
			newest = t
		}
	}
	switch {
	case newest == nil:
		return nil
	case newest.part == partArchive:
		return fmt.Errorf("archive of journal %s: %w", newest.name, newest.err)
	case newest.part == partKey:
		return fmt.Errorf("signing key cannot be changed: %w", newest.err)
	case newest.part == partCheckpoints && newest.sink == "":
		return fmt.Errorf("checkpoints of journal %s cannot be made: %w", newest.name, newest.err)
	case newest.part == partCheckpoints:
		return fmt.Errorf("checkpoints of journal %s: sink %s: %w", newest.name, newest.sink, newest.err)
	}
	return fmt.Errorf("journal %s: %w", newest.name, newest.err)
}
