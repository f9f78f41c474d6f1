// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance

import (
	"encoding/json/v2"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Decision is what has to be confirmed of a decision. It is for one goroutine.
type Decision struct {
	execution, step string
	citations       []*citation // sorted by the names of their fields
	// By what a citation names: reads, calls of tools, documents.
	byRead, byCall, byDocument map[string][]*citation
	// open counts the citations that entries may still confirm.
	open int
}

// citation is one field and where its value came from.
type citation struct {
	field  string
	source record.FieldSource
	// code is the finding as far as entries were seen, "" if the citation is
	// confirmed.
	code string
	// final says that no entry can change it.
	final bool
}

// OfDecision returns what has to be confirmed of a decision before any entry was
// seen.
func OfDecision(d *record.Decision) *Decision {
	n := &Decision{
		execution: d.Correlation.ExecutionID, step: d.Correlation.StepID,
		byRead: map[string][]*citation{}, byCall: map[string][]*citation{}, byDocument: map[string][]*citation{},
	}
	for _, field := range slices.Sorted(maps.Keys(d.Fields)) {
		c := &citation{field: field, source: d.FieldProvenance[field], code: CodeMissing}
		n.citations = append(n.citations, c)
		n.register(c)
		if !c.final {
			n.open++
		}
	}
	return n
}

// register has a citation found by what it names, or decides on one that entries say
// nothing about.
func (n *Decision) register(c *citation) {
	s := &c.source
	switch {
	case s.Source == record.FromModel:
		c.final = true
		if c.code = CodeUnmarked; s.MarkedForReviewer == record.MarkedYes {
			c.code = ""
		}
	case s.Source == record.FromTool && !isPath(s.Path):
		c.final = true
	case s.Source == record.FromTool && s.ToolCallID != "" && s.ReadID == "":
		n.byCall[s.ToolCallID] = append(n.byCall[s.ToolCallID], c)
	case s.Source == record.FromTool && s.ReadID != "",
		s.Source == record.FromRetrieval && s.ReadID != "" && s.ChunkID != "",
		s.Source == record.FromMemory && s.ReadID != "" && s.EntryID != "":
		n.byRead[s.ReadID] = append(n.byRead[s.ReadID], c)
	case s.Source == record.FromDocument && s.DocumentID != "" && s.ChecksumSHA256 != "" && n.step != "":
		n.byDocument[s.DocumentID] = append(n.byDocument[s.DocumentID], c)
	default:
		c.final = true // it names nothing that could be found, or the field has no source
	}
}

// isPath reports whether a text is a path into a result (RFC 9535).
func isPath(text string) bool {
	_, err := jsonpath.Parse(text)
	return err == nil
}

// Execution implements Need.
func (n *Decision) Execution() string { return n.execution }

// Met implements Need.
func (n *Decision) Met() bool { return n.open == 0 }

// Unmet returns what is not confirmed, sorted by field.
func (n *Decision) Unmet() (unmet []record.Unmet) {
	for _, c := range n.citations {
		if c.code != "" {
			unmet = append(unmet, record.Unmet{Field: c.field, Code: c.code})
		}
	}
	return unmet
}

// read is what is read of a read_record.
type read struct {
	ReadID        string             `json:"read_id"`
	ExecutionID   string             `json:"execution_id"`
	ConflictsWith string             `json:"conflicts_with"`
	ToolCallID    string             `json:"tool_call_id"`
	Correlation   record.Correlation `json:"correlation"`
	Response      struct {
		Status       record.Status `json:"status"`
		ResultDigest string        `json:"result_digest"`
	} `json:"response"`
	Retrieval struct {
		Chunks []struct {
			ID            string `json:"id"`
			ContentDigest string `json:"content_digest"`
		} `json:"chunks"`
	} `json:"retrieval"`
	Documents []record.Document `json:"documents"`
	Memory    struct {
		Operation string `json:"operation"`
		Entries   []struct {
			ID string `json:"id"`
		} `json:"entries"`
	} `json:"memory"`
}

// changes are the words by which the conventions name operations that bring nothing
// from a memory (create_memory, delete_memory_store, memory.save).
var changes = []string{"create", "add", "insert", "append", "write", "store", "save", "put", "set", "update", "upsert", "delete", "remove", "clear"}

// changesMemory reports whether an operation is one that changes a memory: its first
// word that does not only say what it is about. An entry that a step wrote was not shown
// to it.
func changesMemory(operation string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(operation), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if word != "memory" && word != "memories" {
			return slices.Contains(changes, word)
		}
	}
	return false
}

