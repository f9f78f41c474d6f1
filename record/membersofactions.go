// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// This file names the members of actions and approvals in the order of RFC 8785: what an
// executor waits for.

func (a *Action) write(w *writer) {
	w.member("action", &a.Target)
	w.string("action_id", a.ActionID)
	w.member("actor", &a.Actor)
	w.given("approval_id", a.ApprovalID)
	w.number("attempt", a.Attempt)
	w.given("attempt_id", a.AttemptID)
	w.strings("attempt_ids", a.AttemptIDs)
	w.unlessEmpty("correlation", &a.Correlation)
	w.string("edge_type", string(a.EdgeType))
	w.given("event_id", a.EventID)
	w.string("event_type", a.EventType)
	w.string("idempotency_token", a.IdempotencyToken)
	if a.LinkedSpan != nil {
		w.member("linked_span", a.LinkedSpan)
	}
	w.unlessEmpty("observed_by", &a.ObservedBy)
	w.time("occurred_at", a.OccurredAt)
	if a.Outcome != nil {
		w.member("outcome", a.Outcome)
	}
	w.unlessEmpty("requested", &a.Requested)
	w.string("state", string(a.State))
}

func (t *ActionTarget) write(w *writer) {
	w.given("account", t.Account)
	w.given("body_digest", t.BodyDigest)
	w.string("channel", string(t.Channel))
	w.given("command_digest", t.CommandDigest)
	w.given("command_template", t.CommandTemplate)
	w.string("credential_ref", t.CredentialRef)
	w.strings("header_names", t.HeaderNames)
	w.string("host", t.Host)
	w.given("method", t.Method)
	w.given("path_template", t.PathTemplate)
	w.integer("port", t.Port)
	w.string("protocol", t.Protocol)
	w.string("redaction", t.Redaction)
}

func (a *Actor) write(w *writer) {
	w.string("identity", a.Identity)
	w.string("kind", a.Kind)
	w.time("started_at", a.StartedAt)
}

func (o *Outcome) write(w *writer) {
	if o.BytesSent != nil {
		w.integer("bytes_sent", *o.BytesSent)
	}
	w.given("error", o.Error)
	if o.ExitStatus != nil {
		w.integer("exit_status", *o.ExitStatus)
	}
	w.number("http_status", o.HTTPStatus)
	w.string("remote_effect", string(o.RemoteEffect))
}

func (r *Requested) write(w *writer) {
	w.given("arguments_canonicalization", r.ArgumentsCanonicalization)
	w.given("arguments_digest", r.ArgumentsDigest)
	w.number("arguments_size", r.ArgumentsSize)
	w.given("tool_id", r.ToolID)
}

func (a *Approval) write(w *writer) {
	w.string("approval_id", a.ApprovalID)
	w.member("binds", &a.Binds)
	w.unlessEmpty("correlation", &a.Correlation)
	w.given("decision", string(a.Decision))
	w.given("effect_summary", a.EffectSummary)
	w.given("event_id", a.EventID)
	w.string("event_type", a.EventType)
	w.time("expires_at", a.ExpiresAt)
	w.string("kind", string(a.Kind))
	w.unlessEmpty("observed_by", &a.ObservedBy)
	w.time("occurred_at", a.OccurredAt)
	w.string("request_id", a.RequestID)
	w.given("required_role", a.RequiredRole)
	if a.Reviewer != nil {
		w.member("reviewer", a.Reviewer)
	}
}

func (b *Binds) write(w *writer) {
	w.string("action_id", b.ActionID)
	w.string("actor_identity", b.ActorIdentity)
	w.given("arguments_digest", b.ArgumentsDigest)
	w.string("credential_ref", b.CredentialRef)
	w.member("target", &b.Target)
}

func (t *BoundTarget) write(w *writer) {
	w.given("account", t.Account)
	w.string("channel", string(t.Channel))
	w.given("command_digest", t.CommandDigest)
	w.given("command_template", t.CommandTemplate)
	w.string("host", t.Host)
	w.given("method", t.Method)
	w.given("path_template", t.PathTemplate)
	w.integer("port", t.Port)
	w.string("protocol", t.Protocol)
}

func (r *Reviewer) write(w *writer) {
	w.string("identity", r.Identity)
	w.string("role", r.Role)
}
