// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// EventLineageSpans is the event type of a lineage record.
const EventLineageSpans = "lineage.spans"

// MaxLineageSpans is the most spans that one lineage record holds (contract 13).
const MaxLineageSpans = 500

// Lineage is the body of a lineage_record without its spans, which travel as
// parts of the draft so that the journal can leave out those it already has.
type Lineage struct {
	Header `json:",inline"`
}

// EdgeType says how work was handed over (requirement D4). It is taken from
// where the hand-over was recorded, never from a name.
type EdgeType string

// The edge types of requirement D4.
const (
	EdgeProtocolCall   EdgeType = "protocol_call"
	EdgeLocalCall      EdgeType = "local_call"
	EdgeDelegatedJob   EdgeType = "delegated_job"
	EdgeExternalAction EdgeType = "external_action"
)

// Span is the content-free skeleton of a span (contract 13).
type Span struct {
	SpanID       string   `json:"span_id"`
	ParentSpanID string   `json:"parent_span_id,omitzero"`
	Name         string   `json:"name,omitzero"`
	NameDigest   string   `json:"name_digest,omitzero"`
	Kind         string   `json:"kind"`
	Class        string   `json:"class"`
	StartedAt    Time     `json:"started_at,omitzero"`
	EndedAt      Time     `json:"ended_at,omitzero"`
	Status       Status   `json:"status"`
	EdgeType     EdgeType `json:"edge_type,omitzero"`
	Links        []Link   `json:"links,omitzero"`
	ToolCallID   string   `json:"tool_call_id,omitzero"`
	ReadID       string   `json:"read_id,omitzero"`
	ActionID     string   `json:"action_id,omitzero"`
	Agent        *Agent   `json:"agent,omitzero"`
	Model        string   `json:"model,omitzero"`
	Effect       *Effect  `json:"effect,omitzero"`
}

// Link is a span link without its attributes.
type Link struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
}

// Agent names the agent that a span ran for.
type Agent struct {
	ID      string `json:"id,omitzero"`
	Name    string `json:"name,omitzero"`
	Version string `json:"version,omitzero"`
}

// Effect names the external system that a span touched.
type Effect struct {
	System string `json:"system,omitzero"`
	Target string `json:"target,omitzero"`
	Status string `json:"status,omitzero"`
}
