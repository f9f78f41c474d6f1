// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance_test

import (
	"encoding/json/v2"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/provenance"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	checksum = strings.Repeat("8f", 32)
	other    = strings.Repeat("00", 32)
	digest   = "sha256:" + checksum
)

// entry makes the entry of a body, as far as provenance looks at it.
func entry(t testing.TB, kind record.Kind, body any) *journal.Entry {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	var header struct {
		Correlation record.Correlation `json:"correlation"`
	}
	require.NoError(t, json.Unmarshal(raw, &header))
	return &journal.Entry{Kind: kind, Body: raw, Header: journal.EntryHeader{Correlation: header.Correlation}}
}

// readIn makes a read of an execution and step.
func readIn(t testing.TB, execution, step string, r record.Read) *journal.Entry {
	t.Helper()
	r.Correlation = record.Correlation{ExecutionID: execution, StepID: step}
	r.ExecutionID = execution
	return entry(t, record.KindRead, &r)
}

// run is what an execution was given: a call seen by two, documents in two steps, a
// retrieval, and memory.
func run(t testing.TB, execution string) []*journal.Entry {
	t.Helper()
	document := func(id, sum string, with bool) record.Document {
		return record.Document{DocumentID: id, ChecksumSHA256: sum, WithContent: with}
	}
	return []*journal.Entry{
		readIn(t, execution, "s1", record.Read{ReadID: "read_wrapper", ToolCallID: "call_1", Response: record.Response{Status: record.StatusError}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_tool", ToolCallID: "call_1", Response: record.Response{Status: record.StatusOK, ResultDigest: digest}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_blind", ToolCallID: "call_1", Response: record.Response{Status: record.StatusOK}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_uncaptured", ToolCallID: "call_3", Response: record.Response{Status: record.StatusOK}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_uncaptured_failed", ToolCallID: "call_3", Response: record.Response{Status: record.StatusError, ResultDigest: digest}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_failed", ToolCallID: "call_2", Response: record.Response{Status: record.StatusError}}),
		readIn(t, execution, "s1", record.Read{
			ReadID: "read_documents", Response: record.Response{Status: record.StatusUnknown, ResultDigest: digest},
			Documents: []record.Document{document("doc_shown", checksum, true), document("doc_named", checksum, false), document("doc_unsummed", "", true)},
		}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_unread", Documents: []record.Document{document("doc_uncaptured", checksum, true)}}),
		readIn(t, execution, "s1", record.Read{
			ReadID: "read_passages", Retrieval: &record.Retrieval{Chunks: []record.Chunk{{}, {ContentDigest: digest}}},
			Documents: []record.Document{document("doc_in_chunks", checksum, true)},
		}),
		readIn(t, execution, "s2", record.Read{ReadID: "read_later", Documents: []record.Document{document("doc_other_step", checksum, true)}}),
		readIn(t, execution, "", record.Read{ReadID: "read_stepless", Documents: []record.Document{document("doc_stepless", checksum, true)}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_retrieval", Retrieval: &record.Retrieval{Chunks: []record.Chunk{{ID: "chunk_1"}, {}}}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_written", Memory: &record.Memory{Operation: "memory.save", Entries: []record.MemoryEntry{{ID: "mem_1"}}}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_searched", Memory: &record.Memory{Operation: "search_memory_store", Entries: []record.MemoryEntry{{ID: "mem_1"}}}}),
		readIn(t, execution, "s1", record.Read{ReadID: "read_memory", Memory: &record.Memory{Entries: []record.MemoryEntry{{ID: "mem_1"}}}}),
	}
}

func entriesOf(entries ...*journal.Entry) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// decide makes a decision of step s1 whose one field has a source.
func decide(source record.FieldSource) *record.Decision {
	return &record.Decision{
		Header:          record.Header{Correlation: record.Correlation{ExecutionID: "run_1", StepID: "s1"}},
		Fields:          map[string]record.DecisionField{"field": {}},
		FieldProvenance: map[string]record.FieldSource{"field": source},
	}
}

func TestACitationCountsAgainstWhatItsStepAndExecutionWereShown(t *testing.T) {
	for name, c := range map[string]struct {
		source record.FieldSource
		code   string
	}{
		"a result by its call":                {record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$.address.country"}, ""},
		"a result by its read":                {record.FieldSource{Source: "tool", ReadID: "read_tool", Path: "$['a'][0]"}, ""},
		"a result by both":                    {record.FieldSource{Source: "tool", ReadID: "read_tool", ToolCallID: "call_1", Path: "$"}, ""},
		"a result by a read of another call":  {record.FieldSource{Source: "tool", ReadID: "read_tool", ToolCallID: "call_2", Path: "$"}, "citation_not_shown"},
		"a result of a call that failed":      {record.FieldSource{Source: "tool", ToolCallID: "call_2", Path: "$"}, "citation_not_shown"},
		"a result that was not captured":      {record.FieldSource{Source: "tool", ToolCallID: "call_3", Path: "$"}, "content_unavailable"},
		"a read without a captured result":    {record.FieldSource{Source: "tool", ReadID: "read_blind", Path: "$"}, "content_unavailable"},
		"a document that was not captured":    {record.FieldSource{Source: "document", DocumentID: "doc_uncaptured", ChecksumSHA256: checksum}, "content_unavailable"},
		"another version of one not captured": {record.FieldSource{Source: "document", DocumentID: "doc_uncaptured", ChecksumSHA256: other}, "citation_not_shown"},
		"a document whose passages were":      {record.FieldSource{Source: "document", DocumentID: "doc_in_chunks", ChecksumSHA256: checksum}, ""},
		"a result of a call that was not":     {record.FieldSource{Source: "tool", ToolCallID: "call_9", Path: "$"}, "missing_field_provenance"},
		"a result by a read that was not":     {record.FieldSource{Source: "tool", ReadID: "read_9", Path: "$"}, "missing_field_provenance"},
		"a path that is none":                 {record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "address.country"}, "missing_field_provenance"},
		"a path that does not end":            {record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$['address"}, "missing_field_provenance"},
		"no path":                             {record.FieldSource{Source: "tool", ToolCallID: "call_1"}, "missing_field_provenance"},
		"a document that the step received":   {record.FieldSource{Source: "document", DocumentID: "doc_shown", ChecksumSHA256: checksum, Page: 1}, ""},
		"another version of a document":       {record.FieldSource{Source: "document", DocumentID: "doc_shown", ChecksumSHA256: other}, "citation_not_shown"},
		"a document that was only named":      {record.FieldSource{Source: "document", DocumentID: "doc_named", ChecksumSHA256: checksum}, "citation_not_shown"},
		"a document without a checksum":       {record.FieldSource{Source: "document", DocumentID: "doc_unsummed", ChecksumSHA256: checksum}, "citation_not_shown"},
		"a document of another step":          {record.FieldSource{Source: "document", DocumentID: "doc_other_step", ChecksumSHA256: checksum}, "citation_not_shown"},
		"a document of no step":               {record.FieldSource{Source: "document", DocumentID: "doc_stepless", ChecksumSHA256: checksum}, "citation_not_shown"},
		"a document that was never there":     {record.FieldSource{Source: "document", DocumentID: "doc_9", ChecksumSHA256: checksum}, "missing_field_provenance"},
		"a document without its checksum":     {record.FieldSource{Source: "document", DocumentID: "doc_shown"}, "missing_field_provenance"},
		"a chunk":                             {record.FieldSource{Source: "retrieval", ReadID: "read_retrieval", ChunkID: "chunk_1"}, ""},
		"a chunk that was not returned":       {record.FieldSource{Source: "retrieval", ReadID: "read_retrieval", ChunkID: "chunk_2"}, "citation_not_shown"},
		"a chunk of a read that was not":      {record.FieldSource{Source: "retrieval", ReadID: "read_9", ChunkID: "chunk_1"}, "missing_field_provenance"},
		"a chunk of a read that was none":     {record.FieldSource{Source: "retrieval", ReadID: "read_tool", ChunkID: "chunk_1"}, "citation_not_shown"},
		"no chunk":                            {record.FieldSource{Source: "retrieval", ReadID: "read_retrieval"}, "missing_field_provenance"},
		"a memory":                            {record.FieldSource{Source: "memory", ReadID: "read_memory", EntryID: "mem_1"}, ""},
		"a memory that was written":           {record.FieldSource{Source: "memory", ReadID: "read_written", EntryID: "mem_1"}, "citation_not_shown"},
		"a memory that was looked for":        {record.FieldSource{Source: "memory", ReadID: "read_searched", EntryID: "mem_1"}, ""},
		"a memory that was not recalled":      {record.FieldSource{Source: "memory", ReadID: "read_memory", EntryID: "mem_2"}, "citation_not_shown"},
		"a memory of a read that was not":     {record.FieldSource{Source: "memory", ReadID: "read_9", EntryID: "mem_1"}, "missing_field_provenance"},
		"a model's value that was marked":     {record.FieldSource{Source: "model", MarkedForReviewer: record.MarkedYes}, ""},
		"a model's value that was not marked": {record.FieldSource{Source: "model", MarkedForReviewer: record.MarkedNo}, "model_value_unmarked"},
		"a model's value, mark unknown":       {record.FieldSource{Source: "model", MarkedForReviewer: record.MarkedUnknown}, "model_value_unmarked"},
		"a model's value, mark not said":      {record.FieldSource{Source: "model"}, "model_value_unmarked"},
		"a source of no kind":                 {record.FieldSource{Source: "hearsay"}, "missing_field_provenance"},
		"no source":                           {record.FieldSource{}, "missing_field_provenance"},
	} {
		t.Run(name, func(t *testing.T) {
			unmet, err := provenance.Check(decide(c.source), entriesOf(run(t, "run_1")...))
			require.NoError(t, err)
			if c.code == "" {
				require.Empty(t, unmet)
				return
			}
			require.Equal(t, []record.Unmet{{Field: "field", Code: c.code}}, unmet)
		})
	}
}

func TestWhatAnotherExecutionWasShownCountsForNothing(t *testing.T) {
	for _, source := range []record.FieldSource{
		{Source: "tool", ToolCallID: "call_1", Path: "$"},
		{Source: "document", DocumentID: "doc_shown", ChecksumSHA256: checksum},
		{Source: "retrieval", ReadID: "read_retrieval", ChunkID: "chunk_1"},
	} {
		unmet, err := provenance.Check(decide(source), entriesOf(run(t, "run_2")...))
		require.NoError(t, err)
		require.Equal(t, []record.Unmet{{Field: "field", Code: "missing_field_provenance"}}, unmet)
	}
	// A read that names two executions is one of neither.
	r := record.Read{ReadID: "read_tool", ExecutionID: "run_1", Response: record.Response{ResultDigest: digest}}
	r.Correlation.ExecutionID = "run_2"
	e := entry(t, record.KindRead, &r)
	source := record.FieldSource{Source: "tool", ReadID: "read_tool", Path: "$"}
	for _, correlated := range []string{"run_1", "run_2"} {
		e.Header.Correlation.ExecutionID = correlated
		d := decide(source)
		d.Correlation.ExecutionID = correlated
		unmet, err := provenance.Check(d, entriesOf(e))
		require.NoError(t, err)
		require.Equal(t, correlated == "run_2", len(unmet) == 1)
	}
}

// conflicting makes an entry one whose id another entry had before.
func conflicting(t testing.TB, e *journal.Entry) *journal.Entry {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal(e.Body, &body))
	body["conflicts_with"] = "evt_before"
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	e.Body = raw
	return e
}

func TestAConflictingReadConfirmsNothing(t *testing.T) {
	for _, source := range []record.FieldSource{
		{Source: "tool", ToolCallID: "call_1", Path: "$"},
		{Source: "tool", ReadID: "read_tool", Path: "$"},
		{Source: "document", DocumentID: "doc_shown", ChecksumSHA256: checksum},
		{Source: "retrieval", ReadID: "read_retrieval", ChunkID: "chunk_1"},
		{Source: "memory", ReadID: "read_memory", EntryID: "mem_1"},
	} {
		entries := run(t, "run_1")
		for _, e := range entries {
			conflicting(t, e)
		}
		unmet, err := provenance.Check(decide(source), entriesOf(entries...))
		require.NoError(t, err)
		require.Equal(t, []record.Unmet{{Field: "field", Code: "missing_field_provenance"}}, unmet)
	}
}

func TestAReadThatIsFoundInAnotherExecutionIsSaidToBe(t *testing.T) {
	elsewhere := run(t, "run_2")
	d := decide(record.FieldSource{Source: "memory", ReadID: "read_memory", EntryID: "mem_1"})
	d.Fields["two"] = record.DecisionField{}
	d.FieldProvenance["two"] = record.FieldSource{Source: "tool", ReadID: "read_9", Path: "$"}
	need := provenance.OfDecision(d)
	require.Equal(t, []string{"read_9", "read_memory"}, need.Unseen())
	for _, e := range elsewhere {
		need.Elsewhere(e)
	}
	for _, e := range run(t, "run_1")[:1] {
		need.Elsewhere(e) // not elsewhere
	}
	require.Equal(t, []record.Unmet{{Field: "field", Code: "citation_wrong_execution"}, {Field: "two", Code: "missing_field_provenance"}}, need.Unmet())
}

func TestEveryFieldIsJudgedOnceAndInOrder(t *testing.T) {
	d := decide(record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$"})
	d.Fields["b"], d.Fields["a"], d.Fields["c"] = record.DecisionField{}, record.DecisionField{}, record.DecisionField{}
	d.FieldProvenance["b"] = record.FieldSource{Source: "document", DocumentID: "doc_named", ChecksumSHA256: checksum}
	d.FieldProvenance["c"] = record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$.c"}
	entries := run(t, "run_1")
	unmet, err := provenance.Check(d, entriesOf(append(entries, entries...)...))
	require.NoError(t, err)
	require.Equal(t, []record.Unmet{{Field: "a", Code: "missing_field_provenance"}, {Field: "b", Code: "citation_not_shown"}}, unmet)
}

func TestAnErrorOfTheEntriesIsNoFinding(t *testing.T) {
	trouble := errors.New("disk trouble")
	_, err := provenance.Check(decide(record.FieldSource{Source: "tool", ToolCallID: "call_9", Path: "$"}), func(yield func(*journal.Entry, error) bool) {
		yield(nil, trouble)
	})
	require.ErrorIs(t, err, trouble)
}

// FuzzSee shows bodies of any form to a decision: nothing but a read of the execution
// that has what is cited confirms it.
func FuzzSee(f *testing.F) {
	for _, e := range run(f, "run_1") {
		f.Add([]byte(e.Body), "call_1", "$.a")
	}
	f.Add([]byte(`{"documents":null,"retrieval":[],"execution_id":"run_1"}`), "", "$[")
	f.Fuzz(func(t *testing.T, body []byte, call, path string) {
		d := decide(record.FieldSource{Source: "tool", ToolCallID: call, Path: path})
		e := &journal.Entry{Kind: record.KindRead, Body: body, Header: journal.EntryHeader{Correlation: record.Correlation{ExecutionID: "run_1"}}}
		unmet, err := provenance.Check(d, entriesOf(e, e))
		require.NoError(t, err)
		if len(unmet) == 0 {
			require.NotEmpty(t, call)
			require.Contains(t, string(body), "run_1")
		}
	})
}
