// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeysAreReadFromYAML(t *testing.T) {
	loaded, err := load(t, "token")
	require.NoError(t, err)
	cfg := loaded.(*Config)
	assert.Equal(t, SigningKeyConfig{PKCS11: &PKCS11Config{
		Module: "/usr/lib/softhsm/libsofthsm2.so", TokenLabel: "journal", KeyLabel: "journal-2026", KeyID: "0a1b", PIN: PINConfig{File: "/etc/readtrail/pin"},
	}}, cfg.SigningKey)
	assert.Equal(t, []SigningKeyConfig{
		{File: "/etc/readtrail/signing-key.pem"},
		{Env: "READTRAIL_FORMER_KEY"},
		{PKCS11: &PKCS11Config{Module: "/usr/lib/softhsm/libsofthsm2.so", Slot: new(uint(3)), KeyLabel: "journal-2025", PIN: PINConfig{Env: "READTRAIL_PIN"}}},
	}, cfg.OutgoingKeys)
}

func TestKeysThatCannotBeFoundAreRefusedWithTheirPath(t *testing.T) {
	_, err := load(t, "bad_keys")
	assert.EqualError(t, err, strings.Join([]string{
		"signing_key: only one of file, env and pkcs11 may be set",
		"outgoing_keys::0: one of file, env and pkcs11 must be set: make a key with `readtrail keys new --out DIR`",
		"outgoing_keys::1::pkcs11: module must be an absolute path: a name alone could load another library",
		"outgoing_keys::2::pkcs11: only one of token_label and slot may be set",
		"outgoing_keys::3::pkcs11: key_id is not hex, as pkcs11-tool prints it",
		"outgoing_keys::4::pkcs11::pin: one of file and env must be set",
	}, "\n"))
}

func TestAPINThatCannotBeReadNamesItsPlaceInTheConfiguration(t *testing.T) {
	_, err := (&PINConfig{Env: "READTRAIL_TEST_ABSENT"}).source()()
	require.EqualError(t, err, "pin::env: environment variable READTRAIL_TEST_ABSENT holds no PIN: it must be the user's PIN of the token")
	_, err = (&PINConfig{File: "absent"}).source()()
	require.ErrorContains(t, err, "pin::file: ")
}
