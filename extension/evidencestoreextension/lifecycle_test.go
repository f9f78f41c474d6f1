// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable"
)

func TestWhatIsPutIsKeptAlsoAfterARestart(t *testing.T) {
	cfg, identity := configFor(t, filepath.Join(t.TempDir(), "new", "evidence"))
	for _, content := range []string{"a", "b"} {
		k := newExtension(t, cfg, nil)
		require.NoError(t, k.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a"), copyOf(content)}))
		require.NoError(t, k.Put(t.Context(), "bank", "kyc", nil))
		require.NoError(t, k.Shutdown(t.Context()))
		requireKept(t, durable.OS{}, cfg.Directory, identity, copyOf(content))
	}
}

func TestPublicKeysMayStandInAFile(t *testing.T) {
	cfg, identity := configFor(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "recipients.txt")
	require.NoError(t, os.WriteFile(file, []byte("# ours\n"+cfg.Recipients[0].Keys[0]+"\n"), 0o600))
	cfg.Recipients[0].Keys, cfg.Recipients[0].File = nil, file
	k := newExtension(t, cfg, nil)
	start(t, k, componenttest.NewNopHost())
	require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")}))
	requireKept(t, durable.OS{}, cfg.Directory, identity, copyOf("a"))
}

func TestShutdownIsSafeWithoutStartAndTwice(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	k := newExtension(t, cfg, nil)
	assert.NoError(t, k.Shutdown(t.Context()))
	assert.NoError(t, k.Shutdown(t.Context()))

	k = newExtension(t, cfg, nil)
	require.NoError(t, k.Start(t.Context(), componenttest.NewNopHost()))
	assert.NoError(t, k.Shutdown(t.Context()))
	assert.NoError(t, k.Shutdown(t.Context()))
}

func TestNothingIsStoredBeforeStartOrAfterShutdown(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	k := newExtension(t, cfg, nil)
	copies := []carrier.Copy{copyOf("a")}
	err := k.Put(t.Context(), "bank", "kyc", copies)
	require.ErrorIs(t, err, errNotRunning)
	assert.False(t, consumererror.IsPermanent(err))
	require.NoError(t, k.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, k.Shutdown(t.Context()))
	require.ErrorIs(t, k.Put(t.Context(), "bank", "kyc", copies), errNotRunning)
}

func TestStartNamesThePlaceInTheConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*testing.T, *Config)
		want  []string
	}{
		"a directory that is a file": {
			func(t *testing.T, c *Config) {
				c.Directory = filepath.Join(c.Directory, "file")
				require.NoError(t, os.WriteFile(c.Directory, nil, 0o600))
			},
			[]string{"extensions::evidence_store::directory: ", "/file: a file has that name; move it away or choose another directory"},
		},
		"a directory in which nothing can be created": {
			func(t *testing.T, c *Config) {
				require.NoError(t, os.WriteFile(filepath.Join(c.Directory, ".incoming"), nil, 0o600))
			},
			[]string{"extensions::evidence_store::directory: ", ".incoming: a file has that name"},
		},
		"a directory of another collector": {
			func(t *testing.T, c *Config) { start(t, newExtension(t, c, nil), componenttest.NewNopHost()) },
			[]string{"extensions::evidence_store::directory: ", "another collector or process writes this evidence store"},
		},
		"a file of keys that is not there": {
			func(_ *testing.T, c *Config) { c.Recipients[0].Keys, c.Recipients[0].File = nil, "/none/keys.txt" },
			[]string{"extensions::evidence_store::recipients::0::file: open /none/keys.txt: no such file or directory"},
		},
		"a file with a secret key": {
			func(t *testing.T, c *Config) {
				_, identity := configFor(t, "")
				c.Recipients[0].Keys, c.Recipients[0].File = nil, filepath.Join(c.Directory, "identity.txt")
				require.NoError(t, os.WriteFile(c.Recipients[0].File, []byte(identity.String()), 0o600))
			},
			[]string{"extensions::evidence_store::recipients::0::file: ", "identity.txt line 1 is a secret key (AGE-SECRET-KEY-...)"},
		},
		"a set that was begun with other keys": {
			func(t *testing.T, c *Config) {
				before, _ := configFor(t, c.Directory)
				k := newExtension(t, before, nil)
				require.NoError(t, k.Start(t.Context(), componenttest.NewNopHost()))
				require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")}))
				require.NoError(t, k.Shutdown(t.Context()))
			},
			[]string{`extensions::evidence_store::recipients::0: the set "all" of the retention class "kyc" was begun with other public keys`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := configFor(t, t.TempDir())
			test.spoil(t, cfg)
			k := newExtension(t, cfg, nil)
			err := k.Start(t.Context(), componenttest.NewNopHost())
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "AGE-SECRET-KEY-1")
			assert.NoError(t, k.Shutdown(t.Context()))
		})
	}
}
