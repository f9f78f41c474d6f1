// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

func TestAnActionStandsInOneRetentionClassOnly(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	kyc, _ := j.Scope("bank", "kyc_10y")
	treasury, _ := j.Scope("bank", "treasury_7y")
	other, _ := j.Scope("other", "")

	planned, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	for _, state := range []record.ActionState{record.ActionPlanned, record.ActionRevoked} {
		_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_2"), actionIn(t, "act_1", state)})
		var refusal *ledger.Refusal
		require.ErrorAs(t, err, &refusal, state)
		require.Equal(t, &ledger.Refusal{Index: 1, Code: ledger.CodeElsewhere, EventID: planned[0].EventID}, refusal, state)
	}
	_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_2")})
	require.NoError(t, err, "nothing of what was refused was written")
	_, err = j.AppendStrict(t.Context(), other, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err, "another organization has ids of its own")
	again, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	assert.True(t, again[0].Repeat)
	require.NoError(t, j.Shutdown(t.Context()))

	j = newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_1")})
	require.ErrorAs(t, err, new(*ledger.Refusal), "also after a restart")
	require.NoError(t, j.Shutdown(t.Context()))
}

func TestOfTwoClassesAtTheSameTimeOneGetsTheAction(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	for n := range 20 {
		var taken atomic.Int32
		var wg sync.WaitGroup
		for _, class := range []string{"kyc_10y", "treasury_7y"} {
			scope, _ := j.Scope("bank", class)
			drafts := []*record.Draft{action(t, fmt.Sprintf("act_%d", n)), action(t, fmt.Sprintf("also_%d", n))}
			if class == "kyc_10y" {
				drafts[0], drafts[1] = drafts[1], drafts[0]
			}
			wg.Go(func() {
				if _, err := j.AppendStrict(t.Context(), scope, drafts); err == nil {
					taken.Add(1)
				} else {
					assert.ErrorAs(t, err, new(*ledger.Refusal))
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, taken.Load())
	}
	require.NoError(t, j.Shutdown(t.Context()))
}
