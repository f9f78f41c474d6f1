// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// corpus is what real libraries emitted, dialects what was written from their
// sources.
const (
	corpus   = "../../testdata/corpus"
	dialects = "../../testdata/dialects"
)

const testProfile = "strict/1"

func newTestLifter(t testing.TB, sources ...SourceRule) *Lifter {
	t.Helper()
	l, err := New(Options{Sources: sources, Profile: testProfile, Contexts: true})
	require.NoError(t, err)
	return l
}

// lines calls f for each line of a file of the corpus.
func lines(t testing.TB, path string, f func([]byte)) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		f(s.Bytes())
	}
	require.NoError(t, s.Err())
}

// spans calls f for each span of a file.
func spans(t testing.TB, path string, f func(SpanInput)) {
	t.Helper()
	lines(t, path, func(line []byte) {
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		eachSpan(traces, f)
	})
}

func eachSpan(traces ptrace.Traces, f func(SpanInput)) {
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				f(SpanInput{Resource: rs.Resource(), Scope: ss.Scope(), Span: s, Cache: &telemetry.Cache{}})
			}
		}
	}
}

// logs calls f for each log record of a file.
func logs(t testing.TB, path string, f func(int, LogInput)) {
	t.Helper()
	n := 0
	lines(t, path, func(line []byte) {
		batch, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		require.NoError(t, err)
		eachLog(batch, func(in LogInput) {
			f(n, in)
			n++
		})
	})
}

func eachLog(batch plog.Logs, f func(LogInput)) {
	for _, rl := range batch.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				f(LogInput{Resource: rl.Resource(), Scope: sl.Scope(), Log: l, Cache: &telemetry.Cache{}})
			}
		}
	}
}

// expected are the rows of the answer keys that have a column, by file and what
// tells the items of a file apart.
func expected(t testing.TB, column, item string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, path := range glob(t, "EXPECT*.tsv") {
		for _, row := range tableOf(t, path) {
			if _, ok := row[column]; ok {
				key := row["file"] + "/" + row[item]
				require.NotContains(t, out, key)
				out[key] = row
			}
		}
	}
	return out
}

// tableOf is a table with a header.
func tableOf(t testing.TB, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	require.NoError(t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
		}
		out = append(out, m)
	}
	return out
}

// completion is what a journal would add.
var completion = record.Completion{
	EventID: "evt_01", JournalID: "j", Sequence: 2, RecordedAt: record.TimeFromUnixNano(1),
	Scope: record.Scope{OrganizationRef: "o", Environment: "e", RetentionClass: "r"}, CollectorID: "c",
}

// integrity stands in entries whose schema is checked; nothing is signed here.
const integrity = `{"canonicalization":"RFC8785","hash_algorithm":"SHA-256",` +
	`"previous_event_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000000",` +
	`"record_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000000",` +
	`"signature":{"algorithm":"Ed25519","key_id":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",` +
	`"public_key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",` +
	`"value":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="},` +
	`"verification":{"failure_codes":[],"status":"not_performed","verifier_version":"0"}}`

// complete completes a draft as a journal does and checks that its body is
// canonical and fits its schema.
func complete(t testing.TB, d *record.Draft) []byte {
	t.Helper()
	c := completion
	c.Parts = d.Parts()
	body := d.Complete(c)
	again := jsontext.Value(bytes.Clone(body))
	require.NoError(t, again.Canonicalize())
	require.Equal(t, string(again), string(body))
	entry := fmt.Sprintf(`{"integrity":%s,%q:%s,"schema_version":%q}`, integrity, d.Kind(), body, record.SchemaVersion)
	require.NoError(t, schema.Validate(d.Kind(), record.SchemaVersion, []byte(entry)), string(body))
	return body
}

// draft makes the record's draft as the processor does and returns the
// completed body.
func draft(t testing.TB, o Observation) []byte {
	t.Helper()
	require.NotNil(t, o.Read)
	d, err := record.NewReadDraft(o.Read, o.Given)
	require.NoError(t, err)
	return complete(t, d)
}

