// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// memoryJournal is an extension that keeps what it is given.
type memoryJournal struct {
	component.StartFunc
	component.ShutdownFunc

	mu      sync.Mutex
	appends [][]carrier.Item
	fail    error
	// attached are the exporters that started, and whether they bind clients.
	attached []string
}

func (m *memoryJournal) Append(_ context.Context, items []carrier.Item) ([]journal.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	m.appends = append(m.appends, items)
	return make([]journal.Receipt, len(items)), nil
}

// ScopeOf takes the scope from the resource, as a configuration of routes may.
func (m *memoryJournal) ScopeOf(item *carrier.Item) record.Scope {
	organization, found := item.Resource["organization"]
	if !found {
		organization = "bank"
	}
	return record.Scope{OrganizationRef: organization, RetentionClass: item.Resource["class"]}
}

func (m *memoryJournal) Scopes() []record.Scope {
	return []record.Scope{
		{OrganizationRef: "bank", RetentionClass: "kyc"},
		{OrganizationRef: "bank", RetentionClass: "treasury"},
		{OrganizationRef: "insurer", RetentionClass: "kyc"},
	}
}

func (m *memoryJournal) Attach(exporter component.ID, binds bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attached = append(m.attached, fmt.Sprint(exporter, " ", binds))
	return nil
}

// host has one extension and keeps the statuses that are reported to it.
type host struct {
	extensions map[component.ID]component.Component

	mu     sync.Mutex
	events []*componentstatus.Event
}

func hostWith(extension component.Component) *host {
	return &host{extensions: map[component.ID]component.Component{defaultJournal: extension}}
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *host) statuses() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []componentstatus.Status
	for _, e := range h.events {
		out = append(out, e.Status())
	}
	return out
}
