// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// A retry of an audit event may be judged otherwise, and is a retry all the same.
func TestWhatIsUnmetOfAnAuditEventMakesNoOtherRecord(t *testing.T) {
	received := func(version string, unmet ...record.Unmet) *record.Draft {
		d, err := record.NewAuditReceivedDraft(record.Header{Correlation: record.Correlation{ExecutionID: "run_1"}}, record.AuditReceived{
			AuditEventID: "evt_1", AuditEventVersion: version, Unmet: unmet,
		})
		require.NoError(t, err)
		return d
	}
	met, unmet := received("1.1.0"), received("1.1.0", record.Unmet{Field: "f", Code: "missing_field_provenance"})
	require.Equal(t, met.Digest(), unmet.Digest())
	require.NotEqual(t, met.Digest(), received("1.0.0").Digest())
	stored, err := record.RepeatOf(record.KindJournal, unmet.Complete(record.Completion{EventID: "evt_9", JournalID: "jrn_1", Sequence: 2, CollectorID: "c"}))
	require.NoError(t, err)
	require.Equal(t, met.Digest(), stored.Digest)
}
