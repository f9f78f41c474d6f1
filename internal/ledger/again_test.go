// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
)

func TestARepeatOfASendingIsAnsweredWhileItIsPermitted(t *testing.T) {
	x := newExecutor(t, 1)
	first := x.append(plan, requested, approval, sending)
	for range 2 {
		again := x.append(plan, requested, approval, sending)
		require.True(t, again[3].Repeat)
		require.Equal(t, first[3], asFirst(again[3]))
		x.reopen()
	}
}

// Whoever sends the bytes of a sending once more may be another executor, or one that
// was away for long: what it is given a receipt of, it sends.
func TestARepeatOfASendingThatIsNotPermittedAnyMoreIsRefused(t *testing.T) {
	withdrawn := requested.with(func(s *step) { s.kind, s.expires = "revoked", time.Time{} })
	revoked := step{action: "act_1", state: "revoked", reach: usual}
	failed := timedOut.with(func(s *step) { s.state = "failed_before_send" })
	for name, test := range map[string]struct {
		then    step
		wait    time.Duration
		code    string
		pointer string
		// way is the record that is in the way: 1 is the request for the approval, 4 what
		// came last.
		way int
	}{
		"the action was revoked":   {revoked, 0, ledger.CodeActionRevoked, "/action_id", 4},
		"the approval was revoked": {withdrawn, 0, ledger.CodeApprovalRevoked, "/approval_id", 4},
		"the approval expired":     {sending, time.Minute, ledger.CodeNotBound, "/approval_id", 1},
		"it failed":                {failed, 0, ledger.CodeAttemptOver, "/attempt_id", 4},
		"it has another outcome":   {timedOut, 0, ledger.CodeAttemptOver, "/attempt_id", 4},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, 1)
			receipts := x.append(plan, requested, approval, sending, test.then)
			x.clock.advance(test.wait)
			want := ledger.Refusal{Code: test.code, Pointer: test.pointer, EventID: receipts[test.way].EventID}
			if test.wait > 0 {
				want.Reason = ledger.ReasonExpired
			}
			require.Equal(t, want, x.refused(sending))
			x.reopen()
			require.Equal(t, want, x.refused(sending))
			if test.then.state == "" || !isOutcome(test.then.state) { // the executor that lost its answer says that it did not send
				x.append(failed)
			}
			// Everything else is a repeat as ever, and a request that says how the attempt
			// ended asks for no permission.
			last := test.then
			if !isOutcome(last.state) {
				last = failed
			}
			for _, r := range x.append(plan, requested, approval, sending, last) {
				require.True(t, r.Repeat)
			}
		})
	}
}
