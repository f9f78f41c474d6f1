// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json/jsontext"
	"errors"
)

// EventDecisionMade is the event type of a decision record.
const EventDecisionMade = "decision.made"

// Decision is the body of a decision_record: an output that has consequences, and
// where each of its fields came from (requirement B1, contract 10). It holds names
// and digests of values, never values.
type Decision struct {
	Header     `json:",inline"`
	DecisionID string          `json:"decision_id"`
	Outcome    DecisionOutcome `json:"outcome"`
	// Fields names all output fields.
	Fields map[string]DecisionField `json:"fields"`
	// FieldProvenance says of a field where its value came from. A field that it
	// lacks is an exception that readers report, not an error.
	FieldProvenance map[string]FieldSource `json:"field_provenance"`
	Boundary        Boundary               `json:"boundary"`
	ContextIDs      []string               `json:"context_ids,omitzero"`
	ActionIDs       []string               `json:"action_ids,omitzero"`
	ApprovalID      string                 `json:"approval_id,omitzero"`
	// Unmet is what intake could not confirm. A client never gives it.
	Unmet []Unmet `json:"unmet,omitzero"`
}

// DecisionOutcome is what was decided.
type DecisionOutcome struct {
	// Name is a token of the application, such as refer_to_analyst.
	Name                  string `json:"name,omitzero"`
	ValueDigest           string `json:"value_digest,omitzero"`
	ValueCanonicalization string `json:"value_canonicalization,omitzero"`
	// ValueSize is in bytes, rounded up to a multiple of 64 if the digest is
	// keyed; 0 is absent.
	ValueSize int64 `json:"value_size,omitzero"`
}

// DecisionField is one output field. Its digest is keyed, because values of fields
// can be guessed (requirement H2).
type DecisionField struct {
	ValueDigest           string `json:"value_digest,omitzero"`
	ValueCanonicalization string `json:"value_canonicalization,omitzero"`
	// ValueSize is in bytes, rounded up to a multiple of 64; 0 is absent.
	ValueSize int64 `json:"value_size,omitzero"`
}

// SourceOfField is the kind of source that a field's value came from.
type SourceOfField string

// The sources of contract 10.
const (
	FromTool      SourceOfField = "tool"
	FromDocument  SourceOfField = "document"
	FromRetrieval SourceOfField = "retrieval"
	FromMemory    SourceOfField = "memory"
	FromModel     SourceOfField = "model"
)

// FieldSource is the one source of a field's value. Which members it has depends on
// Source.
type FieldSource struct {
	Source SourceOfField `json:"source"`
	// ToolCallID or ReadID names the read of a tool's result.
	ToolCallID string `json:"tool_call_id,omitzero"`
	// ReadID names the read of a tool, a retrieval or a memory.
	ReadID string `json:"read_id,omitzero"`
	// Path is the RFC 9535 path into a tool's recorded result.
	Path       string `json:"path,omitzero"`
	DocumentID string `json:"document_id,omitzero"`
	// ChecksumSHA256 is 64 lowercase hex digits without "sha256:".
	ChecksumSHA256 string `json:"checksum_sha256,omitzero"`
	// Page counts from 1; 0 is absent.
	Page int64 `json:"page,omitzero"`
	// Region helps a person to look; it decides nothing.
	Region  *Region `json:"region,omitzero"`
	ChunkID string  `json:"chunk_id,omitzero"`
	EntryID string  `json:"entry_id,omitzero"`
	// MarkedForReviewer says of a model's value whether the reviewer saw it marked
	// as the agent's own statement (requirement B4).
	MarkedForReviewer Marked `json:"marked_for_reviewer,omitzero"`
}

// Region is a place on a page, never the text there.
type Region struct {
	// Box is left, top, right, bottom as decimals, in the unit of whoever located
	// it (contract 2: the shortest decimal that reads back to the same value).
	Box    []string     `json:"box"`
	Method RegionMethod `json:"method"`
}

// RegionMethod is how a region was found.
type RegionMethod string

// The methods of requirement B1.
const (
	RegionTextLayer RegionMethod = "text_layer"
	RegionVision    RegionMethod = "vision"
)

// Marked is true, false or unknown; the zero Marked is absent.
type Marked string

// What may be known of a mark. The first two are JSON booleans, the third a string.
const (
	MarkedYes     Marked = "true"
	MarkedNo      Marked = "false"
	MarkedUnknown Marked = "unknown"
)

var errMarked = errors.New("marked_for_reviewer is neither true nor false nor unknown")

// MarshalJSONTo implements json.MarshalerTo.
func (m Marked) MarshalJSONTo(e *jsontext.Encoder) error {
	switch m {
	case MarkedYes, MarkedNo:
		return e.WriteToken(jsontext.Bool(m == MarkedYes))
	case MarkedUnknown:
		return e.WriteToken(jsontext.String(string(m)))
	default:
		return errMarked
	}
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *Marked) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch {
	case token.Kind() == jsontext.KindTrue:
		*m = MarkedYes
	case token.Kind() == jsontext.KindFalse:
		*m = MarkedNo
	case token.Kind() == jsontext.KindString && token.String() == string(MarkedUnknown):
		*m = MarkedUnknown
	default:
		return errMarked
	}
	return nil
}

// Unmet is one thing that intake could not confirm of a decision.
type Unmet struct {
	// Field is the name of an output field.
	Field string `json:"field"`
	// Code is one of the findings of contract 6.
	Code string `json:"code"`
}
