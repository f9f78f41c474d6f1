// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/jsontext"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/record"
)

// key is a key of tests as a configuration names it.
func key(t testing.TB, id string) genai.DigestKey {
	t.Helper()
	name := filepath.Join(t.TempDir(), "digest.key")
	text := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), 32))
	require.NoError(t, os.WriteFile(name, []byte(text+"\n"), 0o600))
	return genai.DigestKey{Key: genai.KeySource{File: name}, KeyID: id}
}

func contentKey(t testing.TB, id string) *content.Key {
	t.Helper()
	k, err := content.NewKey(id, bytes.Repeat([]byte(id[:1]), 32))
	require.NoError(t, err)
	return k
}

func keyed(t testing.TB, id string) *Config {
	cfg := defaults()
	cfg.Digest.DigestKey = key(t, id)
	return cfg
}

// outcome is everything that leaves the processor for a request of the corpus.
func outcome(t *testing.T, cfg *Config, file string, line []byte) string {
	t.Helper()
	var out *sink
	if strings.HasSuffix(file, ".logs.jsonl") {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		require.NoError(t, err)
		p, s := newLogs(t, settings(nil), cfg)
		out = s
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	} else {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		p, s := newTraces(t, settings(nil), cfg)
		out = s
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
	}
	text := out.json(t)
	if b := out.batch(); b != nil {
		for _, item := range b.Items {
			text += "\n" + body(item.Draft)
		}
		for _, l := range b.Lineages {
			draft, err := record.NewLineageDraft(&record.Lineage{Header: l.Header}, l.Spans)
			require.NoError(t, err)
			text += "\n" + body(draft)
		}
	}
	return text
}

// plainDigests are the SHA-256 of every string of JSON in a request, of what is
// JSON in it, and of their canonical forms, in hexadecimal.
func plainDigests(line []byte) map[string]struct{} {
	out := map[string]struct{}{}
	add := func(b []byte) {
		sum := sha256.Sum256(b)
		out[hex.EncodeToString(sum[:])] = struct{}{}
	}
	var walk func(text []byte, depth int)
	walk = func(text []byte, depth int) {
		d := jsontext.NewDecoder(bytes.NewReader(text))
		for {
			token, err := d.ReadToken()
			if err != nil {
				return
			}
			if token.Kind() != jsontext.KindString {
				continue
			}
			s := []byte(token.String())
			add(s)
			if canonical := jsontext.Value(bytes.Clone(s)); canonical.Canonicalize() == nil {
				add(canonical)
				if depth < 4 {
					walk(s, depth+1)
				}
			}
		}
	}
	walk(line, 0)
	return out
}

var anyDigest = regexp.MustCompile(`(hmac-)?sha256:[A-Za-z0-9._:-]*`)

