// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// This file holds the members of an audit event about what people decided, what
// happened and what shows it.

// AuditApproval is a request for the approval of an action, and what became of it.
type AuditApproval struct {
	RequestID    string                `json:"request_id"`
	RequiredRole string                `json:"required_role"`
	Decision     AuditApprovalDecision `json:"decision"`
	// Reviewer and DecidedAt stand with a decision, and with nothing else.
	Reviewer       *AuditReviewer `json:"reviewer,omitzero"`
	RequestedAt    Time           `json:"requested_at"`
	DecidedAt      Time           `json:"decided_at,omitzero"`
	ExpiresAt      Time           `json:"expires_at,omitzero"`
	ReassignedFrom string         `json:"reassigned_from,omitzero"`
	Override       *AuditOverride `json:"override,omitzero"`
	Appeal         *AuditAppeal   `json:"appeal,omitzero"`
}

// AuditApprovalDecision is the state of an approval request.
type AuditApprovalDecision string

// The states of an approval request: the first two are decisions.
const (
	AuditApproved        AuditApprovalDecision = "approved"
	AuditRejected        AuditApprovalDecision = "rejected"
	AuditApprovalPending AuditApprovalDecision = "pending"
	AuditApprovalExpired AuditApprovalDecision = "expired"
	AuditApprovalRevoked AuditApprovalDecision = "revoked"
)

// AuditReviewer is who decided. That a reviewer held the role is checked against a
// list from outside.
type AuditReviewer struct {
	Identity string            `json:"identity"`
	Kind     AuditReviewerKind `json:"kind"`
	Role     string            `json:"role,omitzero"`
}

// AuditReviewerKind tells people from programs: only the approval of a human lets
// anything be executed.
type AuditReviewerKind string

// The kinds of reviewers.
const (
	AuditReviewerHuman   AuditReviewerKind = "human"
	AuditReviewerService AuditReviewerKind = "service"
)

// AuditOverride says who decided against the rule.
type AuditOverride struct {
	Identity     string `json:"identity"`
	ReasonCode   string `json:"reason_code"`
	OverriddenAt Time   `json:"overridden_at,omitzero"`
}

// AuditAppeal is an appeal against a decision: open, upheld or dismissed.
type AuditAppeal struct {
	AppealRef string `json:"appeal_ref"`
	Status    string `json:"status"`
}

// AuditToolCall is one attempted call of a tool.
type AuditToolCall struct {
	CallID      string              `json:"call_id"`
	Attempt     int64               `json:"attempt,omitzero"` // from 1
	ToolID      string              `json:"tool_id"`
	ToolVersion string              `json:"tool_version,omitzero"`
	Status      AuditToolCallStatus `json:"status"`
	// The digests are of what was sent and of what came back (contract 2). Sizes are
	// in bytes.
	ArgumentsDigest           string `json:"arguments_digest"`
	ArgumentsCanonicalization string `json:"arguments_canonicalization,omitzero"`
	ArgumentsSize             int64  `json:"arguments_size,omitzero"`
	ResultDigest              string `json:"result_digest"`
	ResultCanonicalization    string `json:"result_canonicalization,omitzero"`
	ResultSize                int64  `json:"result_size,omitzero"`
	StartedAt                 Time   `json:"started_at,omitzero"`
	EndedAt                   Time   `json:"ended_at,omitzero"`
	IdempotencyToken          string `json:"idempotency_token,omitzero"`
	// DownstreamEffects are nil if the call had none that is known.
	DownstreamEffects []AuditDownstreamEffect `json:"downstream_effects,omitzero"`
}

// AuditToolCallStatus is what the caller saw of a call.
type AuditToolCallStatus string

