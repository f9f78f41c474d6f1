// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	client     = ptrace.SpanKindClient
	server     = ptrace.SpanKindServer
	producer   = ptrace.SpanKindProducer
	processing = ptrace.SpanKindConsumer
)

// What each library would send of one call: a framework, an MCP client and
// server, and what the tool does.
var (
	agentSpan  = sent{service: "agent", scope: "kyc.agent", name: "invoke_agent kyc", trace: 1, span: 1, attrs: map[string]any{"gen_ai.operation.name": "invoke_agent"}}
	toolSpan   = sent{service: "agent", scope: "kyc.agent", name: "execute_tool get", trace: 1, span: 2, parent: 1, attrs: map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get", "gen_ai.tool.call.id": "call_1"}}
	mcpClient  = sent{service: "agent", scope: "mcp", name: "tools/call get", trace: 1, span: 3, parent: 2, kind: client, attrs: map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "get", "jsonrpc.request.id": "7"}}
	httpClient = sent{service: "agent", scope: "http", name: "POST", trace: 1, span: 4, parent: 3, kind: client, attrs: map[string]any{"http.request.method": "POST", "server.address": "mcp.example", "http.response.status_code": 200}}
	httpServer = sent{service: "crm", scope: "http", name: "POST /mcp", trace: 1, span: 5, parent: 4, kind: server, attrs: map[string]any{"http.request.method": "POST"}}
	mcpServer  = sent{service: "crm", scope: "fastmcp", name: "tools/call get", trace: 1, span: 6, parent: 5, kind: server, attrs: map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "get", "jsonrpc.request.id": "7"}}
	dbSpan     = sent{service: "crm", scope: "pg", name: "SELECT customers", trace: 1, span: 7, parent: 6, kind: client, attrs: map[string]any{
		"db.system.name": "postgresql", "db.namespace": "bank", "db.collection.name": "customers", "db.operation.name": "SELECT",
		"db.response.returned_rows": 3, "db.query.text": "SELECT * FROM customers WHERE note = 'CANARY'",
	}}
)

// shown runs show and returns what its rows say, without times and columns
// behind SYSTEM.
func shown(t *testing.T, args ...string) []string {
	t.Helper()
	out, code := runForTest(t, append([]string{"show"}, args...))
	require.Zero(t, code, out)
	require.NotContains(t, out, "CANARY")
	var rows []string
	row := regexp.MustCompile(`^(?:\d+|-) +\S+Z  (.*)$`)
	for line := range strings.Lines(out) {
		if m := row.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && !strings.HasPrefix(m[1], "journal.") && !strings.HasPrefix(m[1], "lineage.") {
			cells := regexp.MustCompile(`  +`).Split(strings.TrimLeft(m[1], " "), -1)
			indent := strings.Repeat(" ", len(m[1])-len(strings.TrimLeft(m[1], " ")))
			rows = append(rows, indent+strings.Join(cells[:4], "|"))
		}
	}
	return rows
}

// TestACodingAgentsSpanAndLogRecordAreOneRead replays captures of three calls
// each, of which both a span and a log record tell.
func TestACodingAgentsSpanAndLogRecordAreOneRead(t *testing.T) {
	for _, name := range []string{"claude-code-2.1.197-content", "codex-0.171.0", "gemini-cli-0.61.0"} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]string{{".traces.jsonl", ".logs.jsonl"}, {".logs.jsonl", ".traces.jsonl"}} {
				c := newCollector(t)
				for _, signal := range order {
					c.replay("../../testdata/corpus/" + name + signal)
				}
				c.shutdown()
				var outermost, beneath int
				for _, row := range shown(t, c.root()) {
					if strings.HasPrefix(row, "  read.") {
						beneath++
					} else {
						outermost++
					}
				}
				require.Equal(t, 3, outermost)
				require.Equal(t, 3, beneath)
			}
		})
	}
}

