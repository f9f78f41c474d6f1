// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/cost"
	"github.com/readtrail/readtrail/internal/load"
)

// TestTheLoadMeasurementRunsAndLosesNoSpan runs what `make bench` runs, too short
// to say anything about speed: load.Run demands that every span is written and that
// the journals verify.
func TestTheLoadMeasurementRunsAndLosesNoSpan(t *testing.T) {
	report, err := load.Run(t.Context(), load.Options{
		Collector: collectorBin, CLI: cliBin, Dir: t.TempDir(),
		Baseline: load.File(), Contenders: load.Journals(), Content: cost.NestedJSON,
		Rounds: 1, Requests: 4, Connections: 2, Processors: 2,
	})
	require.NoError(t, err)
	require.InDelta(t, 2000, report.BytesPerSpan, 200)
	require.Len(t, report.Figures, 1+len(load.Journals()))
	for _, f := range report.Figures {
		require.Positive(t, f.CPU, f.Name)
	}
	require.Positive(t, report.Signature)
	var table bytes.Buffer
	require.NoError(t, report.Write(&table))
	for _, f := range report.Figures {
		require.Contains(t, table.String(), f.Name)
	}
}
