// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/record"
)

// told makes entries of one journal in their order.
func told(b *Book, states ...any) {
	for i, s := range states {
		e := &Entry{Place: lineage.Place{Organization: "bank", JournalID: "jrn_1", Sequence: uint64(i + 1)}}
		switch s := s.(type) {
		case record.ActionState:
			e.Action = &record.Action{ActionID: "act_1", State: s}
		case record.Action:
			s.ActionID = "act_1"
			e.Action = &s
		case record.Approval:
			s.Binds.ActionID = "act_1"
			e.Approval = &s
		}
		b.Add(e)
	}
}

func attempt(n int64, s record.ActionState) record.Action {
	return record.Action{AttemptID: string(rune('a' + n)), Attempt: n, State: s}
}

func TestWhatNoEntryEndedMayHaveGoneOut(t *testing.T) {
	asked := record.Approval{ApprovalID: "apr_1", Kind: record.ApprovalRequested}
	for name, test := range map[string]struct {
		told []any
		want Standing
	}{
		"asked for only":               {[]any{asked}, NotPlanned},
		"planned":                      {[]any{record.ActionPlanned, asked}, MayHaveGoneOut},
		"sent":                         {[]any{record.ActionPlanned, attempt(1, record.ActionSent)}, MayHaveGoneOut},
		"sent, and the plan elsewhere": {[]any{attempt(1, record.ActionSent)}, MayHaveGoneOut},
		"revoked before":               {[]any{record.ActionPlanned, record.ActionRevoked}, Revoked},
		"revoked after":                {[]any{record.ActionPlanned, attempt(1, record.ActionSent), record.ActionRevoked}, MayHaveGoneOut},
		"failed at once":               {[]any{record.ActionPlanned, record.ActionFailedBeforeSend}, FailedBeforeSend},
		"failed in an attempt":         {[]any{record.ActionPlanned, attempt(1, record.ActionFailedBeforeSend)}, FailedBeforeSend},
		"timed out":                    {[]any{record.ActionPlanned, attempt(1, record.ActionSent), attempt(1, record.ActionTimeout)}, TimedOut},
		"timed out, then failed": {
			[]any{attempt(1, record.ActionSent), attempt(1, record.ActionTimeout), attempt(2, record.ActionFailedBeforeSend)}, TimedOut,
		},
		"timed out, then completed": {
			[]any{attempt(1, record.ActionSent), attempt(1, record.ActionTimeout), attempt(2, record.ActionSent), attempt(2, record.ActionCompleted)}, Completed,
		},
		"lost, and learned later": {[]any{attempt(1, record.ActionSent), attempt(1, record.ActionUnknown), attempt(1, record.ActionCompleted)}, Completed},
		"completed, and sent again": {
			[]any{attempt(1, record.ActionSent), attempt(1, record.ActionCompleted), attempt(2, record.ActionSent)}, MayHaveGoneOut,
		},
	} {
		b := NewBook(100)
		told(b, test.told...)
		require.Len(t, b.Actions(), 1, name)
		assert.Equal(t, test.want, b.Actions()[0].Standing(), name)
		assert.Len(t, b.Actions()[0].InOrder(), len(test.told), name)
	}
}

func TestEntriesAreInTheOrderInWhichTheyAreRead(t *testing.T) {
	b := NewBook(100)
	told(
		b, attempt(2, record.ActionSent), record.ActionRevoked, attempt(1, record.ActionTimeout), record.Approval{ApprovalID: "apr_1", Kind: record.ApprovalDecided},
		record.ActionPlanned, record.Approval{ApprovalID: "apr_1", Kind: record.ApprovalRequested}, attempt(1, record.ActionSent),
		record.Approval{ApprovalID: "apr_1", Kind: record.ApprovalRevoked},
	)
	a := b.Action(Name{"bank", "act_1"})
	var order []uint64
	for _, e := range a.InOrder() {
		order = append(order, e.Sequence)
	}
	assert.Equal(t, []uint64{5, 6, 4, 8, 7, 3, 1, 2}, order)
	assert.Nil(t, b.Action(Name{"other", "act_1"}))
	assert.Equal(t, "may have gone out", a.AttemptOf(a.InOrder()[6]).Standing().Text())
	assert.Nil(t, a.AttemptOf(a.InOrder()[0]))
}

func TestABookHasABoundAndTakesAnEntryOnce(t *testing.T) {
	b := NewBook(2)
	told(b, record.ActionPlanned, attempt(1, record.ActionSent))
	told(b, record.ActionPlanned)
	assert.False(t, b.Full())
	told(b, record.ActionPlanned, record.ActionPlanned, record.ActionPlanned)
	assert.True(t, b.Full())
	assert.Len(t, b.Actions()[0].InOrder(), 2)
}