func TestOneCallSeenFromTwoProcessesIsOneReadWithWhatItTouched(t *testing.T) {
	late := dbSpan
	late.span, late.minutes = 8, 30
	for name, order := range map[string][]sent{
		"parents first":     {agentSpan, toolSpan, mcpClient, httpClient, httpServer, mcpServer, dbSpan},
		"children first":    {dbSpan, mcpServer, httpServer, httpClient, mcpClient, toolSpan, agentSpan},
		"the server first":  {httpServer, mcpServer, dbSpan, agentSpan, toolSpan, mcpClient, httpClient},
		"the tool the last": {httpClient, dbSpan, mcpClient, httpServer, mcpServer, agentSpan, toolSpan},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			c.send(order[:4]...)
			c.restart()
			c.send(order...) // the first of them once more
			c.restart()
			c.send(late)
			c.shutdown()
			rows := shown(t, c.root())
			// The CRM has a journal of its own, in which its server's observation and
			// its queries stand.
			require.Len(t, rows, 6)
			assert.Regexp(t, `^read\.tool\|get \(same read as \d+ of default/default\)\|ok\|-$`, rows[0])
			assert.Equal(t, []string{
				"read.tool|get|ok *|-", "  read.tool|get|ok|-", "  external_action|POST|ok 200|http mcp.example",
				"  external_action|SELECT bank.customers, 3 rows|ok|postgresql", "  external_action|SELECT bank.customers, 3 rows|ok|postgresql",
			}, rows[1:])

			out, code := runForTest(t, []string{"show", c.root(), "--joined", "--json", "--tool-call", "call_1"})
			require.Zero(t, code)
			line := out[strings.IndexByte(out, '{'):]
			var read joinedRead
			require.NoError(t, json.Unmarshal([]byte(line), &read), "one object")
			assert.Len(t, read.Observations, 3)
			require.Len(t, read.Effects, 3)
			assert.Equal(t, "2026-10-09T09:30:00.000000000Z", read.Effects[2].Span.StartedAt.String())
		})
	}
}

func TestAJobOfAnotherWorkerIsLinkedToTheReadThatAskedForIt(t *testing.T) {
	send := sent{service: "agent", scope: "kafka", name: "send exports", trace: 1, span: 3, parent: 2, kind: producer, attrs: map[string]any{
		"messaging.system": "kafka", "messaging.operation.type": "send", "messaging.destination.name": "exports",
	}}
	work := sent{service: "agent", scope: "kafka", name: "process exports", trace: 2, span: 4, kind: processing, minutes: 20, link: [2]byte{1, 3}, attrs: map[string]any{
		"messaging.system": "kafka", "messaging.operation.type": "process", "messaging.destination.name": "exports",
	}}
	query := dbSpan
	query.service, query.trace, query.parent, query.minutes = "agent", 2, 4, 20
	read := []string{"read.tool|get|ok *|-", "  external_action|send exports|ok|kafka", "  delegated_job|process exports, linked|ok|kafka"}
	for name, deliver := range map[string]func(*collector){
		"each by itself":  func(c *collector) { c.send(query, work) },
		"in one request":  func(c *collector) { c.sendTogether(query, work) },
		"the other order": func(c *collector) { c.sendTogether(work, query) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			deliver(c)
			c.restart()
			c.send(send, toolSpan)
			c.shutdown()
			assert.Equal(t, append(slices.Clone(read), "    external_action|SELECT bank.customers, 3 rows|ok|postgresql"), shown(t, c.root()))
			assert.Equal(t, read, shown(t, c.root(), "--trace", "01000000000000000000000000000001"), "of the other trace only the job that links here")
		})
	}
}

func TestNobodyHangsEffectsUnderTheReadsOfAnotherOrganization(t *testing.T) {
	c := newCollector(t)
	forged := dbSpan
	forged.service, forged.parent = "stranger", 2
	c.send(toolSpan, forged)
	c.shutdown()
	assert.Equal(t, []string{"read.tool|get|ok *|-"}, shown(t, c.root()))
}

func TestTheCapturedToolIsShownWithItsQueriesAndRequests(t *testing.T) {
	c := newCollector(t)
	data, err := os.ReadFile("../../testdata/corpus/otel-js-db-http-0.76.0.traces.jsonl")
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		require.NoError(t, c.next.ConsumeTraces(t.Context(), td))
	}
	c.shutdown()
	assert.ElementsMatch(t, []string{
		"read.tool|core_banking_lookup|ok *|-",
		"  external_action|postgres|ok|postgresql 127.0.0.1",
		"  external_action|INSERT postgres|ok|postgresql 127.0.0.1",
		"  external_action|SELECT postgres|ok|postgresql 127.0.0.1",
		"  external_action|SELECT postgres|ok|postgresql 127.0.0.1",
		"  external_action|SELECT postgres|error|postgresql 127.0.0.1",
		"  external_action|SELECT postgres|error|postgresql 127.0.0.1",
		"  external_action|redis-connect|ok|redis 127.0.0.1",
		"  external_action|SET|ok|redis 127.0.0.1",
		"  external_action|GET|ok|redis 127.0.0.1",
		"  external_action|MULTI HSET|ok|redis 127.0.0.1",
		"  external_action|GET|ok 200|http 127.0.0.1",
		"  external_action|GET|ok 200|http 127.0.0.1",
		"read.tool|screen_sanctions|error *|-",
	}, shown(t, c.root()))
}
