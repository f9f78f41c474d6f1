// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func (x *executor) append(steps ...step) []journal.Receipt {
	x.t.Helper()
	receipts, err := x.ledger.AppendStrict(x.t.Context(), drafts(x.t, steps...))
	require.NoError(x.t, err)
	return receipts
}

// refused returns the refusal of steps.
func (x *executor) refused(steps ...step) ledger.Refusal {
	x.t.Helper()
	_, err := x.ledger.AppendStrict(x.t.Context(), drafts(x.t, steps...))
	var refusal *ledger.Refusal
	require.ErrorAs(x.t, err, &refusal)
	return *refusal
}

func (x *executor) reopen() {
	x.t.Helper()
	closeLedger(x.t, x.ledger)
	x.ledger = open(x.t, x.options)
}

// The records of one action that was approved until a minute from the beginning.
var (
	plan      = step{action: "act_1", state: "planned", reach: usual, approval: "apr_1"}
	requested = step{action: "act_1", approval: "apr_1", kind: "requested", reach: usual, expires: newClock().Now().Add(time.Minute).Truncate(time.Second)}
	approval  = step{action: "act_1", approval: "apr_1", kind: "decided", reach: usual, decision: "approved"}
	sending   = step{action: "act_1", attempt: "att_1", number: 1, state: "sent", reach: usual}
	timedOut  = step{action: "act_1", attempt: "att_1", number: 1, state: "timeout", reach: usual}
	again     = step{action: "act_1", attempt: "att_2", number: 2, state: "sent", reach: usual}
)

// with returns a step that reaches for something else.
func (s step) with(change func(*step)) step {
	change(&s)
	return s
}

func TestARefusalNamesTheMemberAndTheEntryThatAreInTheWay(t *testing.T) {
	rejected := approval.with(func(s *step) { s.decision = "rejected" })
	withdrawn := requested.with(func(s *step) { s.kind, s.expires = "revoked", time.Time{} })
	revoked := step{action: "act_1", state: "revoked", reach: usual}
	for name, test := range map[string]struct {
		before []step
		refuse step
		// way is the step that is in the way, -1 if none is.
		way           int
		code, pointer string
	}{
		"not planned":    {nil, sending, -1, ledger.CodeNotPlanned, "/action_id"},
		"other host":     {[]step{plan, requested, approval}, sending.with(func(s *step) { s.reach.host = "evil.example" }), 0, ledger.CodeChanged, "/action/host"},
		"other secret":   {[]step{plan, requested, approval}, sending.with(func(s *step) { s.reach.credential = "vault:root" }), 0, ledger.CodeChanged, "/action/credential_ref"},
		"other argument": {[]step{plan, requested, approval}, sending.with(func(s *step) { s.reach.arguments = "sha256:" + strings.Repeat("3", 64) }), 0, ledger.CodeChanged, "/requested/arguments_digest"},
		"other process":  {[]step{plan, requested, approval}, sending.with(func(s *step) { s.reach.identity = "spiffe://other" }), 1, ledger.CodeNotBound, "/actor/identity"},
		"not requested":  {[]step{plan}, sending, -1, ledger.CodeNotBound, "/approval_id"},
		"not decided":    {[]step{plan, requested}, sending, 1, ledger.CodeNotBound, "/approval_id"},
		"rejected":       {[]step{plan, requested, rejected}, sending, 2, ledger.CodeNotBound, "/approval_id"},
		"withdrawn":      {[]step{plan, requested, approval, withdrawn}, sending, 3, ledger.CodeApprovalRevoked, "/approval_id"},
		"revoked":        {[]step{plan, requested, approval, revoked}, sending, 3, ledger.CodeActionRevoked, "/action_id"},
		"revoked before": {[]step{revoked}, plan, 0, ledger.CodeActionRevoked, "/action_id"},
		"asked for but not named": {
			[]step{plan.with(func(s *step) { s.approval = "" }), requested}, sending, 1, ledger.CodeNotBound, "/approval_id",
		},
		"for another action": {
			[]step{plan, requested, approval, plan.with(func(s *step) { s.action = "act_2" })},
			sending.with(func(s *step) { s.action = "act_2" }), 1, ledger.CodeNotBound, "/action_id",
		},
		"requested for a host that is not planned": {
			[]step{plan, requested.with(func(s *step) { s.reach.host = "staging.example" }), approval.with(func(s *step) { s.reach.host = "staging.example" })},
			sending, 1, ledger.CodeNotBound, "/action/host",
		},
		"decided for another host": {
			[]step{plan, requested}, approval.with(func(s *step) { s.reach.host = "evil.example" }), 1, ledger.CodeNotBound, "/binds/target/host",
		},
		"decided before requested": {[]step{plan}, approval, -1, ledger.CodeNotBound, "/approval_id"},
		"decided twice":            {[]step{plan, requested, rejected}, approval, 2, ledger.CodeConflict, ""},
		"attempt open":             {[]step{plan, requested, approval, sending}, again, 3, ledger.CodeAttemptOpen, "/attempt"},
		"number taken":             {[]step{plan, requested, approval, sending, timedOut}, again.with(func(s *step) { s.number = 1 }), 3, ledger.CodeAttemptTaken, "/attempt"},
		"number left out":          {[]step{plan, requested, approval}, again, -1, ledger.CodeAttemptTaken, "/attempt"},
		"attempt over":             {[]step{plan, requested, approval, sending, timedOut}, timedOut.with(func(s *step) { s.state = "unknown" }), 4, ledger.CodeAttemptOver, "/attempt_id"},
		"never sent":               {[]step{plan, requested, approval}, timedOut, -1, ledger.CodeAttemptNotSent, "/attempt_id"},
		"outcome of another number": {
			[]step{plan, requested, approval, sending}, timedOut.with(func(s *step) { s.number = 2 }), 3, ledger.CodeAttemptNotSent, "/attempt",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, 1)
			want := ledger.Refusal{Code: test.code, Pointer: test.pointer}
			var receipts []journal.Receipt
			if len(test.before) > 0 {
				receipts = x.append(test.before...)
			}
			if test.way >= 0 {
				want.EventID = receipts[test.way].EventID
			}
			require.Equal(t, want, x.refused(test.refuse))
			x.reopen()
			require.Equal(t, want, x.refused(test.refuse))
			if len(test.before) > 0 { // and within one batch, of which nothing is written then
				x := newExecutor(t, 1)
				got := x.refused(append(test.before[:len(test.before):len(test.before)], test.refuse)...)
				require.Equal(t, []any{len(test.before), test.code, test.pointer}, []any{got.Index, got.Code, got.Pointer})
				closeLedger(t, x.ledger)
				require.Len(t, audit(t, x.fs, dir), 2)
			}
		})
	}
}

