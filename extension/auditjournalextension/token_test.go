// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package auditjournalextension

import (
	"crypto/ed25519"
	"os"
	"testing"
	"time"

	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/hsm"
	"github.com/readtrail/readtrail/internal/hsm/softhsm"
	"github.com/readtrail/readtrail/journal"
)

// tokenKey makes a key in a fresh token, trusts it, and returns its configuration.
func tokenKey(t *testing.T, registry *journal.Registry) (*softhsm.Token, SigningKeyConfig) {
	t.Helper()
	token := softhsm.New(t)
	t.Setenv("READTRAIL_TEST_PIN", softhsm.PIN)
	c := &PKCS11Config{Module: token.Module, TokenLabel: softhsm.Label, KeyLabel: "journal-1", PIN: PINConfig{Env: "READTRAIL_TEST_PIN"}}
	config, err := c.token()
	require.NoError(t, err)
	require.NoError(t, hsm.Generate(config, func(public ed25519.PublicKey) error {
		return registry.Add(journal.TrustedKey(public, time.Now().Add(-time.Hour)))
	}))
	return token, SigningKeyConfig{PKCS11: c}
}

// A key in a file moves into hardware: the file's key hands over at the start.
func TestAKeyInATokenTakesOverFromOneInAFile(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	directory := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, j.Shutdown(t.Context()))

	cfg.OutgoingKeys = []SigningKeyConfig{cfg.SigningKey}
	_, cfg.SigningKey = tokenKey(t, registry)
	j = newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	items := make([]carrier.Item, 200)
	for i := range items {
		items[i] = read(t, i, nil)
	}
	_, err := j.Append(t.Context(), items)
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context()))
	_, bridges := signedBy(t, directory)
	assert.Equal(t, 1, bridges)
	verify(t, directory, registry)
}

// Records of the time without the token are refused for the sender to keep, and the
// journal goes on by itself when the token is back.
func TestATokenThatIsAwayRefusesRecordsUntilItIsBack(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	token, key := tokenKey(t, registry)
	cfg.SigningKey = key
	j := newExtension(t, cfg, nil)
	start(t, j, &host{})
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)

	require.NoError(t, os.Rename(token.Dir, token.Dir+".away"))
	require.NoError(t, os.Mkdir(token.Dir, 0o700))
	library := pkcs11.New(token.Module)
	require.NoError(t, library.Finalize()) // or SoftHSM goes on from memory
	items := []carrier.Item{read(t, 2, nil)}
	_, err = j.Append(t.Context(), items)
	require.ErrorContains(t, err, "CKR_TOKEN_NOT_PRESENT")
	require.False(t, consumererror.IsPermanent(err))

	require.NoError(t, os.Remove(token.Dir))
	require.NoError(t, os.Rename(token.Dir+".away", token.Dir))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := j.Append(t.Context(), items)
		assert.NoError(c, err)
	}, 30*time.Second, 50*time.Millisecond)
	verify(t, journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory), registry)
}

func TestATokenThatCannotBeUsedNamesThePlaceInTheConfiguration(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	_, key := tokenKey(t, registry)
	key.PKCS11.KeyLabel = "absent"
	for place, spoil := range map[string]func(*Config){
		"signing_key::pkcs11: ":      func(c *Config) { c.SigningKey = key },
		"outgoing_keys::0::pkcs11: ": func(c *Config) { c.OutgoingKeys = []SigningKeyConfig{key} },
	} {
		spoiled := *cfg
		spoil(&spoiled)
		j := newExtension(t, &spoiled, nil)
		err := j.Start(t.Context(), componenttest.NewNopHost())
		require.ErrorContains(t, err, "extensions::audit_journal::"+place+`PKCS#11 token "readtrail-test", key "absent": it has no such Ed25519 key`)
		require.NotContains(t, err.Error(), softhsm.PIN)
		require.NoError(t, j.Shutdown(t.Context()))
	}
}
