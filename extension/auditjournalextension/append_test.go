// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
)

var (
	treasury = carrier.Resource{"service.namespace": "treasury"}
	other    = carrier.Resource{"service.name": "agent"}
)

func TestItemsGoToTheJournalOfTheirScopeAndReceiptsComeInTheirOrder(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	items := []carrier.Item{read(t, 0, nil), read(t, 1, treasury), read(t, 2, other), read(t, 3, treasury), read(t, 4, nil)}
	receipts, err := j.Append(t.Context(), items)
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context()))

	var sequences []uint64
	for _, r := range receipts {
		sequences = append(sequences, r.Sequence)
		assert.False(t, r.Repeat)
		assert.NotEmpty(t, r.EventID)
		assert.NotEmpty(t, r.RecordHash)
		assert.Equal(t, registry.Keys()[0].ID, r.KeyID)
	}
	assert.Equal(t, []uint64{2, 2, 2, 3, 3}, sequences, "sequence 1 is journal.opened")
	for path, entries := range map[string]int{"bank/kyc_10y": 4, "bank/treasury_7y": 4, "other/kyc_10y": 3} {
		report := verify(t, filepath.Join(cfg.Directory, filepath.FromSlash(path), "reads"), registry)
		assert.EqualValues(t, entries, report.RecordsChecked, path)
	}
}

func TestTheScopeOfAnItemIsKnownBeforeItIsAppended(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	assert.Equal(t, "treasury_7y", j.ScopeOf(&carrier.Item{Resource: treasury}).RetentionClass)
	assert.Equal(t, "kyc_10y", j.ScopeOf(&carrier.Item{Resource: other}).RetentionClass)
	assert.NoError(t, j.Shutdown(t.Context()))
}

func TestRetryGetsTheReceiptsOfTheFirstAttemptAlsoAfterARestart(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	items := []carrier.Item{read(t, 0, nil), read(t, 1, nil)}
	var answers [][]journal.Receipt
	for range 2 {
		j := newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		for range 2 {
			receipts, err := j.Append(t.Context(), items)
			require.NoError(t, err)
			answers = append(answers, receipts)
		}
		require.NoError(t, j.Shutdown(t.Context()))
	}
	for i, receipts := range answers {
		for k := range receipts {
			assert.Equal(t, i > 0, receipts[k].Repeat)
			assert.Equal(t, answers[0][k].EventID, receipts[k].EventID)
			assert.Equal(t, answers[0][k].Sequence, receipts[k].Sequence)
		}
	}
	report := verify(t, filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads"), registry)
	assert.EqualValues(t, 6, report.RecordsChecked, "opened, two reads, closed, resumed, closed")
}

func TestConcurrentAppendsAllGetTheirOwnSequence(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	const senders = 32
	var wg sync.WaitGroup
	got := make([]journal.Receipt, senders)
	for i := range senders {
		item := read(t, i, nil)
		wg.Go(func() {
			receipts, err := j.Append(t.Context(), []carrier.Item{item})
			if assert.NoError(t, err) {
				got[i] = receipts[0]
			}
		})
	}
	wg.Wait()
	require.NoError(t, j.Shutdown(t.Context()))
	seen := make(map[uint64]bool)
	for _, r := range got {
		seen[r.Sequence] = true
	}
	assert.Len(t, seen, senders)
	report := verify(t, filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads"), registry)
	assert.EqualValues(t, senders+2, report.RecordsChecked)
}

func TestAppendOfNothingIsNothing(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	start(t, j, componenttest.NewNopHost())
	receipts, err := j.Append(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, receipts)
}
