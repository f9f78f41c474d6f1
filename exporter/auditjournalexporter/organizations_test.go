// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter"
	"github.com/readtrail/readtrail/extension/auditjournalextension"
	"github.com/readtrail/readtrail/extension/evidencestoreextension"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
	"github.com/readtrail/readtrail/record"
)

// shared is a collector of two organizations, acme and beta, beside the usual one, that
// keeps a copy of everything that is read.
type shared struct {
	t        *testing.T
	dir      string
	evidence string
	traces   consumer.Traces
	logs     consumer.Logs
	logged   *observer.ObservedLogs
}

func newShared(t *testing.T, clients upstream.Bindings) *shared {
	t.Helper()
	s := &shared{t: t, dir: t.TempDir()}
	core, logged := observer.New(zap.DebugLevel)
	s.logged = logged
	ctx, h := context.WithoutCancel(t.Context()), host{}
	start := func(c component.Component) {
		require.NoError(t, c.Start(ctx, h))
		t.Cleanup(func() { assert.NoError(t, c.Shutdown(ctx)) })
	}

	pem, _, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	key := filepath.Join(s.dir, "key.pem")
	require.NoError(t, os.WriteFile(key, pem, 0o600))
	journals := auditjournalextension.NewFactory()
	journalConfig := journals.CreateDefaultConfig().(*auditjournalextension.Config)
	journalConfig.Directory, journalConfig.SigningKey.File, journalConfig.CollectorID = filepath.Join(s.dir, "journal"), key, "collector-1"
	for _, organization := range []string{"acme", "beta"} {
		journalConfig.Scope.Routes = append(journalConfig.Scope.Routes, auditjournalextension.RouteConfig{Attribute: "tenant", Value: organization, OrganizationRef: organization})
	}
	ext, err := journals.Create(ctx, extensiontest.NewNopSettings(journals.Type()), journalConfig)
	require.NoError(t, err)
	h[component.NewID(journals.Type())] = ext
	start(ext)

	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	stores := evidencestoreextension.NewFactory()
	storeConfig := stores.CreateDefaultConfig().(*evidencestoreextension.Config)
	s.evidence = filepath.Join(s.dir, "evidence")
	storeConfig.Directory = s.evidence
	storeConfig.Recipients = []evidencestoreextension.RecipientsConfig{{RetentionClass: "default", Set: "all", Keys: []string{identity.Recipient().String()}}}
	store, err := stores.Create(ctx, extensiontest.NewNopSettings(stores.Type()), storeConfig)
	require.NoError(t, err)
	h[component.NewID(stores.Type())] = store
	start(store)

	exporters := auditjournalexporter.NewFactory()
	exporterConfig := exporters.CreateDefaultConfig().(*auditjournalexporter.Config)
	exporterConfig.Clients = clients
	exporterSet := exportertest.NewNopSettings(exporters.Type())
	exporterSet.Logger = zap.New(core)
	traces, err := exporters.CreateTraces(ctx, exporterSet, exporterConfig)
	require.NoError(t, err)
	start(traces)
	logs, err := exporters.CreateLogs(ctx, exporterSet, exporterConfig)
	require.NoError(t, err)
	start(logs)

	processors := readrecordprocessor.NewFactory()
	processorConfig := processors.CreateDefaultConfig().(*readrecordprocessor.Config)
	processorConfig.Sources = []genai.SourceRule{{
		Match: genai.SourceMatch{Tool: "*"},
		Retention: genai.Retention{
			Content: record.EvidenceCopy, EvidenceStore: component.NewID(stores.Type()), Classification: "confidential", AccessPolicyRef: "pol",
		},
	}}
	pt, err := processors.CreateTraces(ctx, processortest.NewNopSettings(processors.Type()), processorConfig, traces)
	require.NoError(t, err)
	start(pt)
	pl, err := processors.CreateLogs(ctx, processortest.NewNopSettings(processors.Type()), processorConfig, logs)
	require.NoError(t, err)
	start(pl)
	s.traces, s.logs = pt, pl
	return s
}

// written are the organizations that anything was written for after the opening of
// their journals, and those that a copy was kept for.
func (s *shared) written() (organizations, copies []string) {
	s.t.Helper()
	for _, organization := range []string{"default", "acme", "beta"} {
		files, err := filepath.Glob(filepath.Join(s.dir, "journal", organization, "*", "reads", "*.events"))
		require.NoError(s.t, err)
		require.Len(s.t, files, 1)
		text, err := os.ReadFile(files[0])
		require.NoError(s.t, err)
		if strings.Count(string(text), "\n") > 1 {
			organizations = append(organizations, organization)
		}
		objects, err := filepath.Glob(filepath.Join(s.evidence, organization, "*", "*", "*", "*", "*.age"))
		require.NoError(s.t, err)
		if len(objects) > 0 {
			copies = append(copies, organization)
		}
	}
	return organizations, copies
}

