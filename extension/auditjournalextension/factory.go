// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/extension"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/archive"
)

const (
	defaultName            = "default"
	defaultSegmentMaxBytes = 64 << 20
	defaultSegmentMaxAge   = 24 * time.Hour
	defaultDedupWindow     = 24 * time.Hour

	defaultCheckpointEntries  = 10_000
	defaultCheckpointInterval = 5 * time.Minute
	defaultCheckpointTimeout  = 10 * time.Second
	defaultArchiveInterval    = time.Minute
)

// NewFactory creates the factory of the audit_journal extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(
		metadata.Type,
		createDefaultConfig,
		createExtension,
		metadata.ExtensionStability,
	)
}

func createDefaultConfig() component.Config {
	return &Config{
		Scope: ScopeConfig{
			OrganizationRef: defaultName,
			Environment:     defaultName,
			RetentionClass:  defaultName,
		},
		Segment: SegmentConfig{
			MaxBytes: defaultSegmentMaxBytes,
			MaxAge:   defaultSegmentMaxAge,
		},
		DedupWindow: defaultDedupWindow,
		Checkpoints: configoptional.Default(CheckpointsConfig{
			Entries:  defaultCheckpointEntries,
			Interval: defaultCheckpointInterval,
			Timeout:  defaultCheckpointTimeout,
		}),
		Archive: configoptional.Default(ArchiveConfig{
			Bucket:        newBucketConfig(),
			Interval:      defaultArchiveInterval,
			UploadTimeout: archive.DefaultUploadTimeout,
		}),
		Signatures: SignaturesEntry,
	}
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newJournals(set, cfg.(*Config))
}