// See implements Need. Only reads count, and of those only the ones whose execution
// is that of the decision in both places where a read names it.
func (n *Decision) See(e *journal.Entry) {
	if e.Kind != record.KindRead || e.Header.Correlation.ExecutionID != n.execution || n.Met() {
		return
	}
	var r read
	if err := json.Unmarshal(e.Body, &r); err != nil || r.ExecutionID != n.execution || r.ConflictsWith != "" {
		return
	}
	if r.ToolCallID != "" {
		for _, c := range n.byCall[r.ToolCallID] {
			n.judge(c, r.result())
		}
	}
	for _, c := range n.byRead[r.ReadID] {
		n.judge(c, r.shows(&c.source))
	}
	for i := range r.Documents {
		d := &r.Documents[i]
		for _, c := range n.byDocument[d.DocumentID] {
			code := CodeNotShown
			if d.WithContent && d.ChecksumSHA256 == c.source.ChecksumSHA256 && r.Correlation.StepID == n.step {
				code = r.content()
			}
			n.judge(c, code)
		}
	}
}

// shows returns what a read says of the part of it that a citation names: "" if it
// brought that. A call that failed has no result.
func (r *read) shows(s *record.FieldSource) (code string) {
	if r.Response.Status == record.StatusError {
		return CodeNotShown
	}
	switch s.Source {
	case record.FromRetrieval:
		for _, c := range r.Retrieval.Chunks {
			if c.ID == s.ChunkID {
				return ""
			}
		}
	case record.FromMemory:
		if changesMemory(r.Memory.Operation) {
			return CodeNotShown
		}
		for _, e := range r.Memory.Entries {
			if e.ID == s.EntryID {
				return ""
			}
		}
	case record.FromTool:
		if s.ToolCallID == "" || s.ToolCallID == r.ToolCallID {
			return r.result()
		}
	}
	return CodeNotShown
}

// result returns what a read says of a path into its result, which is nowhere if the
// result was not captured.
func (r *read) result() (code string) {
	switch {
	case r.Response.Status == record.StatusError:
		return CodeNotShown
	case r.Response.ResultDigest == "":
		return CodeUnavailable
	}
	return ""
}

// content returns what a read says of the content of a document that it brought: of
// a result or of one of its chunks there is a digest, or nothing was captured.
func (r *read) content() (code string) {
	if r.Response.ResultDigest != "" {
		return ""
	}
	for _, c := range r.Retrieval.Chunks {
		if c.ContentDigest != "" {
			return ""
		}
	}
	return CodeUnavailable
}

// judge takes note of what a read says of a citation. One call is often seen by
// several: one of them that shows it is enough, and one that only lacks the content
// says more than one that shows nothing.
func (n *Decision) judge(c *citation, code string) {
	switch {
	case c.final:
	case code == "":
		c.code, c.final = "", true
		n.open--
	case c.code != CodeUnavailable:
		c.code = code
	}
}

// Unseen returns the ids of the reads that are cited and that the execution does not
// have: another one may.
func (n *Decision) Unseen() (readIDs []string) {
	for id, citations := range n.byRead {
		if citations[0].code == CodeMissing {
			readIDs = append(readIDs, id)
		}
	}
	slices.Sort(readIDs)
	return readIDs
}

// Elsewhere takes note of the entry of a read that was looked for in all executions.
func (n *Decision) Elsewhere(e *journal.Entry) {
	var r read
	if err := json.Unmarshal(e.Body, &r); err != nil || e.Kind != record.KindRead || r.ExecutionID == n.execution || r.ConflictsWith != "" {
		return
	}
	for _, c := range n.byRead[r.ReadID] {
		if c.code == CodeMissing {
			c.code = CodeWrongExecution
		}
	}
}
