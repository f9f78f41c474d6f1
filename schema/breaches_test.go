// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"strings"

	"github.com/readtrail/readtrail/record"
)

// breach is a body that breaks one rule: an example, with something else in it.
type breach struct {
	kind record.Kind
	// name is that of the file. One that begins with rule. is the id of a rule that
	// no schema can say.
	name    string
	example string
	change  func(body object)
	// pointer and keyword are where the schema is not met.
	pointer, keyword string
}

func (v *breach) rule() (id string, found bool) { return strings.CutPrefix(v.name, "rule.") }

func put(value any, path ...any) func(object) {
	return func(body object) {
		var at any = body
		for _, step := range path[:len(path)-1] {
			switch step := step.(type) {
			case string:
				at = at.(object)[step]
			case int:
				at = at.([]any)[step]
			}
		}
		o, name := at.(object), path[len(path)-1].(string)
		if o[name] = value; value == nil {
			delete(o, name)
		}
	}
}

const span = "00f067aa0ba902b7" // of all examples

var actionBreaches = []breach{
	{"", "planned-with-attempt", "sent", both(put("planned", "state"), put("action.planned", "event_type")), "/attempt", "false"},
	{"", "sent-without-attempt", "sent", both(put(nil, "attempt_id"), put(nil, "attempt")), "/attempt_id", "required"},
	{"", "attempt-without-number", "revoked", put("att_1", "attempt_id"), "/attempt", "dependentRequired/attempt_id"},
	{"", "attempt-nought", "sent", put(0, "attempt"), "/attempt", "minimum"},
	{"", "event-type-of-another-state", "sent", put("action.completed", "event_type"), "/event_type", "const"},
	{"", "timeout-called-failed", "timeout", both(put("failed", "state"), put("action.timeout", "event_type")), "/state", "enum"},
	{"", "completed-without-outcome", "completed-retry", put(nil, "outcome"), "/outcome", "required"},
	{"", "completed-without-status", "completed-ssh", both(put(nil, "outcome", "exit_status"), put("unknown", "outcome", "remote_effect")), "/outcome/error", "required"},
	{"", "sent-with-outcome", "sent", put(object{"remote_effect": "unknown"}, "outcome"), "/outcome", "false"},
	{"", "revoked-with-outcome", "revoked", put(object{"remote_effect": "none"}, "outcome"), "/outcome", "false"},
	{"", "sent-names-all-attempts", "sent", put([]any{"att_1"}, "attempt_ids"), "/attempt_ids", "false"},
	{"", "outcome-without-effect", "timeout", put(nil, "outcome", "remote_effect"), "/outcome/remote_effect", "required"},
	{"", "timeout-after-bytes-without-effect", "timeout", put("none", "outcome", "remote_effect"), "/outcome/remote_effect", "const"},
	{"", "timeout-confirmed", "timeout", both(put(0, "outcome", "bytes_sent"), put("confirmed", "outcome", "remote_effect")), "/outcome/remote_effect", "enum"},
	{"", "failed-before-send-with-bytes", "failed-before-send", put(1, "outcome", "bytes_sent"), "/outcome/bytes_sent", "const"},
	{"", "failed-before-send-with-effect", "failed-before-send", put("unknown", "outcome", "remote_effect"), "/outcome/remote_effect", "const"},
	{"", "failed-before-send-with-status", "failed-before-send", put(500, "outcome", "http_status"), "/outcome/http_status", "false"},
	{"", "unknown-with-effect", "unknown", put("none", "outcome", "remote_effect"), "/outcome/remote_effect", "const"},
	{"", "unknown-with-status", "unknown", put(200, "outcome", "http_status"), "/outcome/http_status", "false"},
	{"", "http-with-exit-status", "completed-retry", both(put(nil, "outcome", "http_status"), put(0, "outcome", "exit_status")), "/outcome/exit_status", "false"},
	{"", "ssh-with-http-status", "completed-ssh", both(put(nil, "outcome", "exit_status"), put(200, "outcome", "http_status")), "/outcome/http_status", "false"},
	{"", "error-message", "timeout", put("dial tcp: Jane Doe", "outcome", "error"), "/outcome/error", "pattern"},
	{"", "http-without-method", "planned", put(nil, "action", "method"), "/action/method", "required"},
	{"", "http-with-command", "planned", put("ls", "action", "command_template"), "/action/command_template", "false"},
	{"", "ssh-without-command", "planned-ssh", both(put(nil, "action", "command_template"), put(nil, "action", "command_digest")), "/action/command_digest", "required"},
	{"", "ssh-without-account", "planned-ssh", put(nil, "action", "account"), "/action/account", "required"},
	{"", "ssh-with-method", "planned-ssh", put("POST", "action", "method"), "/action/method", "false"},
	{"", "port-nought", "planned", put(0, "action", "port"), "/action/port", "minimum"},
	{"", "host-with-user", "planned", put("root@host", "action", "host"), "/action/host", "pattern"},
	{"", "credential-bearer", "planned", put("Bearer", "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-with-blank", "planned", put("Bearer abc", "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-jwt", "planned", put("eyJhbGciOiJFZERTQSJ9.e30.c2ln", "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-key", "planned", put("AKIAIOSFODNN7EXAMPLE", "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-digest", "planned", put(digest, "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-in-url", "planned", put("vault://user:pass@host/x", "action", "credential_ref"), "/action/credential_ref", "not"},
	{"", "credential-absent", "planned", put(nil, "action", "credential_ref"), "/action/credential_ref", "required"},
	{"", "header-value", "planned", put([]any{"cookie: a=b"}, "action", "header_names"), "/action/header_names/0", "pattern"},
	{"", "header-token", "planned", put([]any{strings.Repeat("a1", 20)}, "action", "header_names"), "/action/header_names/0", "not"},
	{"", "path-with-query", "planned", put("/v1/releases?page=2", "action", "path_template"), "/action/path_template", "pattern"},
	{"", "path-with-token", "planned", put("/v1/eyJhbGciOiJFZERTQSJ9.e30.c2ln", "action", "path_template"), "/action/path_template", "not"},
	{"", "command-with-password", "planned-ssh", put("mysql --password=x", "action", "command_template"), "/action/command_template", "not"},
	{"", "command-of-several-lines", "planned-ssh", put("ls\nrm", "action", "command_template"), "/action/command_template", "pattern"},
	{"", "command-too-long", "planned-ssh", put(strings.Repeat("x", 1025), "action", "command_template"), "/action/command_template", "maxLength"},
	{"", "identity-that-reorders", "planned", put("rotucexe\u202eeu", "actor", "identity"), "/actor/identity", "pattern"},
	{"", "identity-that-controls", "planned", put("executor\u009b2J", "actor", "identity"), "/actor/identity", "pattern"},
	{"", "account-with-password", "planned-ssh", put("deploy:secret", "action", "account"), "/action/account", "pattern"},
	{"", "redaction-absent", "planned", put(nil, "action", "redaction"), "/action/redaction", "required"},
	{"", "body", "planned", put("x", "action", "body"), "/action", "additionalProperties"},
	{"", "arguments", "planned", put(object{"environment": "prod"}, "requested", "arguments"), "/requested", "additionalProperties"},
	{"", "size-without-digest", "planned", put(nil, "requested", "arguments_digest"), "/requested/arguments_digest", "dependentRequired/arguments_canonicalization"},
	{"", "job-without-origin", "sent-delegated", put(nil, "linked_span"), "/linked_span", "required"},
	{"", "job-without-start", "sent-delegated", put(nil, "actor", "started_at"), "/actor/started_at", "required"},
	{"", "token-of-another-form", "planned", put("idem_1", "idempotency_token"), "/idempotency_token", "pattern"},
	{"", "id-like-a-digest", "planned", put("sha256:abc", "action_id"), "/action_id", "not"},
	{"", "rule.own_parent", "planned", put(span, "correlation", "parent_span_id"), "/correlation/parent_span_id", ""},
	{"", "rule.own_parent_event", "planned", both(put("evt_1", "event_id"), put("evt_1", "correlation", "parent_event_id")), "/correlation/parent_event_id", ""},
	{"", "rule.action_id_of_span", "planned", both(put(span, "action_id"), put(record.IdempotencyToken(span), "idempotency_token")), "/action_id", ""},
	{"", "rule.idempotency_token_not_derived", "planned", put("idem_"+strings.Repeat("0", 32), "idempotency_token"), "/idempotency_token", ""},
	{"", "rule.attempt_ids_incomplete", "completed-retry", put([]any{"att_2"}, "attempt_ids"), "/attempt_ids", ""},
	{"", "rule.linked_to_itself", "sent-delegated", put(span, "linked_span", "span_id"), "/linked_span/span_id", ""},
}

var approvalBreaches = []breach{
	{"", "requested-without-expiry", "requested", put(nil, "expires_at"), "/expires_at", "required"},
	{"", "requested-without-binds", "requested", put(nil, "binds"), "/binds", "required"},
	{"", "requested-and-decided", "requested", put("approved", "decision"), "/decision", "false"},
	{"", "requested-with-reviewer", "requested", put(object{"identity": "a", "role": "b"}, "reviewer"), "/reviewer", "false"},
	{"", "decided-without-reviewer", "decided", put(nil, "reviewer"), "/reviewer", "required"},
	{"", "decided-without-decision", "decided", put(nil, "decision"), "/decision", "required"},
	{"", "reviewer-without-role", "decided", put(nil, "reviewer", "role"), "/reviewer/role", "required"},
	{"", "decision-of-another-word", "decided", put("allow", "decision"), "/decision", "enum"},
	{"", "revoked-and-decided", "revoked", put("rejected", "decision"), "/decision", "false"},
	{"", "revoked-until", "revoked", put(after(900).String(), "expires_at"), "/expires_at", "false"},
	{"", "event-type-of-another-kind", "decided", put("approval.requested", "event_type"), "/event_type", "const"},
	{"", "binds-no-target", "requested", put(nil, "binds", "target"), "/binds/target", "required"},
	{"", "binds-no-method", "requested", put(nil, "binds", "target", "method"), "/binds/target/method", "required"},
	{"", "binds-no-actor", "requested", put(nil, "binds", "actor_identity"), "/binds/actor_identity", "required"},
	{"", "binds-a-credential", "requested", put("ghp_abcdef", "binds", "credential_ref"), "/binds/credential_ref", "not"},
	{"", "summary-too-long", "requested", put(strings.Repeat("x", 513), "effect_summary"), "/effect_summary", "maxLength"},
	{"", "summary-with-token", "requested", put("uses Bearer abc", "effect_summary"), "/effect_summary", "not"},
	{"", "rule.expired_when_requested", "requested", put(after(1).String(), "expires_at"), "/expires_at", ""},
}

var decisionBreaches = []breach{
	{"", "document-without-step", "kyc-review", put(nil, "correlation", "step_id"), "/correlation/step_id", "required"},
	{"", "no-fields", "kyc-review", both(put(object{}, "fields"), put(object{}, "field_provenance")), "/fields", "minProperties"},
	{"", "value", "kyc-review", put("FR", "fields", "residence_country", "value"), "/fields/residence_country", "additionalProperties"},
	{"", "plain-digest-of-a-value", "kyc-review", put(digest, "fields", "residence_country", "value_digest"), "/fields/residence_country/value_digest", "pattern"},
	{"", "outcome-of-nothing", "kyc-review", put(object{}, "outcome"), "/outcome", "minProperties"},
	{"", "boundary-absent", "kyc-review", put(nil, "boundary"), "/boundary", "required"},
	{"", "source-of-another-word", "kyc-review", put(object{"source": "web"}, "field_provenance", "residence_country"), "/field_provenance/residence_country/source", "enum"},
	{"", "two-sources", "kyc-review", put("doc_1", "field_provenance", "residence_country", "document_id"), "/field_provenance/residence_country/document_id", "false"},
	{"", "tool-without-call", "kyc-review", put(nil, "field_provenance", "residence_country", "tool_call_id"), "/field_provenance/residence_country/read_id", "required"},
	{"", "tool-without-path", "kyc-review", put(nil, "field_provenance", "residence_country", "path"), "/field_provenance/residence_country/path", "required"},
	{"", "document-without-checksum", "kyc-review", put(nil, "field_provenance", "id_document_expiry", "checksum_sha256"), "/field_provenance/id_document_expiry/checksum_sha256", "required"},
	{"", "page-nought", "kyc-review", put(0, "field_provenance", "id_document_expiry", "page"), "/field_provenance/id_document_expiry/page", "minimum"},
	{"", "region-with-text", "kyc-review", put("2031-04-30", "field_provenance", "id_document_expiry", "region", "text"), "/field_provenance/id_document_expiry/region", "additionalProperties"},
	{"", "region-of-three", "kyc-review", put([]any{"0", "0", "1"}, "field_provenance", "id_document_expiry", "region", "box"), "/field_provenance/id_document_expiry/region/box", "minItems"},
	{"", "retrieval-without-chunk", "kyc-review", put(nil, "field_provenance", "policy_section", "chunk_id"), "/field_provenance/policy_section/chunk_id", "required"},
	{"", "memory-without-entry", "kyc-review", put(nil, "field_provenance", "preferred_language", "entry_id"), "/field_provenance/preferred_language/entry_id", "required"},
	{"", "model-unmarked", "kyc-review", put(nil, "field_provenance", "source_of_funds_summary", "marked_for_reviewer"), "/field_provenance/source_of_funds_summary/marked_for_reviewer", "required"},
	{"", "content-as-name", "kyc-review", put(object{}, "fields", "Jane Doe lives here"), "/fields", "additionalProperties"},
	{"", "rule.source_without_field", "kyc-review", put(nil, "fields", "residence_country"), "/field_provenance/residence_country", ""},
}

var contextBreaches = []breach{
	{"", "value", "kyc-review", put("FR", "entries", 0, "value"), "/entries/0", "additionalProperties"},
	{"", "plain-digest-of-a-value", "kyc-review", put(digest, "entries", 0, "value_digest"), "/entries/0/value_digest", "pattern"},
	{"", "entry-without-side", "kyc-review", put(nil, "entries", 0, "side"), "/entries/0/side", "required"},
	{"", "side-of-another-word", "kyc-review", put("both", "entries", 0, "side"), "/entries/0/side", "enum"},
	{"", "entry-without-origin", "kyc-review", put(nil, "entries", 0, "origin"), "/entries/0/origin", "required"},
	{"", "entries-of-none", "kyc-review", both(put([]any{}, "entries"), put(nil, "claims")), "/entries", "minItems"},
	{"", "digest-without-form", "kyc-review", put(nil, "context_canonicalization"), "/context_canonicalization", "dependentRequired/context_digest"},
	{"", "digest-absent-without-reason", "not-captured", put(nil, "capture"), "/capture", "required"},
	{"", "form-of-another-word", "kyc-review", put("text", "context_form"), "/context_form", "enum"},
	{"", "left-out-by-name", "kyc-review", put([]any{"ent_4"}, "selection", "left_out"), "/selection/left_out", "type"},
	{"", "claim-unjudged", "kyc-review", put(nil, "claims", 0, "supported"), "/claims/0/supported", "required"},
	{"", "claim-with-text", "kyc-review", put("lives in FR", "claims", 0, "text"), "/claims/0", "additionalProperties"},
	{"", "tool-without-id", "kyc-review", put(nil, "tool_calls_requested", 0, "tool_id"), "/tool_calls_requested/0/tool_id", "required"},
	{"", "rule.entry_id_twice", "kyc-review", put("ent_3", "entries", 1, "entry_id"), "/entries/1/entry_id", ""},
	{"", "rule.derived_from_itself", "kyc-review", put([]any{"ent_9"}, "entries", 1, "derived_from"), "/entries/1/derived_from", ""},
	{"", "rule.claim_id_twice", "kyc-review", put("claim_1", "claims", 1, "claim_id"), "/claims/1/claim_id", ""},
}

func breaches() (all []breach) {
	for kind, list := range map[record.Kind][]breach{
		record.KindAction: actionBreaches, record.KindApproval: approvalBreaches,
		record.KindDecision: decisionBreaches, record.KindContext: contextBreaches,
	} {
		for _, v := range list {
			v.kind = kind
			all = append(all, v)
		}
	}
	return all
}
