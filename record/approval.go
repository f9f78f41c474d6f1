// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// Approval is the body of an approval_record: a request for approval, a decision on
// it or its revocation (requirement D7, contract 11). It covers all attempts of the
// one action that it binds, until it expires.
type Approval struct {
	Header     `json:",inline"`
	ApprovalID string       `json:"approval_id"`
	RequestID  string       `json:"request_id"`
	Kind       ApprovalKind `json:"kind"`
	// Binds is what the approval is for and nothing else.
	Binds Binds `json:"binds"`
	// EffectSummary is a short statement of effects that the requester wrote for
	// the reviewer.
	EffectSummary string    `json:"effect_summary,omitzero"`
	RequiredRole  string    `json:"required_role,omitzero"`
	Reviewer      *Reviewer `json:"reviewer,omitzero"`
	Decision      Verdict   `json:"decision,omitzero"`
	// ExpiresAt is when the approval ends.
	ExpiresAt Time `json:"expires_at,omitzero"`
}

// ApprovalKind is the step of an approval.
type ApprovalKind string

// The kinds of contract 11.
const (
	ApprovalRequested ApprovalKind = "requested"
	ApprovalDecided   ApprovalKind = "decided"
	ApprovalRevoked   ApprovalKind = "revoked"
)

// EventType returns the event type of an approval's entry of this kind.
func (k ApprovalKind) EventType() string { return "approval." + string(k) }

// Verdict is what a reviewer decided.
type Verdict string

// The verdicts of contract 11.
const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected"
)

// Reviewer is the person who decided. That the person held the role then is checked
// against a list from outside (requirement E2).
type Reviewer struct {
	Identity string `json:"identity"`
	Role     string `json:"role"`
}

// Binds is what an approval is bound to. If one of it differs when the action is
// sent, the approval is void.
type Binds struct {
	ActionID        string      `json:"action_id"`
	Target          BoundTarget `json:"target"`
	CredentialRef   string      `json:"credential_ref"`
	ArgumentsDigest string      `json:"arguments_digest,omitzero"`
	ActorIdentity   string      `json:"actor_identity"`
}

// BoundTarget is the resolved target as far as an approval binds it.
type BoundTarget struct {
	Channel         Channel `json:"channel"`
	Host            string  `json:"host"`
	Port            int64   `json:"port"`
	Protocol        string  `json:"protocol"`
	Method          string  `json:"method,omitzero"`
	CommandTemplate string  `json:"command_template,omitzero"`
	CommandDigest   string  `json:"command_digest,omitzero"`
	PathTemplate    string  `json:"path_template,omitzero"`
	Account         string  `json:"account,omitzero"`
}

// BindsOf returns what an approval of an action has to bind.
func BindsOf(a *Action) Binds {
	t := &a.Target
	return Binds{
		ActionID: a.ActionID, CredentialRef: t.CredentialRef, ArgumentsDigest: a.Requested.ArgumentsDigest, ActorIdentity: a.Actor.Identity,
		Target: BoundTarget{
			Channel: t.Channel, Host: t.Host, Port: t.Port, Protocol: t.Protocol, Method: t.Method,
			CommandTemplate: t.CommandTemplate, CommandDigest: t.CommandDigest, PathTemplate: t.PathTemplate, Account: t.Account,
		},
	}
}

// Differs returns the JSON Pointer, relative to binds, of the first member in which
// what is bound differs from what is to be done, "" if there is none. What is bound
// leaves out has to be absent: it was not shown to a reviewer (requirement D7).
func (b *Binds) Differs(is *Binds) string {
	bound, done := &b.Target, &is.Target
	for _, m := range []struct {
		pointer string
		differ  bool
	}{
		{"/action_id", b.ActionID != is.ActionID},
		{"/target/channel", bound.Channel != done.Channel},
		{"/target/host", bound.Host != done.Host},
		{"/target/port", bound.Port != done.Port},
		{"/target/protocol", bound.Protocol != done.Protocol},
		{"/target/method", bound.Method != done.Method},
		{"/target/command_template", bound.CommandTemplate != done.CommandTemplate},
		{"/target/command_digest", bound.CommandDigest != done.CommandDigest},
		{"/target/path_template", bound.PathTemplate != done.PathTemplate},
		{"/target/account", bound.Account != done.Account},
		{"/credential_ref", b.CredentialRef != is.CredentialRef},
		{"/arguments_digest", b.ArgumentsDigest != is.ArgumentsDigest},
		{"/actor_identity", b.ActorIdentity != is.ActorIdentity},
	} {
		if m.differ {
			return m.pointer
		}
	}
	return ""
}
