// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestAKeyIDIsTheThumbprintOfRFC8037(t *testing.T) {
	// RFC 8037, appendix A.3.
	public, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	require.NoError(t, err)
	require.Equal(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", journal.KeyID(public))
}

func TestARegistryIsReadAsItWasWritten(t *testing.T) {
	full := trustedKey(trusted)
	full.ValidUntil = record.NewTime(epoch.Add(time.Hour))
	full.RevokedAt = record.NewTime(epoch)
	full.RevocationReason = "stolen"
	full.InvalidFromSequence = map[string]uint64{"jrn_b": 1<<53 - 1, "jrn_a": 1}
	full.FirstSequence = map[string]uint64{"jrn_a": 9}
	r := registryOf(t, full, trustedKey(incoming))
	text, err := r.Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	read, err := journal.ReadRegistry(path)
	require.NoError(t, err)
	require.Equal(t, r.Keys(), read.Keys())
	key, found := read.Key(trusted.KeyID())
	require.True(t, found)
	require.Equal(t, full, key)
	_, found = read.Key(stranger.KeyID())
	require.False(t, found)
}

// keysJSON is a registry with one key whose members a case changes.
func keysJSON(t testing.TB) string {
	text, err := registryOf(t, trustedKey(trusted)).Marshal()
	require.NoError(t, err)
	return strings.NewReplacer("\n", "", " ", "").Replace(string(text))
}

