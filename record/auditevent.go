// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// The versions of the schema of an audit event. 1.1.0 adds field_provenance,
// context_ids, action_ids and read_ids (contract 14); nothing is taken away.
const (
	AuditEventVersion         = SchemaVersion
	AuditEventVersionExtended = "1.1.0"
)

// AuditEvent is the body of an audit_event: a governed action, complete, after the
// published field dictionary (contract 14). Its layout is the dictionary's, so it has
// neither journal_id nor observed_by; those facts stand in the journal_record
// audit_event.received beside it. The journal fills recorded_at, sequence and scope.
type AuditEvent struct {
	EventID     string               `json:"event_id"`
	EventType   AuditEventType       `json:"event_type"`
	OccurredAt  Time                 `json:"occurred_at"`
	Correlation AuditCorrelation     `json:"correlation"`
	Actors      AuditActors          `json:"actors"`
	Components  AuditComponents      `json:"components"`
	Requested   AuditRequestedAction `json:"requested_action"`
	Policy      AuditPolicy          `json:"policy"`
	// Approval is nil if the policy demanded none and there was none.
	Approval *AuditApproval `json:"approval,omitzero"`
	// ToolCalls are every attempted call; an empty list says that there was none.
	ToolCalls []AuditToolCall `json:"tool_calls"`
	Execution AuditExecution  `json:"execution"`
	Lineage   AuditLineage    `json:"lineage"`
	Evidence  AuditEvidence   `json:"evidence"`
	Privacy   AuditPrivacy    `json:"privacy"`

	// Of AuditEventVersionExtended only.
	FieldProvenance map[string]FieldSource `json:"field_provenance,omitzero"`
	ContextIDs      []string               `json:"context_ids,omitzero"`
	ActionIDs       []string               `json:"action_ids,omitzero"`
	ReadIDs         []string               `json:"read_ids,omitzero"`
}

// AuditEventType says whether the action was carried out or refused; whether the
// record verifies is no part of it.
type AuditEventType string

// The types of audit events. An attempt that failed is completed: denied is what
// policy, or the reviewer whom it demands, refused.
const (
	AuditActionCompleted AuditEventType = "agent.action.completed"
	AuditActionDenied    AuditEventType = "agent.action.denied"
)

// AuditCorrelation joins an audit event to the records of its policy decision,
// approval, tools and outcome without a join by time.
type AuditCorrelation struct {
	CorrelationID string `json:"correlation_id"`
	ExecutionID   string `json:"execution_id"`
	TraceID       string `json:"trace_id,omitzero"`
	SpanID        string `json:"span_id,omitzero"`
	ParentEventID string `json:"parent_event_id,omitzero"`
}

// AuditActors are references to who asked, what acted and who answers for it.
type AuditActors struct {
	Requester        string `json:"requester"`
	Agent            string `json:"agent"`
	AccountableOwner string `json:"accountable_owner"`
	// DelegatedUser is on whose behalf the agent acted.
	DelegatedUser string `json:"delegated_user,omitzero"`
	// ServiceIdentity is the identity of the workload.
	ServiceIdentity string `json:"service_identity,omitzero"`
}

// AuditComponents are the versions of what had an influence on the action.
type AuditComponents struct {
	Agent          AuditAgent           `json:"agent"`
	Model          *AuditModel          `json:"model,omitzero"`
	PromptTemplate *AuditPromptTemplate `json:"prompt_template,omitzero"`
	Orchestrator   *AuditOrchestrator   `json:"orchestrator,omitzero"`
}

// AuditAgent is the release of the agent.
type AuditAgent struct {
	Release      string `json:"release"`
	ConfigDigest string `json:"config_digest,omitzero"`
}

// AuditModel is the model that the agent ran on.
type AuditModel struct {
	Provider     string `json:"provider,omitzero"`
	Name         string `json:"name"`
	Version      string `json:"version"`
	ConfigDigest string `json:"config_digest,omitzero"`
}

// AuditPromptTemplate is the template of the prompt, never its text.
type AuditPromptTemplate struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Digest  string `json:"digest,omitzero"`
}

// AuditOrchestrator is what ran the agent.
type AuditOrchestrator struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	ConfigDigest string `json:"config_digest,omitzero"`
}

// AuditRequestedAction is the capability that was asked for, and under which
// authority.
type AuditRequestedAction struct {
	Action          string `json:"action"`
	Purpose         string `json:"purpose"`
	Resource        string `json:"resource"`
	DataBoundaryRef string `json:"data_boundary_ref"`
	Environment     string `json:"environment"`
	// Amount is that which the policy looked at.
	Amount *AuditMoney `json:"amount,omitzero"`
}

// AuditMoney is a decimal without an exponent and an ISO 4217 code (contract 2).
type AuditMoney struct {
	Value    string `json:"value"`
	Currency string `json:"currency"`
}

// AuditPolicy is the decision of the policy engine.
type AuditPolicy struct {
	DecisionID     string         `json:"decision_id"`
	PolicyID       string         `json:"policy_id"`
	PolicyVersion  string         `json:"policy_version"`
	PolicyDigest   string         `json:"policy_digest"`
	InputsDigest   string         `json:"inputs_digest"`
	Decision       PolicyDecision `json:"decision"`
	MatchedRuleIDs []string       `json:"matched_rule_ids"`
	ReasonCodes    []string       `json:"reason_codes"`
	EvaluatedAt    Time           `json:"evaluated_at"`
}

// PolicyDecision is what a policy says about an action.
type PolicyDecision string

// The decisions of the dictionary.
const (
	PolicyAllow           PolicyDecision = "allow"
	PolicyWarn            PolicyDecision = "warn"
	PolicyRequireApproval PolicyDecision = "require_approval"
	PolicyBlock           PolicyDecision = "block"
)

// PolicyDeny is an older spelling of PolicyBlock. It never stands in an entry: it
// becomes PolicyBlock, and audit_event.received says so (requirement E9).
const PolicyDeny = "deny"
