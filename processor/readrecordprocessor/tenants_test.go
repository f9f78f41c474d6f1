// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/record"
)

// tenants is how many organizations share a processor in the test below.
const tenants = 4

// TestTenantsThatShareAProcessorShareNothingElse sends the telemetry of several
// organizations through one processor at the same time. What leaves for each
// request has to be what leaves when it is alone: the memory of items, hashes and
// rules is used again, and nothing in it may be seen again.
func TestTenantsThatShareAProcessorShareNothingElse(t *testing.T) {
	cfg := keyed(t, "organization")
	for i := range tenants {
		cfg.Digest.Routes = append(cfg.Digest.Routes, genai.DigestRoute{
			Attribute: "tenant", Value: fmt.Sprint(i), DigestKey: key(t, fmt.Sprintf("%d-2026", i)),
		})
	}
	cfg.Digest.Routes[0].RecordRefs = true
	cfg.Sources = []genai.SourceRule{{
		Match: genai.SourceMatch{Tool: "*"}, Name: "kept", RecordRefs: []genai.Value{{Arguments: "$.customer_id"}},
		Retention: genai.Retention{
			Content: record.EvidenceCopy, EvidenceStore: component.MustNewID("evidence_store"), Classification: "confidential", AccessPolicyRef: "pol",
		},
	}}
	requests := requestsOf(t)
	alone := make([]string, len(requests))
	lonely := consuming(t, cfg)
	for i, r := range requests {
		alone[i] = lonely(r)
		for other := range tenants {
			if other != r.tenant {
				require.NotContains(t, alone[i], fmt.Sprintf("CANARY%d-", other))
				require.NotContains(t, alone[i], fmt.Sprintf("hmac-sha256:%d-2026:", other))
			}
		}
	}
	together := consuming(t, cfg)
	var wg sync.WaitGroup
	for worker := range 2 * tenants {
		wg.Go(func() {
			for n := range requests {
				i := (n*(2*worker+1) + worker) % len(requests)
				if got := together(requests[i]); got != alone[i] {
					t.Errorf("request %d of tenant %d is another one among others:\n%s\nthan alone:\n%s", i, requests[i].tenant, got, alone[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

// request is one request of a tenant.
type request struct {
	tenant int
	line   string
	isLogs bool
}

// requestsOf returns some requests of captured telemetry once for each tenant,
// with content and ids of the tenant's own.
func requestsOf(t *testing.T) []request {
	t.Helper()
	const most = 3 // requests of a file
	files, err := filepath.Glob("../../testdata/*/*.jsonl")
	require.NoError(t, err)
	var out []request
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 16<<20)
		for n := 0; n < most && lines.Scan(); n++ {
			for tenant := range tenants {
				line := strings.ReplaceAll(lines.Text(), "CANARY", fmt.Sprintf("CANARY%d", tenant))
				line = strings.ReplaceAll(line, `"resource":{"attributes":[`, fmt.Sprintf(`"resource":{"attributes":[{"key":"tenant","value":{"stringValue":"%d"}},`, tenant))
				out = append(out, request{tenant, line, strings.HasSuffix(file, ".logs.jsonl")})
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// consuming returns what leaves one processor for a request: the stripped
// telemetry, records with their copies, and lineage.
func consuming(t *testing.T, cfg *Config) func(request) string {
	t.Helper()
	type out struct{}
	traces, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		json, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
		ctx.Value(out{}).(*strings.Builder).Write(append(json, spelled(ctx)...))
		return err
	})
	require.NoError(t, err)
	logs, err := consumer.NewLogs(func(ctx context.Context, ld plog.Logs) error {
		json, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
		ctx.Value(out{}).(*strings.Builder).Write(append(json, spelled(ctx)...))
		return err
	})
	require.NoError(t, err)
	tp, err := NewFactory().CreateTraces(t.Context(), settings(nil), cfg, traces)
	require.NoError(t, err)
	lp, err := NewFactory().CreateLogs(t.Context(), settings(nil), cfg, logs)
	require.NoError(t, err)
	return func(r request) string {
		text := &strings.Builder{}
		ctx := context.WithValue(context.Background(), out{}, text)
		var err error
		if r.isLogs {
			var ld plog.Logs
			if ld, err = (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(r.line)); err == nil {
				err = lp.ConsumeLogs(ctx, ld)
			}
		} else {
			var td ptrace.Traces
			if td, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(r.line)); err == nil {
				err = tp.ConsumeTraces(ctx, td)
			}
		}
		if err != nil {
			return err.Error()
		}
		return text.String()
	}
}

// spelled is everything that a context carries beside the telemetry.
func spelled(ctx context.Context) string {
	var text strings.Builder
	batch := carrier.FromContext(ctx)
	for _, item := range batch.Items {
		fmt.Fprintln(&text, "\n"+body(item.Draft), item.Resource, item.Store)
		for _, c := range item.Copies {
			fmt.Fprintf(&text, "%s %s\n", c.Digest, string(c.Content))
		}
	}
	for _, l := range batch.Lineages {
		draft, err := record.NewLineageDraft(&record.Lineage{Header: l.Header}, l.Spans)
		if err != nil {
			fmt.Fprintln(&text, err)
			continue
		}
		fmt.Fprintln(&text, "\n"+body(draft), l.Resource)
	}
	return text.String()
}