func TestARegistryIsRefused(t *testing.T) {
	x := base64.RawURLEncoding.EncodeToString(trusted.PublicKey())
	from := `"valid_from":"2026-10-09T07:12:03.418000000Z"`
	for _, c := range []struct{ name, old, replacement, message string }{
		{"that is no JSON", "{", "", "not a JWK Set"},
		{"with a member that nobody knows", `"kty"`, `"use":"sig","kty"`, "use"},
		{"with a private key", `"kty"`, `"d":"AAAA","kty"`, `"d"`},
		{"with a member twice", `"kty":"OKP"`, `"kty":"OKP","kty":"OKP"`, "duplicate"},
		{"with another member beside keys", `{"keys"`, `{"x":1,"keys"`, `"x"`},
		{"of another key type", `"OKP"`, `"EC"`, "kty, crv and alg"},
		{"of another curve", `"Ed25519"`, `"X25519"`, "kty, crv and alg"},
		{"of another algorithm", `"EdDSA"`, `"ES256"`, "kty, crv and alg"},
		{"whose kid is not the thumbprint", `"kid":"`, `"kid":"A`, "thumbprint of the key, " + trusted.KeyID()},
		{"whose key is short", `"x":"` + x, `"x":"AAAA`, "32 bytes"},
		{"whose key is padded", `"x":"` + x, `"x":"` + x + "=", "32 bytes"},
		{"whose key has bits to spare", `"x":"` + x, `"x":"` + spareBits(x + "=")[:43], "32 bytes"},
		{"without valid_from", `,` + from, "", "valid_from is missing"},
		{"with an empty valid_from", from, `"valid_from":""`, "/valid_from"},
		{"with an empty valid_until", from, from + `,"valid_until":""`, "/valid_until"},
		{"with valid_until null", from, from + `,"valid_until":null`, "/valid_until"},
		{"with an empty revoked_at", from, from + `,"revoked_at":""`, "/revoked_at"},
		{"with revoked_at null", from, from + `,"revoked_at":null`, "/revoked_at"},
		{"with an empty revocation_reason", from, from + `,"revoked_at":"2026-10-09T07:12:03Z","revocation_reason":""`, "/revocation_reason"},
		{"with revocation_reason null", from, from + `,"revoked_at":"2026-10-09T07:12:03Z","revocation_reason":null`, "/revocation_reason"},
		{"with invalid_from_sequence null", from, from + `,"revoked_at":"2026-10-09T07:12:03Z","invalid_from_sequence":null`, "/invalid_from_sequence"},
		{"with no journal in invalid_from_sequence", from, from + `,"revoked_at":"2026-10-09T07:12:03Z","invalid_from_sequence":{}`, "/invalid_from_sequence"},
		{"with a journal without a name", from, from + `,"first_sequence":{"":1}`, "empty journal id"},
		{"with a sequence null", from, from + `,"first_sequence":{"j":null}`, "first_sequence is not between"},
		{"with first_sequence null", from, from + `,"first_sequence":null`, "/first_sequence"},
		{"with a byte order mark", `{"keys"`, "\ufeff" + `{"keys"`, "not a JWK Set"},
		{"with an hour of one digit", "T07:12", "T7:12", "valid_from is not a time"},
		{"with a comma in a time", "418000000Z", "418000000Z\",\"valid_until\":\"2027-10-09T07:12:03,5Z", "valid_until is not a time"},
		{"with an offset in a time", "418000000Z", "418000000+02:00", "valid_from is not a time"},
		{"with a date for a time", from, `"valid_from":"2026-10-09"`, "valid_from is not a time"},
		{"with the zero time, which would be none", from, from + `,"revoked_at":"0001-01-01T00:00:00Z"`, "revoked_at is not a time"},
		{"that ends before it begins", from, from + `,"valid_until":"2026-10-09T07:12:03Z"`, "valid_until"},
		{"revoked without a time", from, from + `,"invalid_from_sequence":{"j":1}`, "need revoked_at"},
		{"with sequence 0", from, from + `,"first_sequence":{"j":0}`, "first_sequence is not between"},
		{"with sequence 2^53", from, from + `,"first_sequence":{"j":9007199254740992}`, "first_sequence is not between"},
		{"with a fraction", from, from + `,"first_sequence":{"j":1.5}`, "not a JWK Set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := keysJSON(t)
			require.Contains(t, text, c.old)
			_, err := journal.ParseRegistry([]byte(strings.Replace(text, c.old, c.replacement, 1)))
			require.ErrorContains(t, err, c.message)
		})
	}
	for _, text := range []string{`{}`, `null`, `{"keys":null}`, `[]`, ``} {
		_, err := journal.ParseRegistry([]byte(text))
		require.ErrorContains(t, err, "not a JWK Set", "%s is no registry, not one without keys", text)
	}
	r, err := journal.ParseRegistry([]byte(`{"keys":[]}`))
	require.NoError(t, err, "that nothing is trusted can be said")
	require.Empty(t, r.Keys())
	_, err = journal.ParseRegistry(bytes.Repeat([]byte(" "), 2<<20))
	require.ErrorContains(t, err, "more than")
	_, err = journal.ReadRegistry(filepath.Join(t.TempDir(), "keys.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	r = registryOf(t, trustedKey(trusted))
	require.ErrorContains(t, r.Add(trustedKey(trusted)), "there already")
}

func TestPeopleMayWriteTimesInARegistry(t *testing.T) {
	text := strings.Replace(keysJSON(t), "07:12:03.418000000Z", "07:12:03Z", 1)
	r, err := journal.ParseRegistry([]byte(text))
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 10, 9, 7, 12, 3, 0, time.UTC), r.Keys()[0].ValidFrom.Std())
}

// The encodings of points of small order, as libraries list them, and both of
// their signs.
func TestKeysOfLowOrderAreRefused(t *testing.T) {
	for _, text := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		for _, sign := range []byte{0, 0x80} {
			public, err := hex.DecodeString(text)
			require.NoError(t, err)
			public[31] |= sign
			key := journal.Key{ID: journal.KeyID(public), PublicKey: public, ValidFrom: record.NewTime(epoch)}
			require.ErrorContains(t, new(journal.Registry).Add(key), "low order")
		}
	}
	public, err := hex.DecodeString("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")
	require.NoError(t, err)
	key := journal.Key{ID: journal.KeyID(public), PublicKey: public, ValidFrom: record.NewTime(epoch)}
	require.ErrorContains(t, new(journal.Registry).Add(key), "canonical encoding")
}

