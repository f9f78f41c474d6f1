// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// lostAnswer is a journal whose answer to sent is lost. What it says to the repeat is
// that the approval was revoked meanwhile.
type lostAnswer struct{ Journal }

func (l lostAnswer) Append(ctx context.Context, records ...Record) ([]Receipt, error) {
	receipts, err := l.Journal.Append(ctx, records...)
	if a, ok := records[0].Body.(*record.Action); ok && a.State == record.ActionSent && err == nil {
		return nil, &Refusal{Status: http.StatusConflict, Code: "approval_revoked"}
	}
	return receipts, err
}

func TestAPermissionThatIsOverWhenItIsAskedForAgainIsNone(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Journal = lostAnswer{tr.Executor.Journal}
	_, err := post(t, tr, aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, "approval_revoked", e.Code)
	require.False(t, e.MayHaveHadEffect())
	require.Empty(t, target.requests)
	require.Equal(t, []string{"planned", "sent", "failed_before_send"}, f.states())
	sent, ended := f.all()[1].Action, f.all()[2].Action
	require.Equal(t, sent.AttemptID, ended.AttemptID)
	require.Equal(t, sent.Target, ended.Target)
	require.Equal(t, []string{sent.AttemptID}, ended.AttemptIDs)
}
