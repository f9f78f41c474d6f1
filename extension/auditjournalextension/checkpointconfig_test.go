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
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
)

// loadCheckpoints reads a section of testdata/checkpoints.yaml as the configuration
// of the component would have it.
func loadCheckpoints(t *testing.T, name, witnessKey string) (*CheckpointsConfig, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf("testdata/checkpoints.yaml")
	require.NoError(t, err)
	section, ok := conf.ToStringMap()[name]
	require.True(t, ok)
	if sub, ok := section.(map[string]any); ok {
		if sinks, ok := sub["sinks"].(map[string]any); ok && witnessKey != "" {
			sinks["witness"].(map[string]any)["one"].(map[string]any)["key"] = witnessKey
		}
	}
	cfg := createDefaultConfig().(*Config)
	cfg.Directory, cfg.CollectorID, cfg.SigningKey.File = "journal", "collector-1", "key.pem"
	whole := confmap.NewFromStringMap(map[string]any{"checkpoints": section})
	if err := whole.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg.Checkpoints.Get(), confmap.Validate(cfg)
}

func TestCheckpointsAreReadFromYAML(t *testing.T) {
	got, err := loadCheckpoints(t, "minimal", "")
	require.NoError(t, err)
	assert.Equal(t, &CheckpointsConfig{
		Entries: 10000, Interval: 5 * time.Minute, Timeout: 10 * time.Second,
		Sinks: SinksConfig{Directory: map[string]DirectorySinkConfig{"offsite": {Path: "/mnt/offsite/checkpoints"}}},
	}, got)

	key := checkpointtest.NewWitness(t, "witness.example.com").Key.String()
	got, err = loadCheckpoints(t, "all_settings", key)
	require.NoError(t, err)
	assert.EqualValues(t, 500, got.Entries)
	assert.Equal(t, time.Minute, got.Interval)
	assert.Equal(t, 5*time.Second, got.Timeout)
	witness := got.Sinks.Witness["one"]
	assert.Equal(t, key, witness.Key)
	assert.Equal(t, "https://witness.example.com/prefix", witness.ClientConfig.Endpoint)
	assert.Equal(t, "/etc/readtrail/witness-ca.pem", witness.ClientConfig.TLS.CAFile)
	assert.Equal(t, confighttp.NewDefaultClientConfig().Keepalive, witness.ClientConfig.Keepalive, "the rest is the default of an HTTP client")
	assert.Equal(t, confighttp.NewDefaultClientConfig().ForceAttemptHTTP2, witness.ClientConfig.ForceAttemptHTTP2)
	assert.Equal(t, "/etc/readtrail/tsa-roots.pem", got.Sinks.Timestamp["tsa"].RootsFile)
	bucket := newBucketConfig()
	bucket.Name, bucket.Prefix = "checkpoints-eu", "readtrail"
	assert.Equal(t, map[string]S3SinkConfig{"eu": {Bucket: bucket, Retain: 4000 * days}}, got.Sinks.S3)
}

// Whoever can change a journal must not be able to change its checkpoints with it.
func TestADirectoryOfCheckpointsInsideThatOfTheJournalsIsRefused(t *testing.T) {
	base := t.TempDir()
	journals := filepath.Join(base, "journal")
	require.NoError(t, os.Mkdir(journals, 0o700))
	require.NoError(t, os.Symlink(journals, filepath.Join(base, "link")))
	for path, refused := range map[string]bool{
		journals:                                 true,
		filepath.Join(journals, "checkpoints"):   true,
		journals + "/../journal/a/b":             true,
		filepath.Join(base, "link", "not-yet"):   true,
		filepath.Join(base, "journal-cps"):       false,
		filepath.Join(base, "checkpoints"):       false,
		filepath.Join(journals, "..", "outside"): false,
	} {
		cfg, _ := configFor(t, journals)
		cfg.Checkpoints = configoptional.Some(CheckpointsConfig{
			Entries: 1, Interval: time.Minute, Timeout: time.Second,
			Sinks: SinksConfig{Directory: map[string]DirectorySinkConfig{"offsite": {Path: path}}},
		})
		err := confmap.Validate(cfg)
		if !refused {
			require.NoError(t, err, path)
			continue
		}
		require.ErrorContains(t, err, "checkpoints::sinks::directory::offsite::path "+path+" is inside directory "+journals)
	}
}

func TestCheckpointsThatCannotWorkAreRefusedWithTheirPath(t *testing.T) {
	for name, want := range map[string][]string{
		"bad_values": {
			"checkpoints: entries must be positive; interval is 5ns, less than 1s: write a number and its unit, such as 24h; " +
				"timeout is 0s, less than 1s: write a number and its unit, such as 24h",
			"sinks::directory::offsite: path must be set: a directory that the writer of the journal can add to but not change, on another disk or machine",
			"sinks::witness::one: endpoint must be set to the submission prefix of the witness; " +
				"key is not the verifier key of a witness, of the form name+hash+base64",
			"sinks::timestamp::tsa: endpoint must be set to the URL of the time stamp authority; " +
				"roots_file must be set: a token that nobody can verify proves nothing",
			"sinks::s3::eu: bucket is not the name of an S3 bucket: 3 to 63 lower-case letters, digits, dots and hyphens; " +
				"retain is 0s, not one day to 100 years: write days, such as 3660d",
		},
		"bad_timestamp_only": {"checkpoints: sinks: name a directory, a bucket or a witness: a checkpoint that nobody keeps proves nothing"},
		"bad_timeout":        {"checkpoints: timeout is 6s, longer than the interval of 5s: a sink that hangs would delay the next checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadCheckpoints(t, name, "")
			assert.EqualError(t, err, strings.Join(want, "\n"))
		})
	}
	_, err := loadCheckpoints(t, "bad_unknown_key", "")
	require.ErrorContains(t, err, "has invalid keys: url")
}
