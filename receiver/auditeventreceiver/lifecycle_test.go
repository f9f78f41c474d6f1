// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

func TestStartNamesWhatIsInTheWay(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer taken.Close()
	nothing := struct{ component.Component }{}
	for name, test := range map[string]struct {
		change func(*host, *Config)
		want   string
	}{
		"no extension": {func(h *host, _ *Config) { clear(h.extensions) }, "receivers::audit_event::journal: no extension audit_journal is running: " +
			"configure extensions::audit_journal and list it in service::extensions"},
		"another extension": {func(h *host, _ *Config) { h.extensions[defaultJournal] = nothing }, "receivers::audit_event::journal: extension audit_journal keeps no journal: " +
			"name an extension of type audit_journal and list it in service::extensions"},
		"no journals of actions": {
			func(h *host, _ *Config) { h.extensions[defaultJournal] = &memoryJournal{noActions: true} },
			"receivers::audit_event::journal: extension audit_journal keeps no journal of actions: set extensions::audit_journal::actions to true",
		},
		"no such scope": {func(_ *host, c *Config) {
			c.Clients = []ClientConfig{{Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank"}}, {Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank", RetentionClass: "eternal"}}}
		}, "receivers::audit_event::clients::1: the journal has no scope for organization bank and class eternal: add it to scope::routes of the audit_journal extension"},
		"an organization without the usual class": {
			func(_ *host, c *Config) {
				c.Clients = []ClientConfig{{Binding: upstream.Binding{Subject: "a", OrganizationRef: "club"}}}
			},
			"receivers::audit_event::clients::0: the journal has no scope for organization club and the class of its base scope: " +
				"add it to scope::routes of the audit_journal extension, or set retention_class to one that it has",
		},
		"a taken address": {func(_ *host, c *Config) { c.HTTP.NetAddr.Endpoint = taken.Addr().String() }, "receivers::audit_event::http: listen tcp"},
	} {
		t.Run(name, func(t *testing.T) {
			h, cfg := hostWith(&memoryJournal{}), createDefaultConfig().(*Config)
			cfg.HTTP.NetAddr.Endpoint = "localhost:0"
			test.change(h, cfg)
			set := receivertest.NewNopSettings(metadata.Type)
			set.ID = component.NewID(metadata.Type)
			r, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
			require.NoError(t, err)
			require.ErrorContains(t, r.Start(t.Context(), h), test.want)
			require.NoError(t, r.Shutdown(t.Context()))
		})
	}
}

func TestShutdownAnswersWhatIsUnderWay(t *testing.T) {
	r := newRig(t, nil)
	entered, leave := make(chan struct{}), make(chan struct{})
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		close(entered)
		<-leave
		return []journal.Receipt{{EventID: "evt_1"}}, nil
	})
	answers := make(chan answer, 1)
	go func() { answers <- r.decide("a") }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- r.receiver.server.Shutdown(context.WithoutCancel(t.Context())) }()
	close(leave)
	assert.Equal(t, http.StatusOK, (<-answers).status)
	assert.NoError(t, <-stopped)
	assert.Empty(t, r.host.statuses())
}

func TestAServerThatEndsByItselfIsAFatalError(t *testing.T) {
	r := newRig(t, nil)
	require.NoError(t, r.receiver.listener.Close())
	r.receiver.serving.Wait()
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusFatalError}, r.host.statuses())
}
