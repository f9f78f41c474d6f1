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

// Effect says what external system a span touched, and how. Every member but
// the digest stands in clear because it has a shape; what the telemetry does not
// say is absent.
type Effect struct {
	// System is the database, protocol or messaging system: postgresql, http,
	// grpc, kafka, ssh, process.
	System string `json:"system,omitzero"`
	// Operation is what was done: a database operation, an HTTP method, an RPC
	// method, a messaging operation, a program that speaks SSH.
	Operation string `json:"operation,omitzero"`
	// Namespace is a database or keyspace, or an RPC service.
	Namespace string `json:"namespace,omitzero"`
	// Collection is a table, collection, container or index, or the destination
	// of messages.
	Collection string `json:"collection,omitzero"`
	// PathTemplate is the path of an HTTP request with parameters in place of
	// values.
	PathTemplate string `json:"path_template,omitzero"`
	// Target is the host, or the program that ran.
	Target string `json:"target,omitzero"`
	// Status is what the other side answered (HTTP status, SQLSTATE, exit code),
	// else the type of the error.
	Status string `json:"status,omitzero"`
	// Rows are those that a database returned; 0 is a number, nil is not known.
	Rows *int64 `json:"rows,omitzero"`
	// The digest of the query as the telemetry has it (contract 2).
	QueryDigest           string `json:"query_digest,omitzero"`
	QueryCanonicalization string `json:"query_canonicalization,omitzero"`
	QuerySize             int64  `json:"query_size,omitzero"`
	// QueryCapture says why a query that came has no digest (placeholder), or one
	// of a part only (truncated); "" otherwise.
	QueryCapture Captured `json:"query_capture,omitzero"`
}
