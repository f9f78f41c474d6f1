// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/readtrail/readtrail/internal/carrier"
)

func TestDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	assert.NoError(t, componenttest.CheckConfigStruct(cfg))
	assert.NoError(t, componenttest.CheckConfigStruct(NewFactory().CreateDefaultConfig()))
}

func TestExtensionStartsAgainInTheSameDirectory(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	for range 2 {
		j := newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, j.Shutdown(t.Context()))
	}
	report := verify(t, filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads"), registry)
	assert.EqualValues(t, 4, report.RecordsChecked, "opened, closed, resumed, closed")
}

func TestShutdownIsSafeWithoutStartAndTwice(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	assert.NoError(t, j.Shutdown(t.Context()))
	assert.NoError(t, j.Shutdown(t.Context()))

	j = newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	assert.NoError(t, j.Shutdown(t.Context()))
	assert.NoError(t, j.Shutdown(t.Context()))
}

func TestNothingIsAppendedBeforeStartOrAfterShutdown(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	items := []carrier.Item{read(t, 1, nil)}
	_, err := j.Append(t.Context(), items)
	require.ErrorIs(t, err, errNotRunning)
	assert.False(t, consumererror.IsPermanent(err))
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, j.Shutdown(t.Context()))
	_, err = j.Append(t.Context(), items)
	require.ErrorIs(t, err, errNotRunning)
}

func TestStartNamesThePlaceInTheConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*testing.T, *Config)
		want  string
	}{
		"a key that is not there": {
			func(_ *testing.T, c *Config) { c.SigningKey.File = filepath.Join(c.Directory, "none.pem") },
			"none.pem: no such file or directory; make one with: readtrail keys new --out DIR",
		},
		"a key that is a directory": {
			func(_ *testing.T, c *Config) { c.SigningKey.File = filepath.Dir(c.SigningKey.File) },
			" is a directory; name the file in it that holds the key, or make one with: readtrail keys new --out DIR",
		},
		"a key that others can read": {
			func(t *testing.T, c *Config) { require.NoError(t, os.Chmod(c.SigningKey.File, 0o644)) },
			"chmod 600",
		},
		"a directory that is a file": {
			func(t *testing.T, c *Config) {
				c.Directory = filepath.Join(c.Directory, "file")
				require.NoError(t, os.WriteFile(c.Directory, nil, 0o600))
			},
			"/file: a file has that name; move it away or choose another directory",
		},
		"an index that is a directory": {
			func(t *testing.T, c *Config) {
				require.NoError(t, os.MkdirAll(filepath.Join(c.Directory, "bank", "kyc_10y", "reads", "index", "repeats.db"), 0o700))
			},
			"repeats.db is not a file but a directory: delete it, it is only a cache",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := configFor(t, t.TempDir())
			test.spoil(t, cfg)
			j := newExtension(t, cfg, nil)
			err := j.Start(t.Context(), componenttest.NewNopHost())
			require.ErrorContains(t, err, "extensions::audit_journal::")
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.NoError(t, j.Shutdown(t.Context()))
		})
	}
}

func TestSecondWriterOfAJournalDoesNotStartAndLeavesNothingOpen(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	start(t, newExtension(t, cfg, nil), componenttest.NewNopHost())
	second := newExtension(t, cfg, nil)
	require.ErrorContains(t, second.Start(t.Context(), componenttest.NewNopHost()),
		"another collector or process writes this journal; stop it or give this one another directory")
	assert.NoError(t, second.Shutdown(t.Context()))
}
