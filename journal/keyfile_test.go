// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// newPEM makes a private key.
func newPEM(t testing.TB) (text []byte, id string) {
	t.Helper()
	text, key, err := journal.NewKey(epoch)
	require.NoError(t, err)
	return text, key.ID
}

func TestTheFirstKeyOfAFileSignsAndTheOthersAreOutgoing(t *testing.T) {
	first, firstID := newPEM(t)
	second, secondID := newPEM(t)
	third, thirdID := newPEM(t)
	text := bytes.Join([][]byte{[]byte("the key of this year\n"), first, []byte("\n# those before\n"), second, third}, nil)
	path := filepath.Join(t.TempDir(), "signing-key.pem")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	signers, err := journal.NewFileSigners(path)
	require.NoError(t, err)
	ids := make([]string, len(signers))
	for i, s := range signers {
		ids[i] = s.KeyID()
		signature, err := s.Sign([]byte("m"))
		require.NoError(t, err)
		require.True(t, ed25519.Verify(s.PublicKey(), []byte("m"), signature))
	}
	require.Equal(t, []string{firstID, secondID, thirdID}, ids)
	signer, err := journal.NewFileSigner(path)
	require.NoError(t, err)
	require.Equal(t, firstID, signer.KeyID())
	signer, err = journal.NewPEMSigner(text)
	require.NoError(t, err)
	require.Equal(t, firstID, signer.KeyID())
}

// A first block that is passed over would have an outgoing key sign.
func TestAKeyThatCannotBeReadIsNeverPassedOver(t *testing.T) {
	first, _ := newPEM(t)
	second, _ := newPEM(t)
	both := string(first) + string(second)
	many := both
	for range journal.MaxKeys - 1 {
		next, _ := newPEM(t)
		many += string(next)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                  {"", "key is not a PKCS#8 PEM (PRIVATE KEY)"},
		"the first without an end": {strings.Replace(both, "-----END PRIVATE KEY-----\n", "", 1), "key 1 of 2: it is not a whole PEM block"},
		"a letter that is none":    {strings.Replace(both, "MC4C", "M!4C", 1), "key 1 of 2: "},
		"the second cut off":       {both[:len(both)-40], "key 2 of 2: it is not a whole PEM block"},
		"another kind":             {strings.Replace(both, "PRIVATE KEY", "RSA PRIVATE KEY", 2), "key 1 of 2: it is not a PKCS#8 PEM without password"},
		"headers of a password":    {strings.Replace(both, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1), "key 1 of 2: it is not a PKCS#8 PEM without password"},
		"the same twice":           {string(first) + string(first), "key 2 of 2: it stands there twice"},
		"too many":                 {many, "there are more than 16 keys"},
		"too long":                 {both + strings.Repeat("#", 64<<10), "key has more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := journal.NewPEMSigners([]byte(c.text))
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
			_, err = journal.NewPEMSigner([]byte(c.text))
			require.Error(t, err)
		})
	}
}

// FuzzKeyFile holds that every block of a text that is accepted is a key that signs.
func FuzzKeyFile(f *testing.F) {
	first, _ := newPEM(f)
	second, _ := newPEM(f)
	f.Add(first)
	f.Add(append(bytes.Clone(first), second...))
	f.Add(bytes.Replace(first, []byte("END"), []byte("BEGIN"), 1))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nA: b\n\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		signers, err := journal.NewPEMSigners(text)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Len(t, signers, bytes.Count(text, []byte("-----BEGIN ")))
		for _, s := range signers {
			signature, err := s.Sign([]byte("m"))
			require.NoError(t, err)
			require.True(t, ed25519.Verify(s.PublicKey(), []byte("m"), signature))
		}
	})
}
