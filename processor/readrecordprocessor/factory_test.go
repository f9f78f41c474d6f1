// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
)

func TestDefaultsAreStrictAndMakeRecords(t *testing.T) {
	cfg := NewFactory().CreateDefaultConfig()
	assert.Equal(t, &Config{Mode: strip.Strict, Records: true}, cfg)
	assert.NoError(t, componenttest.CheckConfigStruct(cfg))
}

func TestProcessorsStartStopTwiceAndMutateData(t *testing.T) {
	f, set := NewFactory(), processortest.NewNopSettings(metadata.Type)
	traces, err := f.CreateTraces(t.Context(), set, f.CreateDefaultConfig(), consumertest.NewNop())
	require.NoError(t, err)
	logs, err := f.CreateLogs(t.Context(), set, f.CreateDefaultConfig(), consumertest.NewNop())
	require.NoError(t, err)
	assert.True(t, traces.Capabilities().MutatesData)
	assert.True(t, logs.Capabilities().MutatesData)
	require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, logs.Start(t.Context(), componenttest.NewNopHost()))
	for range 2 {
		assert.NoError(t, traces.Shutdown(t.Context()))
		assert.NoError(t, logs.Shutdown(t.Context()))
	}
}

func TestConfigThatWasNotValidatedIsRefusedAtCreation(t *testing.T) {
	f, set := NewFactory(), processortest.NewNopSettings(metadata.Type)
	for name, cfg := range map[string]*Config{
		"an unknown mode":     {Mode: "lax"},
		"a key without shape": {Mode: strip.Strict, Keep: []KeepConfig{{Key: "a"}}},
		"a source of nothing": {Mode: strip.Strict, Sources: []genai.SourceRule{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.CreateTraces(t.Context(), set, cfg, consumertest.NewNop())
			require.Error(t, err)
			_, err = f.CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
			require.Error(t, err)
		})
	}
}
