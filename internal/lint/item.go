// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"

	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/record"
)

// Item is what would become of one span or log record.
type Item struct {
	Position
	Kind
	// Read says that a read is recorded of it.
	Read bool `json:"read"`
	// Context says that what went into a model call is recorded of it; Request and
	// Response then say what was captured of the model's input and output.
	Context bool `json:"context,omitzero"`
	// Tool is the tool's name as it would stand in the record.
	Tool   string `json:"tool,omitzero"`
	CallID bool   `json:"call_id"`
	// Request and Response say what was captured of either side of a read.
	Request  record.Captured `json:"request,omitzero"`
	Response record.Captured `json:"response,omitzero"`
	// Documents counts the chunks, memory entries and documents of a read.
	Documents int `json:"documents"`
	// Kept says what is kept of the content of a read.
	Kept record.ContentStored `json:"kept,omitzero"`
	// Unrecordable is why a read can't be recorded, "" for all others.
	Unrecordable string   `json:"unrecordable,omitzero"`
	Flags        []string `json:"flags,omitzero"`
	// Values counts the item's own values by what becomes of them: not those of
	// its scope and resource.
	Values map[string]int64 `json:"values"`
	// Unknown are the item's keys that no rule knows, at most 32.
	Unknown []string `json:"unknown_keys,omitzero"`
}

// Kind is what items are grouped by.
type Kind struct {
	Signal  record.Signal `json:"signal"`
	Dialect string        `json:"dialect"`
	Class   genai.Class   `json:"class"`
	// Scope and Name are "" if they are absent, and "redacted" if no table knows
	// them to be harmless.
	Scope string `json:"scope"`
	Name  string `json:"name"`
}

// maxUnknown bounds the keys that are named of one item.
const maxUnknown = 32

func newItem(at Position, signal record.Signal, seen *genai.Observation, records bool, scope, name string) *Item {
	it := &Item{
		Position: at,
		Kind:     Kind{Signal: signal, Dialect: seen.Dialect, Class: seen.Class, Scope: scope, Name: name},
		CallID:   seen.CallID != "",
		Values:   map[string]int64{},
	}
	if seen.Unrecordable != nil {
		it.Unrecordable = seen.Unrecordable.Reason
	}
	if r := seen.Read; r != nil {
		it.read(r, seen.Given)
	}
	if seen.Context != nil {
		it.context(seen)
	}
	if !records {
		it.Read, it.Kept = false, ""
	}
	return it
}

func (it *Item) read(r *record.Read, given bool) {
	if _, err := record.NewReadDraft(r, given); err != nil {
		it.Unrecordable = record.ReasonOf(err)
		return
	}
	it.Read = true
	it.Tool = r.Source.ToolID
	it.Request, it.Response = r.Capture.Request, r.Capture.Response
	it.Documents = len(r.Documents)
	if r.Retrieval != nil {
		it.Documents += len(r.Retrieval.Chunks)
	}
	if r.Memory != nil {
		it.Documents += len(r.Memory.Entries)
	}
	it.Kept = r.Retention.ContentStored
	it.Flags = flagsOf(r)
}

func (it *Item) context(seen *genai.Observation) {
	if _, err := seen.ContextDraft(); err != nil {
		it.Unrecordable = record.ReasonOf(err)
		return
	}
	c := seen.Context
	it.Context = true
	it.Request, it.Response = c.Capture.Input, c.Capture.Output
}

// flagsOf says what a record will lack that an auditor asks for. Flags are a
// closed set, described in docs/lint.md.
func flagsOf(r *record.Read) []string {
	var flags []string
	flag := func(name string, raised bool) {
		if raised {
			flags = append(flags, name)
		}
	}
	flag("no_tool", r.Source.ToolID == "" && r.EventType == record.EventReadTool)
	flag("no_system", r.Source.System == "")
	flag("no_boundary", r.Boundary == nil)
	flag("no_ids", r.ObservedBy.IDProblem != "")
	flag("uncheckable", r.Uncheckable())
	return flags
}

func (it *Item) decided(outcome strip.Outcome, row *placeRow) {
	it.Values[outcome.String()]++
	if row == nil || !row.noRule() || len(it.Unknown) == maxUnknown || slices.Contains(it.Unknown, row.Key) {
		return
	}
	it.Unknown = append(it.Unknown, row.Key)
}
