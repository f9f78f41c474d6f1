// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package hsm_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/readtrail/readtrail/internal/hsm"
)

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	slot := uint(1)
	for want, spoil := range map[string]func(*hsm.Config){
		"module must be set to the path":              func(c *hsm.Config) { c.Module = "" },
		"module must be an absolute path":             func(c *hsm.Config) { c.Module = "libsofthsm2.so" },
		"only one of token_label and slot may be set": func(c *hsm.Config) { c.Slot = &slot },
		"token_label or slot must be set":             func(c *hsm.Config) { c.TokenLabel = "" },
		"key_label or key_id must be set":             func(c *hsm.Config) { c.KeyLabel = "" },
		"has more than 256 bytes":                     func(c *hsm.Config) { c.KeyLabel = strings.Repeat("k", 257) },
		"pin must be set":                             func(c *hsm.Config) { c.PIN = nil },
	} {
		c := hsm.Config{Module: "/lib/p11.so", TokenLabel: "t", KeyLabel: "k", PIN: hsm.EnvPIN("PIN")}
		require.NoError(t, c.Check())
		spoil(&c)
		require.ErrorContains(t, c.Check(), want)
		_, err := hsm.Open(c)
		require.Error(t, err)
	}
}

func TestAModuleThatIsNoneIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p11.so")
	c := hsm.Config{Module: file, TokenLabel: "t", KeyLabel: "k", PIN: hsm.EnvPIN("PIN")}
	_, err := hsm.Open(c)
	if !errors.Is(err, hsm.ErrNotBuilt) {
		require.EqualError(t, err, "PKCS#11 module "+file+": no such file or directory; set module to the path of the token's library, which belongs to its driver")
	}
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	_, err = hsm.Open(c)
	require.Error(t, err)
}

func TestAPINIsReadFromAFileOfItsOwnerOrTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	write := func(text string, mode os.FileMode) string {
		path := filepath.Join(dir, "pin")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	for _, text := range []string{"1234", "1234\n", "1234\r\n"} {
		pin, err := hsm.FilePIN(write(text, 0o400))()
		require.NoError(t, err)
		assert.Equal(t, configopaque.String("1234"), pin)
		assert.NotContains(t, pin.String(), "1234")
	}
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{"1234", 0o640, "chmod 600"},
		{"", 0o600, "holds no PIN"},
		{"\n", 0o600, "holds no PIN"},
		{"12\n34", 0o600, "holds more than one line"},
		{strings.Repeat("1", 300), 0o600, "has more than 256 bytes"},
	} {
		_, err := hsm.FilePIN(write(c.text, c.mode))()
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "1234")
	}
	_, err := hsm.FilePIN(filepath.Join(dir, "absent"))()
	require.ErrorIs(t, err, os.ErrNotExist)
	t.Setenv("READTRAIL_TEST_PIN", "1234")
	pin, err := hsm.EnvPIN("READTRAIL_TEST_PIN")()
	require.NoError(t, err)
	assert.Equal(t, configopaque.String("1234"), pin)
	_, err = hsm.EnvPIN("READTRAIL_TEST_ABSENT")()
	require.EqualError(t, err, "environment variable READTRAIL_TEST_ABSENT holds no PIN: it must be the user's PIN of the token")
}