// The states of a tool call. A call that was sent and not answered is a timeout and
// never failed: what it did on the other side is not known (requirement D3).
const (
	AuditCallSucceeded AuditToolCallStatus = "succeeded"
	AuditCallFailed    AuditToolCallStatus = "failed"
	AuditCallTimeout   AuditToolCallStatus = "timeout"
	AuditCallUnknown   AuditToolCallStatus = "unknown"
)

// AuditDownstreamEffect is what a call changed in another system. The digest of what
// was not there before is that of no bytes.
type AuditDownstreamEffect struct {
	Target string `json:"target"`
	// Receipt is what the target acknowledged the change with.
	Receipt      string `json:"receipt"`
	BeforeDigest string `json:"before_digest"`
	AfterDigest  string `json:"after_digest"`
	OccurredAt   Time   `json:"occurred_at,omitzero"`
}

// AuditExecution is the technical and the business result, apart.
type AuditExecution struct {
	Status          AuditExecutionStatus `json:"status"`
	BusinessOutcome AuditBusinessOutcome `json:"business_outcome"`
	Rollback        *AuditRollback       `json:"rollback,omitzero"`
	IncidentRef     string               `json:"incident_ref,omitzero"`
}

// AuditExecutionStatus is the technical result of an action.
type AuditExecutionStatus string

// The technical results of an action.
const (
	AuditExecutionSucceeded  AuditExecutionStatus = "succeeded"
	AuditExecutionFailed     AuditExecutionStatus = "failed"
	AuditExecutionUnknown    AuditExecutionStatus = "unknown"
	AuditExecutionNotStarted AuditExecutionStatus = "not_started"
	AuditExecutionDenied     AuditExecutionStatus = "denied"
)

// AuditBusinessOutcome says whether the action reached what it was for.
type AuditBusinessOutcome string

// The business outcomes.
const (
	AuditOutcomeAchieved          AuditBusinessOutcome = "achieved"
	AuditOutcomePartiallyAchieved AuditBusinessOutcome = "partially_achieved"
	AuditOutcomeNotAchieved       AuditBusinessOutcome = "not_achieved"
	AuditOutcomeUnknown           AuditBusinessOutcome = "unknown"
)

// AuditRollback says how far an action was undone: requested, completed or failed.
type AuditRollback struct {
	Status      string `json:"status"`
	RollbackRef string `json:"rollback_ref,omitzero"`
}

// AuditLineage refers to a lineage record and its event ids, in order.
type AuditLineage struct {
	LineageRef string   `json:"lineage_ref"`
	EventIDs   []string `json:"event_ids"`
}

// AuditEvidence refers to the manifest of an evidence bundle and to what it lists.
type AuditEvidence struct {
	ManifestRef string          `json:"manifest_ref"`
	Artifacts   []AuditArtifact `json:"artifacts"`
}

// AuditArtifact is something that supports the event.
type AuditArtifact struct {
	ArtifactRef string `json:"artifact_ref"`
	Digest      string `json:"digest"`
	MediaType   string `json:"media_type,omitzero"`
}

// AuditPrivacy says how the record is protected, and what was taken out of it.
type AuditPrivacy struct {
	Classification  string               `json:"classification"`
	RedactionStatus AuditRedactionStatus `json:"redaction_status"`
	// Redactions are empty if and only if the status is AuditRedactionNone.
	Redactions      []AuditRedaction `json:"redactions"`
	AccessPolicyRef string           `json:"access_policy_ref"`
}

// AuditRedactionStatus says whether anything was redacted.
type AuditRedactionStatus string

// The redaction states.
const (
	AuditRedactionNone AuditRedactionStatus = "none"
	AuditRedacted      AuditRedactionStatus = "redacted"
)

// AuditRedaction is one member that does not stand as the source had it.
type AuditRedaction struct {
	// Pointer is an RFC 6901 JSON Pointer into audit_event.
	Pointer string `json:"pointer"`
	// Method is digest, mask, pseudonym or removed.
	Method     string `json:"method"`
	ReasonCode string `json:"reason_code,omitzero"`
}
