// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

func TestAStrictAppendWritesAllOrNothing(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	first := appendAll(t, l, read(t, id(0), "1"))

	_, err := l.AppendStrict(t.Context(), []*record.Draft{read(t, id(1), "1"), read(t, id(0), "2")})
	require.Equal(t, &ledger.Refusal{Index: 1, Code: ledger.CodeConflict, EventID: first[0].EventID}, err)
	_, err = l.AppendStrict(t.Context(), []*record.Draft{read(t, id(2), "1"), read(t, id(2), "2")})
	require.Equal(t, &ledger.Refusal{Index: 1, Code: ledger.CodeConflict}, err)

	receipts, err := l.AppendStrict(t.Context(), []*record.Draft{read(t, id(0), "1"), read(t, id(3), "1")})
	require.NoError(t, err)
	require.True(t, receipts[0].Repeat)
	require.Equal(t, first[0].EventID, receipts[0].EventID)
	require.Equal(t, l.JournalID(), receipts[1].JournalID)
	closeLedger(t, l)
	require.Equal(t, []string{"journal.opened", "read.tool", "read.tool", "journal.closed"}, eventTypes(audit(t, fs, dir)))
}
