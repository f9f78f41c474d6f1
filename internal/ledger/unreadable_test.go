// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/record"
)

// Whoever goes back to an older collector has entries that it cannot read. One of them
// may be the revocation.
func TestNothingIsSentPastARecordThatCannotBeRead(t *testing.T) {
	const version = "2.0.0"
	revoked := step{action: "act_1", state: "revoked", reach: usual}
	withdrawn := requested.with(func(s *step) { s.kind = "revoked" })
	perhaps := map[string]any{"action_id": "act_1", "state": "perhaps", "event_type": "action.perhaps", "occurred_at": "2026-11-30T00:00:00.000000000Z"}
	for name, draft := range map[string]*record.Draft{
		"a revocation of the action":   versionDraft(t, record.KindAction, version, revoked.body()),
		"a revocation of the approval": versionDraft(t, record.KindApproval, version, withdrawn.body()),
		"something of a new kind":      versionDraft(t, record.KindAction, version, perhaps),
	} {
		t.Run(name, func(t *testing.T) {
			x := newExecutor(t, 1)
			x.append(plan, requested, approval)
			unreadable, err := x.ledger.AppendStrict(t.Context(), []*record.Draft{draft})
			require.NoError(t, err)
			want := ledger.Refusal{Code: ledger.CodeUnreadable, Pointer: "/action_id", EventID: unreadable[0].EventID}
			require.Equal(t, want, x.refused(sending))
			x.reopen()
			require.Equal(t, want, x.refused(sending))
			closeLedger(t, x.ledger)
			require.NoError(t, os.RemoveAll(x.options.IndexDir))
			x.ledger = open(t, x.options)
			require.Equal(t, want, x.refused(sending))
			x.append(step{action: "act_1", state: "failed_before_send", reach: usual}, plan.with(func(s *step) { s.action, s.approval = "act_2", "" }),
				sending.with(func(s *step) { s.action = "act_2" }))
		})
	}
}

func TestAPlanThatCannotBeReadPermitsNothing(t *testing.T) {
	x := newExecutor(t, 1)
	require.NoError(t, x.appendDrafts(versionDraft(t, record.KindAction, "1.1.0", plan.body())))
	require.Equal(t, ledger.CodeUnreadable, x.refused(sending).Code)
	require.Equal(t, ledger.CodeNotPlanned, x.refused(step{action: "act_1", state: "failed_before_send", reach: usual}).Code)
}

// A collector that could read other versions has taught its index something else.
func TestAnIndexIsThatOfTheVersionsThatTaughtIt(t *testing.T) {
	x := newExecutor(t, 1)
	x.append(plan, sending.with(func(s *step) { s.state = "revoked" }))
	closeLedger(t, x.ledger)
	index, err := repeat.Open(filepath.Join(x.options.IndexDir, "repeats.db"), x.ledger.JournalID(), x.options.DedupWindow)
	require.NoError(t, err)
	require.Zero(t, index.UpTo().Sequence)
	require.NoError(t, index.Close(x.clock.Now()))
	x.ledger = open(t, x.options)
	require.Equal(t, ledger.CodeActionRevoked, x.refused(sending).Code)
}