func TestWithAKeyNoPlainDigestOfTheCorpusLeaves(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*/*.jsonl")
	require.NoError(t, err)
	strict, known, tracing := keyed(t, "bank-2026"), keyed(t, "bank-2026"), keyed(t, "bank-2026")
	known.Mode, tracing.Records = strip.Known, false
	wellFormed := regexp.MustCompile(`^hmac-sha256:bank-2026:[0-9a-f]{64}$`)
	digests := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			plain := plainDigests(line)
			for _, cfg := range []*Config{strict, known, tracing} {
				text := outcome(t, cfg, file, line)
				for _, digest := range anyDigest.FindAllString(text, -1) {
					if bytes.Contains(line, []byte(digest)) {
						continue // which telemetry itself calls a digest
					}
					digests++
					require.Regexp(t, wellFormed, digest, filepath.Base(file))
				}
				for _, run := range regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(text, -1) {
					_, isPlain := plain[run]
					isPlain = isPlain && !bytes.Contains(line, []byte(run)) // as Copilot hides the names of tools
					require.False(t, isPlain, filepath.Base(file))
				}
				if cfg != known {
					require.NotContains(t, text, "CANARY", filepath.Base(file))
				}
			}
		}
	}
	assert.Greater(t, digests, 1000)
}

func TestEverythingOfAnItemHasItsKeyAndWhatStandsAroundItTheOrganizations(t *testing.T) {
	cfg := keyed(t, "bank-2026")
	cfg.Digest.Routes = []genai.DigestRoute{{Attribute: "service.namespace", Value: "treasury", DigestKey: key(t, "treasury")}}
	cfg.Sources = []genai.SourceRule{{Match: genai.SourceMatch{Tool: "crm.*"}, Digest: key(t, "crm")}}
	p, out := newTraces(t, settings(nil), cfg)
	td := ptrace.NewTraces()
	for _, namespace := range []string{"bank", "treasury"} {
		ss := newScope(td)
		resource := td.ResourceSpans().At(td.ResourceSpans().Len() - 1).Resource().Attributes()
		resource.PutStr("service.namespace", namespace)
		resource.PutStr("input.value", "same")
		ss.Scope().Attributes().PutStr("input.value", "same")
		other := otherSpan(ss, 1)
		tool := toolSpan(ss, 2) // whose key is not left over for the scope
		for _, span := range []ptrace.Span{other, tool} {
			span.Attributes().PutStr("input.value", "same")
			span.Status().SetMessage("same")
			span.Events().AppendEmpty().Attributes().PutStr("exception.message", "same")
			span.Links().AppendEmpty().Attributes().PutStr("input.value", "same")
		}
	}
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	for i, around := range []string{"bank-2026", "treasury"} {
		rs := out.traces.ResourceSpans().At(i)
		want := contentKey(t, around).Sum("same")
		assert.Equal(t, want, attributeOf(t, rs.Resource().Attributes(), "input.value"))
		ss := rs.ScopeSpans().At(0)
		assert.Equal(t, want, attributeOf(t, ss.Scope().Attributes(), "input.value"))
		for j, id := range []string{around, "crm"} {
			span, want := ss.Spans().At(j), contentKey(t, id).Sum("same")
			assert.Equal(t, want, attributeOf(t, span.Attributes(), "input.value"))
			assert.Equal(t, want, span.Status().Message())
			assert.Equal(t, want, attributeOf(t, span.Events().At(0).Attributes(), "exception.message"))
			assert.Equal(t, want, attributeOf(t, span.Links().At(0).Attributes(), "input.value"))
		}
	}
	verifyJournaled(t, out.batch())
}

func TestALogRecordHasTheKeyInItsBodyAndInItsID(t *testing.T) {
	p, out := newLogs(t, settings(nil), keyed(t, "bank-2026"))
	ld := plog.NewLogs()
	log := toolLog(ld, func(a pcommon.Map) { a.PutStr("gen_ai.operation.name", "search_memory") })
	log.SetEventName("gen_ai.memory.operation.details")
	log.Body().SetStr("same")
	traceID, spanID, at := log.TraceID(), log.SpanID(), uint64(log.Timestamp())
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	k := contentKey(t, "bank-2026")
	want := record.ReadIDOfLog(traceID, spanID, at, k.Sum("gen_ai.memory.operation.details"), "", k.Sum("same"))
	assert.Contains(t, out.batch().ReadIDs, want)
	assert.Equal(t, k.Sum("same"), out.logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str())
}

// TestARepeatAcrossARotationIsWrittenBesideTheFirst holds what ADR 0014 decides:
// the writer can't know that two keys digested the same content.
func TestARepeatAcrossARotationIsWrittenBesideTheFirst(t *testing.T) {
	var items []carrier.Item
	for _, cfg := range []*Config{keyed(t, "old-2025"), keyed(t, "new-2026"), keyed(t, "new-2026")} {
		p, out := newTraces(t, settings(nil), cfg)
		td := ptrace.NewTraces()
		toolSpan(newScope(td), 1)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		items = append(items, out.batch().Items...)
	}
	entries := readsIn(t, verifyJournaled(t, &carrier.Batch{Items: items}))
	require.Len(t, entries, 2, "a repeat under the same key is one entry")
	assert.Equal(t, entries[0].ReadID, entries[1].ReadID)
	assert.Equal(t, entries[0].EventID, entries[1].ConflictsWith, "a reader sees that both are of one read")
	for i, id := range []string{"old-2025", "new-2026"} {
		want := contentKey(t, id).OfString(`{"name":"` + canary + `"}`)
		assert.Equal(t, want.Value, entries[i].Response.ResultDigest, "the old key still recomputes the old record")
	}
}

func TestCopiesTravelBesideTheRecordAndNowhereElse(t *testing.T) {
	retention := genai.Retention{
		Content: record.EvidenceCopy, EvidenceStore: component.MustNewIDWithName("evidence_store", "eu"), Classification: "confidential", AccessPolicyRef: "pol_crm",
	}
	cfg := keyed(t, "bank-2026")
	cfg.Sources = []genai.SourceRule{{Match: genai.SourceMatch{Tool: "crm.*"}, Name: "crm", Retention: retention}}
	p, out := newTraces(t, settings(nil), cfg)
	td := ptrace.NewTraces()
	ss := newScope(td)
	toolSpan(ss, 1)
	lost := toolSpan(ss, 2)
	lost.SetStartTimestamp(0)
	lost.SetEndTimestamp(0)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	items := out.batch().Items
	require.Len(t, items, 2)
	k := contentKey(t, "bank-2026")
	assert.Equal(t, []carrier.Copy{
		{Digest: k.Sum(`{"customer":"` + canary + `"}`), Content: []byte(`{"customer":"` + canary + `"}`)},
		{Digest: k.Sum(`{"name":"` + canary + `"}`), Content: []byte(`{"name":"` + canary + `"}`)},
	}, items[0].Copies)
	assert.Equal(t, "evidence_store/eu", items[0].Store)
	assert.Contains(t, body(items[0].Draft), `"content_stored":"evidence_copy","copy_ref":"evidence_store/eu","redaction_profile":"strict/2/crm"`)
	assert.Empty(t, items[1].Copies, "of what has no record nothing is kept")
	for _, text := range []string{out.json(t), body(items[0].Draft), body(items[1].Draft), fmt.Sprintf("%+v %#v %v", items, *out.batch(), out.ctx)} {
		assert.NotContains(t, text, canary)
	}
	verifyJournaled(t, out.batch())

	// A processor without records makes no copies, and the same digests.
	cfg.Records = false
	p, stripped := newTraces(t, settings(nil), cfg)
	td = ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	assert.Nil(t, stripped.batch())
	assert.Equal(t, k.Sum(`{"name":"`+canary+`"}`), attributeOf(t, stripped.spans()[0].Attributes(), resultKey))
	assert.Equal(t, retention, cfg.Sources[0].Retention, "the configuration is left as it is")
}

func TestAKeyThatCannotBeReadKeepsTheCollectorFromStarting(t *testing.T) {
	for place, cfg := range map[string]*Config{
		"digest.key.file: ":           {Mode: strip.Strict, Digest: genai.DigestConfig{DigestKey: genai.DigestKey{Key: genai.KeySource{File: "absent"}, KeyID: "k"}}},
		"sources[0].digest.key.env: ": {Mode: strip.Strict, Sources: []genai.SourceRule{{Match: genai.SourceMatch{Tool: "*"}, Digest: genai.DigestKey{Key: genai.KeySource{Env: "READTRAIL_ABSENT"}, KeyID: "k"}}}},
	} {
		require.NoError(t, cfg.Validate(), "which reads no key")
		_, err := NewFactory().CreateTraces(t.Context(), settings(nil), cfg, nil)
		require.ErrorContains(t, err, "processors::read_record::"+place)
	}
}