func TestAKeyThatIsNoPointIsRefused(t *testing.T) {
	// Every second y has no x; 2 is the smallest of them.
	refused := 0
	for y := range byte(100) {
		public := append([]byte{y}, make([]byte, 31)...)
		key := journal.Key{ID: journal.KeyID(public), PublicKey: public, ValidFrom: record.NewTime(epoch)}
		if err := new(journal.Registry).Add(key); y == 2 || err != nil && y > 1 {
			require.ErrorContains(t, err, "not a point of the curve", "y = %d", y)
			refused++
		}
	}
	require.InDelta(t, 50, refused, 20)
	for seed := range byte(50) {
		require.NoError(t, new(journal.Registry).Add(trustedKey(newSeedSigner(seed))), "an honest key is a point")
	}
}

func TestATimeThatCannotBeWrittenIsRefused(t *testing.T) {
	for _, at := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		key := trustedKey(trusted)
		key.ValidUntil = record.NewTime(at)
		key.ValidFrom = record.NewTime(at.Add(-time.Hour))
		require.ErrorContains(t, new(journal.Registry).Add(key), "not in the years")
	}
}

func TestARegistryIsARegularFile(t *testing.T) {
	_, err := journal.ReadRegistry(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
	_, err = journal.ReadRegistry(os.DevNull)
	require.ErrorContains(t, err, "not a regular file")
}

func TestANewKeySignsAndIsTrusted(t *testing.T) {
	text, key, err := journal.NewKey(epoch)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "signing-key.pem")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	signer, err := journal.NewFileSigner(path)
	require.NoError(t, err)
	require.Equal(t, key.ID, signer.KeyID())
	require.Equal(t, key.PublicKey, signer.PublicKey())
	require.Equal(t, epoch.Truncate(time.Second), key.ValidFrom.Std())

	w := newWriter(t)
	w.signer = signer
	w.event(record.EventJournalOpened, nil).read()
	report := verify(t, store(t, 1, w.lines...), registryOf(t, key))
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
}

func TestASigningKeyFileIsRefused(t *testing.T) {
	text, _, err := journal.NewKey(epoch)
	require.NoError(t, err)
	write := func(text []byte, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "key.pem")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	for name, c := range map[string]struct {
		path, message string
	}{
		"that all can read":     {write(text, 0o644), "mode 0644"},
		"that a group can read": {write(text, 0o640), "chmod 600"},
		"that is empty":         {write(nil, 0o600), "not a PKCS#8 PEM"},
		"of another PEM type":   {write(bytes.ReplaceAll(text, []byte("PRIVATE"), []byte("PUBLIC")), 0o600), "not a PKCS#8 PEM"},
		"that is damaged":       {write([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), 0o600), "not a PKCS#8 private key"},
		"that is not there":     {filepath.Join(t.TempDir(), "no"), "no such file"},
		"with a key of P-256":   {write(ecKey(t), 0o600), "not Ed25519"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := journal.NewFileSigner(c.path)
			require.ErrorContains(t, err, c.message)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// FuzzRegistry holds that a registry is read as it was written and that every
// key in it can be told by its thumbprint.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte(keysJSON(f)))
	f.Add([]byte(strings.Replace(keysJSON(f), `"kty"`, `"revoked_at":"2026-10-09T07:12:03Z","first_sequence":{"j":1},"kty"`, 1)))
	f.Add([]byte(`{"keys":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := journal.ParseRegistry(text)
		if err != nil {
			return
		}
		for _, k := range r.Keys() {
			require.Equal(t, journal.KeyID(k.PublicKey), k.ID)
			require.Len(t, k.PublicKey, ed25519.PublicKeySize)
		}
		written, err := r.Marshal()
		require.NoError(t, err)
		again, err := journal.ParseRegistry(written)
		require.NoError(t, err)
		rewritten, err := again.Marshal()
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

// ecKey makes the PEM of a key of another kind.
func ecKey(t *testing.T) []byte {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
