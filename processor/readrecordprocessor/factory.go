// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"

	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
)

// NewFactory creates the factory of the read_record processor.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithTraces(createTraces, metadata.TracesStability),
		processor.WithLogs(createLogs, metadata.LogsStability),
	)
}

func createDefaultConfig() component.Config {
	return &Config{Mode: strip.Strict, Records: true}
}

func createTraces(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Traces) (processor.Traces, error) {
	r, err := newRecorder(set, cfg.(*Config))
	if err != nil {
		return nil, err
	}
	return &tracesProcessor{recorder: r, next: next}, nil
}

func createLogs(_ context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	r, err := newRecorder(set, cfg.(*Config))
	if err != nil {
		return nil, err
	}
	return &logsProcessor{recorder: r, next: next}, nil
}
