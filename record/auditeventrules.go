// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "strconv"

// auditEventRules are those of an audit event that its schema cannot say; what
// requirement E3 demands across members stands there.
var auditEventRules = []rule[AuditEvent]{
	{
		"own_parent_audit_event", "An audit event is not its own parent.",
		func(e *AuditEvent) string {
			return pointerIf(e.EventID != "" && e.Correlation.ParentEventID == e.EventID, "/correlation/parent_event_id")
		},
	},
	{
		"call_twice", "Each attempt of a tool call stands once.",
		func(e *AuditEvent) string {
			i := secondOf(e.ToolCalls, func(c *AuditToolCall) string { return strconv.FormatInt(c.Attempt, 10) + " " + c.CallID })
			return pointerIf(i >= 0, "/tool_calls/"+strconv.Itoa(i)+"/call_id")
		},
	},
	{
		"redacted_twice", "Each place that was redacted stands once.",
		func(e *AuditEvent) string {
			i := secondOf(e.Privacy.Redactions, func(r *AuditRedaction) string { return r.Pointer })
			return pointerIf(i >= 0, "/privacy/redactions/"+strconv.Itoa(i)+"/pointer")
		},
	},
}

// Check returns a *RuleError if the body breaks one of Rules.
func (e *AuditEvent) Check() error { return firstBroken(e, auditEventRules) }

// DerivedType returns the event type that the status demands (requirement E3).
func (e *AuditEvent) DerivedType() AuditEventType {
	if e.Execution.Status == AuditExecutionDenied {
		return AuditActionDenied
	}
	return AuditActionCompleted
}

// Normalize replaces what is spelled in an older way, and says what it replaced
// (requirement E9).
func (e *AuditEvent) Normalize() []Normalized {
	if e.Policy.Decision != PolicyDeny {
		return nil
	}
	e.Policy.Decision = PolicyBlock
	return []Normalized{{Pointer: "/policy/decision", From: PolicyDeny, To: string(PolicyBlock)}}
}
