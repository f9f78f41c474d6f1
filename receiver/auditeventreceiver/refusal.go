// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"net/http"

	"github.com/readtrail/readtrail/internal/ledger"
)

// refusals are title and detail of what the journal refuses, by its codes (requirements
// D3, D7; contract 11). Each is a 409: the request is well-formed and contradicts what
// stands in the journal.
var refusals = map[string]struct{ title, detail string }{
	ledger.CodeConflict:        {"Another record has this id", "the id stands in the journal with another body, see event_id; a corrected record needs an id of its own"},
	ledger.CodeNotPlanned:      {"The action was not planned", "no planned record of this action stands in the journal; write it before sent"},
	ledger.CodeChanged:         {"The action is not the one that was planned", "what pointer names is not as in the planned record, or in the sent record of which this is the outcome, see event_id; another action needs a plan of its own"},
	ledger.CodeUnreadable:      {"A record of the action cannot be read", "a record about this action, see event_id, has a schema version that this collector does not know and that may forbid it; plan a new action, or send with a collector that knows it"},
	ledger.CodeActionRevoked:   {"The action is revoked", "a revoked record of this action stands in the journal, see event_id; it must not be sent"},
	ledger.CodeElsewhere:       {"The action stands in another journal", "another retention class of the organization has records of this action, see event_id; all records of an action and its approvals go to one class"},
	ledger.CodeNotBound:        {"No approval covers this", "there is no decided and approved approval that binds exactly this and has not expired; request a new one"},
	ledger.CodeApprovalRevoked: {"The approval is revoked", "the approval was revoked, see event_id; request a new one"},
	ledger.CodeAttemptTaken:    {"The attempt is another one's", "this attempt number or attempt_id is taken, see event_id; another executor may be sending"},
	ledger.CodeAttemptOpen:     {"The attempt before has no outcome", "write the outcome of the attempt before first, unknown if it is not known"},
	ledger.CodeAttemptOver:     {"The attempt has an outcome", "the outcome of this attempt stands in the journal, see event_id"},
	ledger.CodeAttemptsDiffer:  {"The attempts are others", "attempt_ids are those of all attempts of the action, in order, see pointer; a completed record has them"},
	ledger.CodeAttemptNotSent:  {"The attempt was not sent", "no sent record of this attempt stands in the journal; without one it can only be failed_before_send"},
}

// reasons are the details of refusals whose code has several.
var reasons = map[string]string{
	ledger.ReasonElsewhere: "the id stands in another retention class of the organization, see event_id, with the same body or another; repeats go to the class of the first",
	ledger.ReasonExpired:   "the approval has expired by the journal's clock, see expires_at of the entry event_id; compare the clocks if it was to hold longer, and request a new one",
}

// refusedBy is the answer when a record is not one that the journal takes.
// Of says of which record each draft is.
func refusedBy(r *ledger.Refusal, records []incoming, of []int) *problem {
	said, known := refusals[r.Code]
	if !known {
		said.title, said.detail = "The journal does not take the record", "a rule of the journal forbids it, see code"
	}
	if detail, has := reasons[r.Reason]; has {
		said.detail = detail
	}
	return &problem{
		Type: problemType + r.Code, Title: said.title, Status: http.StatusConflict, Detail: said.detail, Code: r.Code,
		Pointer: fragment(records[of[r.Index]].pointer + r.Pointer), EventID: r.EventID,
	}
}
