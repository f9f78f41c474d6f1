// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/load"
)

// TestTheLoadMeasurementRunsAndLosesNoSpan runs what `make bench` runs, too short
// to say anything about speed: load.Run demands that every span is written and that
// the journals verify.
func TestTheLoadMeasurementRunsAndLosesNoSpan(t *testing.T) {
	report, err := load.Run(t.Context(), load.Options{
		Collector: collectorBin, CLI: cliBin, Dir: t.TempDir(),
		Contents: load.Contents(), Contenders: load.Journals(),
		Rounds: 1, Requests: 4, Connections: 2, Processors: 2,
	})
	require.NoError(t, err)
	require.Positive(t, report.Signature)
	require.Len(t, report.Tables, len(load.Contents()))
	var text bytes.Buffer
	require.NoError(t, report.Write(&text))
	for _, table := range report.Tables {
		require.InDelta(t, 2000, table.BytesPerSpan, 200, table.Content)
		require.Len(t, table.Figures, 1+len(load.Journals()))
		for _, f := range table.Figures {
			require.Positive(t, f.CPU, f.Name)
			require.Contains(t, text.String(), f.Name)
		}
	}
}
