// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestAReceiptIsThereAtOnceAndItsProofOnceACheckpointCoversIt(t *testing.T) {
	cfg, registry, _ := checkpointedConfig(t)
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	scope, _ := j.Scope("", "")
	given, err := j.AppendStrict(t.Context(), scope, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	ofRead, err := j.Append(t.Context(), []carrier.Item{read(t, 0, nil)})
	require.NoError(t, err)

	receipt, proof, err := j.Receipt(t.Context(), "", "", given[0].EventID, false)
	require.NoError(t, err)
	assert.Equal(t, given[0], receipt)
	assert.Nil(t, proof)
	prove := func(j *journals, eventID string) *journal.InclusionProof {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			receipt, proof, err = j.Receipt(t.Context(), "bank", "kyc_10y", eventID, true)
			require.NoError(c, err)
			require.NotNil(c, proof)
		}, 20*time.Second, 5*time.Millisecond)
		return proof
	}
	for _, eventID := range []string{given[0].EventID, ofRead[0].EventID} {
		p, err := journal.ParseProof(prove(j, eventID).Format())
		require.NoError(t, err)
		hash, ok := journal.ParseHash(receipt.RecordHash)
		require.True(t, ok)
		require.NoError(t, p.Verify(hash))
		assert.Equal(t, receipt.JournalID, p.Checkpoint.Origin)
		_, err = p.Checkpoint.Signer(registry)
		require.NoError(t, err)
	}
	_, _, err = j.Receipt(t.Context(), "other", "", given[0].EventID, false)
	require.ErrorIs(t, err, ledger.ErrNotFound)
	_, _, err = j.Receipt(t.Context(), "", "", record.EventID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), true)
	require.ErrorIs(t, err, ledger.ErrNotFound)
	require.NoError(t, j.Shutdown(t.Context()))
	_, _, err = j.Receipt(t.Context(), "", "", given[0].EventID, false)
	require.ErrorIs(t, err, errNotRunning)

	j = newExtension(t, cfg, nil)
	start(t, j, componenttest.NewNopHost())
	prove(j, given[0].EventID)
	assert.Equal(t, given[0], receipt)
}

func TestAReceiptIsOfItsOwnScopeOnly(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	start(t, j, componenttest.NewNopHost())
	scope, _ := j.Scope("", "treasury_7y")
	given, err := j.AppendStrict(t.Context(), scope, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	for name, found := range map[[2]string]bool{
		{"", "treasury_7y"}: true, {"bank", "treasury_7y"}: true, {"", ""}: false, {"other", ""}: false, {"evil", ""}: false,
	} {
		receipt, proof, err := j.Receipt(t.Context(), name[0], name[1], given[0].EventID, true)
		if !found {
			require.ErrorIs(t, err, ledger.ErrNotFound, name)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, given[0], receipt)
		assert.Nil(t, proof, "no checkpoints are made")
	}
}