func TestAnApprovalCoversAllAttemptsOfItsActionUntilItExpires(t *testing.T) {
	x := newExecutor(t, 1)
	receipts := x.append(plan, requested, approval, sending)
	x.append(timedOut, again)
	x.append(again.with(func(s *step) { s.state = "unknown" }))
	x.clock.advance(time.Minute)
	third := sending.with(func(s *step) { s.attempt, s.number = "att_3", 3 })
	require.Equal(t, ledger.Refusal{Code: ledger.CodeNotBound, Pointer: "/approval_id", EventID: receipts[1].EventID, Reason: ledger.ReasonExpired}, x.refused(third))

	// What was accepted before is a repeat, whatever happened since.
	retry := x.append(plan, requested, timedOut)
	require.True(t, retry[0].Repeat)
	require.Equal(t, receipts[0], asFirst(retry[0]))

	// A new decision is needed, and can be named by the attempt.
	renew := func(s *step) { s.approval, s.expires = "apr_2", time.Time{} }
	x.append(requested.with(renew), approval.with(renew))
	require.Equal(t, ledger.CodeNotBound, x.refused(third).Code)
	x.append(third.with(renew))
	x.append(third.with(func(s *step) { s.state = "unknown" }), third.with(func(s *step) { s.state, s.attempts = "completed", "att_1 att_2 att_3" }))
	require.Equal(t, ledger.CodeAttemptOver, x.refused(third.with(func(s *step) { s.state = "timeout" })).Code)
}

// asFirst returns the receipt that a repeat was known by first.
func asFirst(r journal.Receipt) journal.Receipt {
	r.Repeat = false
	return r
}

func TestAppendRefusesActionsToo(t *testing.T) {
	x := newExecutor(t, 1)
	_, err := x.ledger.Append(t.Context(), drafts(t, sending))
	require.Equal(t, &ledger.Refusal{Code: ledger.CodeNotPlanned, Pointer: "/action_id"}, err)
	_, err = x.ledger.Append(t.Context(), []*record.Draft{bodyDraft(t, record.KindAction, map[string]any{"action_id": "a", "state": "perhaps"})})
	require.ErrorContains(t, err, "record 0: record of an action or approval has a state that contract 11 does not know")
}

