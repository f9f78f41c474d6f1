// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
)

// Action is the body of an action_record: one state of one attempt of an action
// that crosses a trust boundary (requirements D2 to D6, contract 11). It holds both
// sides of resolution: what was asked (Requested) and what the executor does
// (Target). Credentials, bodies, commands and values of headers never stand in it.
type Action struct {
	Header `json:",inline"`
	// ActionID names the intended operation. It is never the id of a span and
	// stays the same over all attempts.
	ActionID string `json:"action_id"`
	// AttemptID names one send. It is absent while the action is planned.
	AttemptID string `json:"attempt_id,omitzero"`
	// Attempt counts the sends of the action from 1; 0 is absent.
	Attempt  int64       `json:"attempt,omitzero"`
	EdgeType EdgeType    `json:"edge_type"`
	State    ActionState `json:"state"`
	Actor    Actor       `json:"actor"`
	// Requested is what the agent asked for, before resolution.
	Requested Requested `json:"requested,omitzero"`
	// Target is what the executor resolved the request to.
	Target ActionTarget `json:"action"`
	// IdempotencyToken is IdempotencyToken(ActionID).
	IdempotencyToken string `json:"idempotency_token"`
	// ApprovalID is the approval that the executor relies on.
	ApprovalID string `json:"approval_id,omitzero"`
	// Outcome is what is known of the attempt; the wrapper tool's own outcome
	// stands elsewhere and may disagree (requirement D1).
	Outcome *Outcome `json:"outcome,omitzero"`
	// AttemptIDs are those of all attempts in their order; the last entry of an
	// action has them.
	AttemptIDs []string `json:"attempt_ids,omitzero"`
	// LinkedSpan is the span that planned a delegated job (requirement D4). The
	// worker's own span stands in the correlation.
	LinkedSpan *Link `json:"linked_span,omitzero"`
}

// ActionState is where an attempt stands (requirement D3).
type ActionState string

// The states of contract 11.
const (
	// ActionPlanned: resolved and durable before anything is sent.
	ActionPlanned ActionState = "planned"
	// ActionSent: about to leave; durable before the first byte does.
	ActionSent ActionState = "sent"
	// ActionCompleted: the other side answered.
	ActionCompleted ActionState = "completed"
	// ActionTimeout: bytes left and no answer came in time. What the other side
	// did is not known.
	ActionTimeout ActionState = "timeout"
	// ActionFailedBeforeSend: no byte left.
	ActionFailedBeforeSend ActionState = "failed_before_send"
	// ActionRevoked: it may not be sent any more.
	ActionRevoked ActionState = "revoked"
	// ActionUnknown: the executor lost sight of the attempt.
	ActionUnknown ActionState = "unknown"
)

// EventType returns the event type of an action's entry in this state.
func (s ActionState) EventType() string { return "action." + string(s) }

// IsOutcome reports whether the state says how an attempt ended.
func (s ActionState) IsOutcome() bool {
	switch s {
	case ActionCompleted, ActionTimeout, ActionFailedBeforeSend, ActionUnknown:
		return true
	default:
		return false
	}
}

// Actor is the process that executes (requirements D2, D4).
type Actor struct {
	// Kind is a token such as agent_process, worker or gateway.
	Kind string `json:"kind"`
	// Identity is the name by which the process is known: a workload identity, a
	// certificate's subject.
	Identity string `json:"identity"`
	// StartedAt is when the process began; a worker that was restarted has
	// another one.
	StartedAt Time `json:"started_at,omitzero"`
}

// Requested is what the agent asked for (requirement D6).
type Requested struct {
	ToolID                    string `json:"tool_id,omitzero"`
	ArgumentsDigest           string `json:"arguments_digest,omitzero"`
	ArgumentsCanonicalization string `json:"arguments_canonicalization,omitzero"`
	// ArgumentsSize is in bytes; 0 is absent.
	ArgumentsSize int64 `json:"arguments_size,omitzero"`
}

// ActionTarget is the operation after resolution (requirement D2).
type ActionTarget struct {
	// Channel is http, ssh or another token.
	Channel Channel `json:"channel"`
	// Host is a name, an IPv4 or an IPv6 address without brackets.
	Host string `json:"host"`
	Port int64  `json:"port"`
	// Protocol is what is spoken on the channel: https, ssh.
	Protocol string `json:"protocol"`
	// Method is that of an HTTP request.
	Method string `json:"method,omitzero"`
	// CommandTemplate is a command with parameters in place of values.
	CommandTemplate string `json:"command_template,omitzero"`
	// CommandDigest is that of the command's bytes as they are sent.
	CommandDigest string `json:"command_digest,omitzero"`
	// PathTemplate is the path of a request with parameters in place of values
	// and without a query.
	PathTemplate string `json:"path_template,omitzero"`
	// Account is the name on the other side.
	Account string `json:"account,omitzero"`
	// CredentialRef names where the credential is kept, NoCredential if none is
	// used. Never the credential, nor a digest of it (requirement H3).
	CredentialRef string `json:"credential_ref"`
	// HeaderNames are names of headers, never values.
	HeaderNames []string `json:"header_names,omitzero"`
	// BodyDigest is that of the body's bytes as they are sent.
	BodyDigest string `json:"body_digest,omitzero"`
	// Redaction says what was left out of the record on purpose, as a token:
	// RedactionNone if nothing was.
	Redaction string `json:"redaction"`
}

// Channel is the kind of way out of the process.
type Channel string

// The channels that have rules of their own.
const (
	ChannelHTTP Channel = "http"
	ChannelSSH  Channel = "ssh"
)

// NoCredential is the credential_ref of an action that uses none.
const NoCredential = "none"

// The redaction states that this version writes itself.
const (
	// RedactionNone: the operation had nothing that the record lacks.
	RedactionNone = "none"
	// RedactionValues: values of headers, parameters, query and body were left
	// out.
	RedactionValues = "values_left_out"
)

// Outcome is what is known of an attempt's end.
type Outcome struct {
	// HTTPStatus is 100 to 599; 0 is absent.
	HTTPStatus int64 `json:"http_status,omitzero"`
	// ExitStatus is that of a command; 0 is a status, nil is not known.
	ExitStatus *int64 `json:"exit_status,omitzero"`
	// Error is the class of the error, a token and never a message.
	Error string `json:"error,omitzero"`
	// BytesSent are those that this side wrote; 0 is a number, nil is not known.
	// It tells a failed connection from a timeout after writing and proves nothing
	// about the other side.
	BytesSent    *int64       `json:"bytes_sent,omitzero"`
	RemoteEffect RemoteEffect `json:"remote_effect"`
}

// RemoteEffect is what is known of the effect on the other side.
type RemoteEffect string

// The effects of contract 11.
const (
	EffectNone      RemoteEffect = "none"
	EffectUnknown   RemoteEffect = "unknown"
	EffectConfirmed RemoteEffect = "confirmed"
)

// The lengths of an idempotency token.
const (
	idempotencyPrefix = "idem_"
	idempotencyBytes  = 16
)

// IdempotencyToken derives the token that every attempt of an action sends, so that
// the other side knows a repeat whatever restarts on this one (requirement D2):
// idem_ and the first 32 lowercase hex digits of the SHA-256 of
// "readtrail/idempotency/v1", LF, and the action id.
func IdempotencyToken(actionID string) string {
	sum := sha256.Sum256([]byte("readtrail/idempotency/v1\n" + actionID))
	return idempotencyPrefix + hex.EncodeToString(sum[:idempotencyBytes])
}
