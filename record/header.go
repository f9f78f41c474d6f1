// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// Kind is the member name of a body in an entry (contract 1).
type Kind string

// The bodies that this version writes.
const (
	KindRead       Kind = "read_record"
	KindLineage    Kind = "lineage_record"
	KindJournal    Kind = "journal_record"
	KindDecision   Kind = "decision_record"
	KindAction     Kind = "action_record"
	KindApproval   Kind = "approval_record"
	KindContext    Kind = "context_record"
	KindAuditEvent Kind = "audit_event"
)

// OfActions reports whether bodies of the kind stand in the journal of actions, the
// synchronous path, and not among what telemetry gives (contract 7).
func (k Kind) OfActions() bool {
	switch k {
	case KindDecision, KindAction, KindApproval, KindAuditEvent:
		return true
	default:
		return false
	}
}

// SchemaVersion is the version of every body schema that this version writes, but for
// audit events that say another.
const SchemaVersion = "1.0.0"

// Header is what every body begins with (contract 1). The source of a record
// fills event_type, occurred_at, correlation and observed_by; the journal fills
// the rest when it appends.
type Header struct {
	// EventID is set here only if the application gave one.
	EventID     string      `json:"event_id,omitzero"`
	EventType   string      `json:"event_type"`
	OccurredAt  Time        `json:"occurred_at,omitzero"`
	Correlation Correlation `json:"correlation,omitzero"`
	ObservedBy  ObservedBy  `json:"observed_by,omitzero"`
}

// Correlation holds the ids that join a record to an execution, a trace and a
// call. Trace and span ids are lowercase hex of 32 and 16 digits, never all
// zero.
type Correlation struct {
	ExecutionID   string `json:"execution_id,omitzero"`
	CorrelationID string `json:"correlation_id,omitzero"`
	TraceID       string `json:"trace_id,omitzero"`
	SpanID        string `json:"span_id,omitzero"`
	ParentSpanID  string `json:"parent_span_id,omitzero"`
	ParentEventID string `json:"parent_event_id,omitzero"`
	StepID        string `json:"step_id,omitzero"`
	RequestID     string `json:"request_id,omitzero"`
	CallID        string `json:"call_id,omitzero"`
}

// Scope says whose record it is and how long it is kept. The journal fills it
// from its configuration; telemetry never does.
type Scope struct {
	OrganizationRef string `json:"organization_ref"`
	Environment     string `json:"environment"`
	RetentionClass  string `json:"retention_class"`
	Region          string `json:"region,omitzero"`
	LegalHold       bool   `json:"legal_hold,omitzero"`
}

// Signal is the kind of telemetry item that a record was lifted from.
type Signal string

// The signals of contract 1.
const (
	SignalSpan      Signal = "span"
	SignalSpanEvent Signal = "span_event"
	SignalLog       Signal = "log"
	SignalAPI       Signal = "api"
)

// IDProblem says why trace and span id are absent from a record.
type IDProblem string

// The id problems of contract 1.
const (
	IDProblemZeroTraceID IDProblem = "zero_trace_id"
	IDProblemZeroSpanID  IDProblem = "zero_span_id"
	IDProblemMissing     IDProblem = "missing"
)

// UnverifiedInput is the upstream_context_source of telemetry that nobody
// authenticated (requirement D5).
const UnverifiedInput = "unverified_input"

// ObservedBy says who saw what the record tells, and how far to trust its
// context. CollectorID is filled by the journal.
type ObservedBy struct {
	UpstreamContextSource string           `json:"upstream_context_source,omitzero"`
	ReceivedContext       *ReceivedContext `json:"received_context,omitzero"`
	Signal                Signal           `json:"signal,omitzero"`
	Dialect               string           `json:"dialect,omitzero"`
	ScopeName             string           `json:"scope_name,omitzero"`
	ScopeVersion          string           `json:"scope_version,omitzero"`
	// Sampling is the tracestate threshold (ot=th:...), so that absence is
	// never read as completeness.
	Sampling  string    `json:"sampling,omitzero"`
	IDProblem IDProblem `json:"id_problem,omitzero"`
}

// ReceivedContext is what a client claimed where we minted our own ids.
type ReceivedContext struct {
	TraceID      string `json:"trace_id,omitzero"`
	ParentSpanID string `json:"parent_span_id,omitzero"`
}