// lineage makes a lineage record of the skeleton.
func lineage(t testing.TB, o Observation) []byte {
	t.Helper()
	header := *o.Header
	header.EventType = record.EventLineageSpans
	d, err := record.NewLineageDraft(&record.Lineage{Header: header}, []record.Span{*o.Skeleton})
	require.NoError(t, err)
	return complete(t, d)
}

// marshalled is everything of an observation that leaves the process.
func marshalled(t testing.TB, o Observation) string {
	t.Helper()
	b, err := json.Marshal(struct {
		Strings  []string
		Read     *record.Read
		Reason   *record.Unrecordable
		Header   *record.Header
		Skeleton *record.Span
		Context  *record.Context
	}{[]string{string(o.Class), o.Dialect, o.SafeName, o.ExecutionID, o.CallID}, o.Read, o.Unrecordable, o.Header, o.Skeleton, o.Context}, json.Deterministic(true))
	require.NoError(t, err)
	return string(b)
}

type attributes = map[string]any

// testSpan is a span in the form that tests write.
type testSpan struct {
	scope, name string
	kind        ptrace.SpanKind
	attrs       map[string]any
	change      func(ptrace.Span)
}

func (s testSpan) input(t testing.TB) SpanInput {
	t.Helper()
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(s.scope)
	ss.Scope().SetVersion("1.2.3")
	out := ss.Spans().AppendEmpty()
	out.SetName(s.name)
	out.SetKind(s.kind)
	out.SetTraceID(pcommon.TraceID{0x5b, 15: 1})
	out.SetSpanID(pcommon.SpanID{0x01, 7: 1})
	out.SetStartTimestamp(1_791_533_523_000_000_000)
	out.SetEndTimestamp(1_791_533_523_418_000_000)
	require.NoError(t, out.Attributes().FromRaw(s.attrs))
	if s.change != nil {
		s.change(out)
	}
	return SpanInput{Resource: rs.Resource(), Scope: ss.Scope(), Span: out, Cache: &telemetry.Cache{}}
}

// events adds span events: each "event" is the name, the rest its attributes.
func events(list ...map[string]any) func(ptrace.Span) {
	return func(s ptrace.Span) {
		for _, attrs := range list {
			e := s.Events().AppendEmpty()
			for key, v := range attrs {
				if key == "event" {
					e.SetName(v.(string))
				} else if err := e.Attributes().PutEmpty(key).FromRaw(v); err != nil {
					panic(err)
				}
			}
		}
	}
}

func tracesFiles(t testing.TB) []string { return glob(t, "*.traces.jsonl") }

func logsFiles(t testing.TB) []string { return glob(t, "*.logs.jsonl") }

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	var files []string
	for _, directory := range []string{corpus, dialects} {
		found, err := filepath.Glob(filepath.Join(directory, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		files = append(files, found...)
	}
	return files
}

// notRecorded are spans of which an answer key says that they have arguments,
// where the library recorded nothing of what was asked.
var notRecorded = []string{
	"openllmetry-js-0.27.0-nocontent.traces.jsonl/5dd7cd53d73af663", // qdrant.search
	"openllmetry-js-0.27.0.traces.jsonl/b8b490f9e2111295",           // qdrant.search
	"strands-js-1.19.0-attrs.traces.jsonl/3d694b974f9a0104",         // the results took the query's place
	"strands-js-1.19.0-attrs.traces.jsonl/de17530e20854f6c",
	"strands-js-1.19.0-attrs.traces.jsonl/08fbf62dbda9ef7e",
}

// rawNumbers returns a tree with its numbers as telemetry has them.
func rawNumbers(node any) any {
	switch n := node.(type) {
	case map[string]any:
		for name, v := range n {
			n[name] = rawNumbers(v)
		}
	case []any:
		for i, v := range n {
			n[i] = rawNumbers(v)
		}
	case interface {
		Int64() (int64, error)
		Float64() (float64, error)
	}:
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, _ := n.Float64()
		return f
	}
	return node
}
