// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/record"
)

// Codes of an [Error] beside those of the journal (docs/api.md), which are passed on
// as they come: approval_not_bound, approval_revoked, action_changed, action_revoked,
// conflict and so on. They also stand as `outcome.error` in records.
const (
	CodeNoCall                = "no_call"                // the request's context holds no Call, or one that names no execution
	CodeInlineCredential      = "inline_credential"      // the request brings a credential instead of a reference
	CodeHostOverride          = "host_override"          // the request asks for another host than it goes to
	CodeBodyTooLarge          = "body_too_large"         // the body exceeds MaxBodyBytes
	CodeBodyUnreadable        = "body_unreadable"        // reading the body failed
	CodeActionTaken           = "action_taken"           // a Call with an action id is one action; this is another request
	CodeResolutionFailed      = "resolution_failed"      // the resolver gave no target
	CodeRedirectRefused       = "redirect_refused"       // a redirect to another target, which nobody decided on
	CodeCommandInvalid        = "command_invalid"        // the command's template and values do not fit together
	CodeJournalUntrusted      = "journal_untrusted"      // the journal showed a certificate that is not trusted: nothing was sent
	CodeRecordUnavailable     = "record_unavailable"     // the journal did not answer: nothing was sent
	CodeOutcomeUnrecorded     = "outcome_unrecorded"     // it was sent, but its outcome could not be written
	CodeAnswerLost            = "answer_lost"            // it was answered, but the answer did not reach the caller; only from Failure
	CodeAttemptUnkept         = "attempt_unkept"         // the executor's own note of the attempt could not be written
	CodeApprovalRejected      = "approval_rejected"      // a reviewer said no
	CodeApprovalUnavailable   = "approval_unavailable"   // no decision was to be had
	CodeCredentialUnavailable = "credential_unavailable" // the reference led to no credential
	CodeConnectionFailed      = "connection_failed"      // no byte of the request left
	CodeConnectionLost        = "connection_lost"        // bytes left, and no answer came
	CodeTimeout               = "timeout"                // the time was over
	CodeCanceled              = "canceled"               // the caller gave up
	CodeHostKeyRefused        = "host_key_refused"       // the SSH server showed another key
	CodeLoginRefused          = "login_refused"          // the SSH server took none of the identity's keys
	CodeExecutorLost          = "executor_lost"          // the process ended before it could say
)

// Error says that an action was not carried out, or that what came of it is not
// known. Its text holds ids, codes and pointers of the journal, never content: what lies
// behind it, which may quote a server, is reached by errors.Is and errors.As only.
type Error struct {
	// Code is one of the constants, or a code of the journal.
	Code string
	// State is what the attempt came to: failed_before_send says that nothing left;
	// timeout and unknown that something may have; completed that it was answered. "" if
	// there was no attempt.
	State record.ActionState
	// SentBefore says that something went out under the same Call before, or may have: an
	// attempt of the action, the request that was answered with a redirect.
	SentBefore bool
	// ActionID and AttemptID are "" where there was none yet.
	ActionID, AttemptID string
	// Recorded says that the journal has the outcome. If it has not, the attempt
	// stands open there, which reads "may have gone out"; see [Recover].
	Recorded bool

	cause error
}

func (e *Error) Error() string {
	text := "boundary: "
	if e.ActionID != "" {
		text += "action " + e.ActionID + ": "
	}
	if e.AttemptID != "" {
		text += "attempt " + e.AttemptID + ": "
	}
	text += e.Code
	var refused *Refusal
	if errors.As(e.cause, &refused) && refused.Pointer != "" {
		text += " at " + refused.Pointer
	}
	switch {
	case !e.sent() && e.SentBefore:
		return text + "; nothing was sent this time, what was sent before may have had an effect"
	case !e.sent():
		return text + "; nothing was sent"
	case e.State == record.ActionCompleted:
		return text + "; it was sent and answered, and may have had an effect"
	default:
		return text + fmt.Sprintf("; state %s, it may have had an effect", e.State)
	}
}

// sent reports whether something of what the error is about left, or may have.
func (e *Error) sent() bool { return e.State != "" && e.State != record.ActionFailedBeforeSend }

// MayHaveHadEffect reports whether anything of the Call left so far, or may have. Only
// if it did not may an agent be told that nothing was sent.
func (e *Error) MayHaveHadEffect() bool { return e.sent() || e.SentBefore }

// Unwrap returns what lies behind the error. Do not print it where content must not
// go.
func (e *Error) Unwrap() error { return e.cause }

// Timeout makes the error one of net.Error's kind for the caller's own rules.
func (e *Error) Timeout() bool { return e.Code == CodeTimeout }

// Temporary is the rest of net.Error. An action is never safe to repeat blindly.
func (e *Error) Temporary() bool { return false }

// codeOf is the code to report for an error of the journal.
func codeOf(err error) string {
	var refused *Refusal
	if errors.As(err, &refused) {
		return refused.Code
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return CodeJournalUntrusted
	}
	return CodeRecordUnavailable
}