func TestAnEventIDNamesOneEntry(t *testing.T) {
	x := newExecutor(t, 1)
	named := func(event, decision string) *record.Draft {
		return bodyDraft(t, record.KindDecision, map[string]any{
			"decision_id": decision, "event_id": event, "event_type": "decision.made", "occurred_at": "2026-11-30T00:00:00.000000000Z",
		})
	}
	_, err := x.ledger.AppendStrict(t.Context(), []*record.Draft{named("evt-1", "dec_1"), named("evt-2", "dec_1")})
	require.NoError(t, err)
	want := &ledger.Refusal{Code: ledger.CodeConflict, Pointer: "/event_id", EventID: "evt-1"}
	_, err = x.ledger.AppendStrict(t.Context(), []*record.Draft{named("evt-1", "dec_2")})
	require.Equal(t, want, err)
	x.reopen()
	_, err = x.ledger.AppendStrict(t.Context(), []*record.Draft{named("evt-1", "dec_2")})
	require.Equal(t, want, err)
	_, err = x.ledger.AppendStrict(t.Context(), []*record.Draft{named("evt-3", "dec_3"), named("evt-3", "dec_4")})
	require.Equal(t, &ledger.Refusal{Index: 1, Code: ledger.CodeConflict, Pointer: "/event_id", EventID: "evt-3"}, err)
	minted := x.append(plan)
	_, err = x.ledger.AppendStrict(t.Context(), []*record.Draft{named(minted[0].EventID, "dec_5")})
	require.Equal(t, &ledger.Refusal{Code: ledger.CodeConflict, Pointer: "/event_id", EventID: minted[0].EventID}, err)
}

func TestAnApprovalThatNoKeyOfTheJournalSignedPermitsNothing(t *testing.T) {
	x := newExecutor(t, 1)
	x.options.GroupSignatures = false
	x.reopen()
	x.append(plan, requested, approval)
	var told []string
	for n := range 40 {
		x.append(plan.with(func(s *step) { s.action = "other_" + itoa(uint64(n)) }))
	}
	closeLedger(t, x.ledger)
	segments := segmentsOf(t, x.fs)
	require.Greater(t, len(segments), 2)
	path := dir + "/" + segment.Name(segments[0].First)
	decided := entryOf(t, stored(t, x.fs), "approval.decided")
	text := x.fs.Bytes(path)
	value := []byte(decided.Integrity.Signature.Value)
	require.Equal(t, 1, bytes.Count(text, value))
	x.fs.Put(path, bytes.Replace(text, value, []byte(base64.StdEncoding.EncodeToString(make([]byte, 64))), 1))

	x.options.Observer.Failed = func(err error) { told = append(told, err.Error()) }
	x.ledger = open(t, x.options)
	require.Equal(t, ledger.CodeNotBound, x.refused(sending).Code)
	require.Equal(t, []string{"approval.decided in entry " + itoa(decided.Header.Sequence) +
		" permits nothing: no key signed it that the journal has or handed over from; run: readtrail verify"}, told)
}

func TestRulesHoldAcrossAChangeOfKeys(t *testing.T) {
	x := newExecutor(t, 1)
	x.append(plan, requested, approval)
	require.NoError(t, x.ledger.Rotate(t.Context(), second))
	x.append(plan.with(func(s *step) { s.action = "act_2" }))
	require.NoError(t, x.ledger.Rotate(t.Context(), third))
	x.append(sending)
	x.options.Signer = third
	require.NoError(t, os.RemoveAll(x.options.IndexDir))
	x.reopen()
	x.append(timedOut, again)
}

func TestWhatWasPrunedIsNeitherAPlanNorAnApproval(t *testing.T) {
	x := &executor{t: t, fs: crashfs.New(1), clock: newClock()}
	x.options = optionsFor(t, x.fs)
	x.options.Now, x.options.MaxSegmentBytes = x.clock.Now, 6_000
	x.ledger = open(t, x.options)
	receipts := x.append(plan, requested, approval, sending)
	for n := range 10 {
		x.append(plan.with(func(s *step) { s.action = "other_" + itoa(uint64(n)) }))
	}
	x.clock.advance(10 * retention.Day)
	segments := segmentsOf(t, x.fs)
	require.Greater(t, len(segments), 2)
	_, err := x.ledger.Prune(t.Context(), ledger.Pruning{
		FirstSequence: segments[len(segments)-1].First, KeepDays: 5, Checkpoint: checkpointOf(t, signer, stored(t, x.fs)),
	})
	require.NoError(t, err)
	for _, lose := range []bool{false, true} {
		_, err = x.ledger.Find(t.Context(), receipts[0].EventID)
		require.ErrorIs(t, err, ledger.ErrPruned)
		require.Equal(t, ledger.CodeNotPlanned, x.refused(again).Code)
		require.Equal(t, ledger.CodeAttemptNotSent, x.refused(timedOut).Code)
		require.Equal(t, ledger.CodeNotBound, x.refused(approval.with(func(s *step) { s.decision = "rejected" })).Code)
		if lose {
			require.NoError(t, os.RemoveAll(x.options.IndexDir))
		}
		x.reopen()
	}
	// The action begins anew.
	x.append(plan.with(func(s *step) { s.approval = "" }), sending)
}