// readsOf is a request with a read of each organization.
func readsOf(organizations ...string) ptrace.Traces {
	td := ptrace.NewTraces()
	for i, organization := range organizations {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("tenant", organization)
		span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{7, byte(i)})
		span.SetName("execute_tool crm.customer.get")
		span.SetStartTimestamp(1_790_000_000_000_000_000)
		span.SetEndTimestamp(1_790_000_001_000_000_000)
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", "crm.customer.get")
		span.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":"CANARY-arguments-%d"}`, i))
	}
	return td
}

// plainSpanOf is a span that tells of no read.
func plainSpanOf(organization string) ptrace.Traces {
	td := readsOf(organization)
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.SetName("CANARY-name-1")
	span.Attributes().Clear()
	return td
}

func memoryOf(organization string) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("tenant", organization)
	log := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	log.SetTimestamp(1_790_000_000_000_000_000)
	log.SetEventName("gen_ai.memory.operation.details")
	log.Attributes().PutStr("gen_ai.operation.name", "search_memory")
	log.Attributes().PutStr("gen_ai.memory.query.text", "CANARY-query-1")
	return ld
}

// user is what basicauth knows of a client.
type user string

func (u user) GetAttribute(name string) any {
	return map[string]any{"username": string(u), "raw": "CANARY-raw-1"}[name]
}

func (user) GetAttributeNames() []string { return []string{"username", "raw"} }

func TestTelemetryOfAClientIsWrittenForItsOwnOrganizationOnly(t *testing.T) {
	clients := upstream.Bindings{{Subject: "a", OrganizationRef: "acme"}, {Subject: "b", OrganizationRef: "beta"}}
	for name, test := range map[string]struct {
		client string
		send   func(context.Context, *shared) error
		want   []string // nil is refused
		copies []string
	}{
		"its own": {"a", func(ctx context.Context, s *shared) error {
			return s.traces.ConsumeTraces(ctx, readsOf("acme", "acme"))
		}, []string{"acme"}, []string{"acme"}},
		"another's": {"b", func(ctx context.Context, s *shared) error { return s.traces.ConsumeTraces(ctx, readsOf("acme")) }, nil, nil},
		"another's beside its own": {
			"b", func(ctx context.Context, s *shared) error {
				return s.traces.ConsumeTraces(ctx, readsOf("beta", "acme", "beta"))
			}, nil, nil,
		},
		"the base scope, which is nobody's": {"b", func(ctx context.Context, s *shared) error { return s.traces.ConsumeTraces(ctx, readsOf("gamma")) }, nil, nil},
		"skeletons for another":             {"b", func(ctx context.Context, s *shared) error { return s.traces.ConsumeTraces(ctx, plainSpanOf("acme")) }, nil, nil},
		"skeletons of its own":              {"b", func(ctx context.Context, s *shared) error { return s.traces.ConsumeTraces(ctx, plainSpanOf("beta")) }, []string{"beta"}, nil},
		"another's in logs":                 {"b", func(ctx context.Context, s *shared) error { return s.logs.ConsumeLogs(ctx, memoryOf("acme")) }, nil, nil},
		"its own in logs":                   {"b", func(ctx context.Context, s *shared) error { return s.logs.ConsumeLogs(ctx, memoryOf("beta")) }, []string{"beta"}, []string{"beta"}},
		"logs that tell of nothing": {"b", func(ctx context.Context, s *shared) error {
			ld := memoryOf("acme")
			log := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
			log.SetEventName("")
			log.Attributes().Clear()
			return s.logs.ConsumeLogs(ctx, ld)
		}, []string{}, nil},
		"nothing": {"b", func(ctx context.Context, s *shared) error { return s.traces.ConsumeTraces(ctx, ptrace.NewTraces()) }, []string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, clients)
			err := test.send(client.NewContext(t.Context(), client.Info{Auth: user(test.client)}), s)
			if test.want == nil {
				require.Error(t, err)
				assert.Equal(t, codes.PermissionDenied, status.Code(err))
				assert.True(t, consumererror.IsPermanent(err))
				for _, text := range []string{"CANARY", "acme", "beta", "gamma", "execute_tool"} {
					assert.NotContains(t, err.Error(), text)
				}
			} else {
				require.NoError(t, err)
			}
			organizations, copies := s.written()
			assert.ElementsMatch(t, test.want, organizations)
			assert.Equal(t, test.copies, copies)
			for _, line := range s.logged.All() {
				assert.NotContains(t, fmt.Sprint(line.Message, line.ContextMap()), "CANARY")
			}
		})
	}
}

func TestWithoutClientsTelemetryChoosesAnyOrganization(t *testing.T) {
	s := newShared(t, nil)
	require.NoError(t, s.traces.ConsumeTraces(client.NewContext(t.Context(), client.Info{Auth: user("b")}), readsOf("acme", "beta", "gamma")))
	organizations, copies := s.written()
	assert.Equal(t, []string{"default", "acme", "beta"}, organizations)
	assert.Equal(t, organizations, copies)
}
