// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// withS3Sink has checkpoints go to a bucket of their own too.
func withS3Sink(cfg *Config, server *s3test.Server) {
	bucket := newBucketConfig()
	bucket.Name, bucket.Endpoint, bucket.Prefix = s3test.Bucket, server.URL, "checkpoints"
	cfg.Checkpoints = configoptional.Some(CheckpointsConfig{
		Entries: 1000, Interval: time.Hour, Timeout: archiveTime,
		Sinks: SinksConfig{S3: map[string]S3SinkConfig{"eu": {Bucket: bucket, Retain: 4000 * days}}},
	})
}

func TestCheckpointsGoToTheArchiveAndToABucketOfTheirOwn(t *testing.T) {
	server := s3test.Start(t)
	cfg := archivedConfig(t, server)
	withS3Sink(cfg, server)
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context()))
	var notes [][]byte
	for _, key := range server.Keys() {
		if strings.HasSuffix(key, "/00000000000000000003.checkpoint") { // of the end
			notes = append(notes, server.Versions(key)[0].Data)
			assert.Regexp(t, `^(readtrail/bank/kyc_10y/reads/jrn_[0-9A-Z]+/checkpoints|checkpoints/jrn_[0-9A-Z]+)/`, key)
		}
	}
	require.Len(t, notes, 2)
	assert.Equal(t, notes[0], notes[1])
	c, err := journal.ParseCheckpoint(notes[0])
	require.NoError(t, err)
	assert.EqualValues(t, 3, c.Size)

	// The disk is set back to before; the bucket knows better.
	segments, err := filepath.Glob(filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads", "*.events"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(segments[len(segments)-1]))
	again := newExtension(t, cfg, nil)
	err = again.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorIs(t, err, ledger.ErrContradicted)
	require.NoError(t, again.Shutdown(t.Context()))
}
