// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/readtrail/readtrail/internal/content"
)

// digestOf is the digest of the bytes of a text.
func digestOf(s string) string { return content.Plain.OfRaw([]byte(s)).Value }

// ids are ids as libraries give them, and how a record names them.
var ids = map[string]string{
	"doc_1":                        "doc_1",
	"doc 1.pdf":                    digestOf("doc 1.pdf"),
	"Richtlinie §3":                digestOf("Richtlinie §3"),
	"policy|42":                    "policy|42",
	"s3://b/k?versionId=3":         digestOf("s3://b/k?versionId=3"),
	"Policy Manual EU":             digestOf("Policy Manual EU"),
	"Session notes.pdf":            digestOf("Session notes.pdf"),
	strings.Repeat("x", 300):       digestOf(strings.Repeat("x", 300)),
	"__REDACTED__":                 "",
	"Bearer abcdefghijklmnop":      "",
	"https://u:hunter22@h/a b":     "",
	"https://h/a b?api_key=hunter": "",
}

func TestAnIdThatMayNotStandInClearIsGivenAsItsDigest(t *testing.T) {
	l := newTestLifter(t)
	for id, want := range ids {
		t.Run(id[:min(len(id), 30)], func(t *testing.T) {
			list := fmt.Sprintf(`[{"id":%q,"content":"x"}]`, id)
			o := l.Span(testSpan{attrs: map[string]any{
				operation: "retrieval", "gen_ai.data_source.id": id, "gen_ai.retrieval.documents": list,
			}}.input(t))
			assert.Equal(t, want, o.Read.Retrieval.IndexID)
			assert.Equal(t, want, o.Read.Retrieval.Chunks[0].ID)
			draft(t, o)

			o = l.Span(testSpan{attrs: map[string]any{"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": id}}.input(t))
			assert.Equal(t, want, o.Read.Retrieval.Chunks[0].ID)

			o = l.Span(testSpan{attrs: map[string]any{operation: "search_memory", "gen_ai.memory.store.id": id, "gen_ai.memory.records": list}}.input(t))
			assert.Equal(t, want, o.Read.Memory.StoreID)
			assert.Equal(t, want, o.Read.Memory.Entries[0].ID)

			o = l.Span(testSpan{attrs: map[string]any{operation: "delete_memory", "gen_ai.memory.record.id": id}}.input(t))
			if want == "" {
				assert.Empty(t, o.Read.Memory.Entries)
				return
			}
			assert.Equal(t, want, o.Read.Memory.Entries[0].ID)
			draft(t, o)
		})
	}
}

func TestAToolCallIDIsAsTheAPIGaveItOrAbsent(t *testing.T) {
	for id, want := range map[string]string{
		"call_abc|fc_0123":                                        "call_abc|fc_0123",
		strings.Repeat("x", 256):                                  strings.Repeat("x", 256),
		strings.Repeat("x", 257):                                  "",
		"call of Marta":                                           "",
		"call_abc|sk-proj-A1b2C3d4E5f6G7h8I9j0k1":                 "",
		strings.Repeat("a", 128) + "|" + strings.Repeat("b", 128): "",
	} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.call.id": id}}.input(t))
		assert.Equal(t, want, o.Read.ToolCallID)
		assert.Equal(t, want, o.Read.Correlation.CallID)
		assert.Equal(t, want, o.Skeleton.ToolCallID)
		draft(t, o)
	}
}

func TestARuleFindsASourceWhoseNameDoesNotEnterTheRecord(t *testing.T) {
	l := newTestLifter(t,
		SourceRule{Match: SourceMatch{Index: "Policy Manual *"}, System: "manuals"},
		SourceRule{Match: SourceMatch{Tool: "prüfe*"}, System: "checks"},
	)
	for _, attrs := range []map[string]any{
		{operation: "retrieval", "gen_ai.data_source.id": "Policy Manual EU"},
		{operation: "search_memory", "gen_ai.memory.store.id": "Policy Manual EU"},
	} {
		o := l.Span(testSpan{attrs: attrs}.input(t))
		assert.Equal(t, "manuals", o.Read.Source.System)
		assert.NotContains(t, marshalled(t, o), "Manual")
	}
	o := l.Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.name": "prüfe Marta, 1970"}}.input(t))
	assert.Equal(t, "checks", o.Read.Source.System)
	assert.Empty(t, o.Read.Source.ToolID)
	assert.NotContains(t, marshalled(t, o), "Marta")
	o = l.Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.name": "prüfe" + strings.Repeat("x", maxPattern)}}.input(t))
	assert.Empty(t, o.Read.Source.System, "patterns are tried on names, not on texts")
}

func TestAWordForNoIdJoinsNothing(t *testing.T) {
	l := newTestLifter(t)
	for _, word := range []string{"unknown", "Unknown", "None", "none", "null", "nil", "undefined", "N/A"} {
		o := l.Span(testSpan{attrs: map[string]any{
			operation: "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": word,
			"gen_ai.conversation.id": word, "jsonrpc.request.id": word, ownExecutionID: word,
		}}.input(t))
		c := o.Read.Correlation
		assert.Empty(t, o.Read.ToolCallID, word)
		assert.Equal(t, []string{"", "", ""}, []string{c.CorrelationID, c.RequestID, c.CallID}, word)
		assert.NotEqual(t, word, c.ExecutionID)
	}
	o := l.Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "none_1"}}.input(t))
	assert.Equal(t, "none_1", o.Read.ToolCallID)
}
