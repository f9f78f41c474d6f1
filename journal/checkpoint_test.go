// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/readtrail/readtrail/journal"
)

var aCheckpoint = journal.Checkpoint{Origin: "jrn_test", Size: 4711, Root: sha256.Sum256([]byte("root"))}

func signedCheckpoint(t testing.TB, c journal.Checkpoint, s seedSigner) []byte {
	t.Helper()
	signed, err := journal.SignCheckpoint(c, s)
	require.NoError(t, err)
	return signed
}

func parsedCheckpoint(t testing.TB, note []byte) *journal.SignedCheckpoint {
	t.Helper()
	s, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return s
}

func TestACheckpointIsASignedNoteWhoseBytesNeverChange(t *testing.T) {
	got := signedCheckpoint(t, aCheckpoint, trusted)
	golden, err := os.ReadFile(filepath.Join("testdata", "4711.checkpoint"))
	require.NoError(t, err)
	assert.Equal(t, string(golden), string(got))
	assert.True(t, strings.HasPrefix(string(got), aCheckpoint.Text()+"\n— jrn_test "))

	s := parsedCheckpoint(t, got)
	assert.Equal(t, aCheckpoint, s.Checkpoint)
	assert.Equal(t, got, s.Note)
}

func TestAnotherImplementationVerifiesACheckpoint(t *testing.T) {
	vkey, err := journal.CheckpointKey(aCheckpoint.Origin, trusted.PublicKey())
	require.NoError(t, err)
	v, err := torchwood.NewLogVerifier(vkey)
	require.NoError(t, err)
	n, err := note.Open(signedCheckpoint(t, aCheckpoint, trusted), note.VerifierList(v))
	require.NoError(t, err)
	c, err := torchwood.ParseCheckpoint(n.Text)
	require.NoError(t, err)
	assert.Equal(t, aCheckpoint.Origin, c.Origin)
	assert.EqualValues(t, aCheckpoint.Size, c.N)
	assert.EqualValues(t, aCheckpoint.Root, c.Hash)
}

func TestTheSignerOfACheckpointIsATrustedKey(t *testing.T) {
	s := parsedCheckpoint(t, signedCheckpoint(t, aCheckpoint, trusted))
	key, err := s.Signer(registryOf(t, trustedKey(stranger), trustedKey(trusted)))
	require.NoError(t, err)
	assert.Equal(t, trusted.KeyID(), key.ID)
	assert.True(t, s.SignedBy(trusted.PublicKey()))
	assert.False(t, s.SignedBy(stranger.PublicKey()))
	assert.False(t, s.SignedBy(nil))

	_, err = s.Signer(registryOf(t, trustedKey(stranger)))
	require.ErrorIs(t, err, journal.ErrCheckpointUntrusted)
	_, err = s.Signer(registryOf(t))
	require.ErrorIs(t, err, journal.ErrCheckpointUntrusted)
}

func TestASignatureUnderAnotherNameIsNone(t *testing.T) {
	other := aCheckpoint
	other.Origin = "jrn_other"
	_, signature, _ := bytes.Cut(signedCheckpoint(t, other, trusted), []byte("\n\n"))
	s := parsedCheckpoint(t, append([]byte(aCheckpoint.Text()+"\n"), signature...))
	_, err := s.Signer(registryOf(t, trustedKey(trusted)))
	require.ErrorIs(t, err, journal.ErrCheckpointUntrusted)
}

func TestAChangedCheckpointHasNoSigner(t *testing.T) {
	signed := string(signedCheckpoint(t, aCheckpoint, trusted))
	s := parsedCheckpoint(t, []byte(strings.Replace(signed, "4711", "4710", 1)))
	_, err := s.Signer(registryOf(t, trustedKey(trusted)))
	require.ErrorIs(t, err, journal.ErrCheckpointUntrusted)
}

func TestASignerThatReturnsRubbishSignsNothing(t *testing.T) {
	_, err := journal.SignCheckpoint(aCheckpoint, brokenKey{trusted, make([]byte, ed25519.SignatureSize), nil})
	require.ErrorContains(t, err, "does not verify")
	_, err = journal.SignCheckpoint(aCheckpoint, brokenKey{trusted, nil, errors.New("token was pulled out")})
	require.ErrorContains(t, err, "token was pulled out")
}

type brokenKey struct {
	seedSigner
	signature []byte
	err       error
}

func (k brokenKey) Sign([]byte) ([]byte, error) { return k.signature, k.err }

func TestWhatIsNoCheckpointIsRefused(t *testing.T) {
	root := base64.StdEncoding.EncodeToString(aCheckpoint.Root[:])
	signed := string(signedCheckpoint(t, aCheckpoint, trusted))
	_, signature, _ := strings.Cut(signed, "\n\n")
	for name, text := range map[string]string{
		"nothing":                      "",
		"no signature":                 aCheckpoint.Text(),
		"an extension line":            aCheckpoint.Text() + "extra\n\n" + signature,
		"a missing line":               "jrn_test\n4711\n\n" + signature,
		"a size with a zero before it": "jrn_test\n04711\n" + root + "\n\n" + signature,
		"a size with a sign":           "jrn_test\n+4711\n" + root + "\n\n" + signature,
		"no entries":                   "jrn_test\n0\n" + root + "\n\n" + signature,
		"a size above 2^53-1":          "jrn_test\n9007199254740992\n" + root + "\n\n" + signature,
		"an origin with a space":       "jrn test\n4711\n" + root + "\n\n" + signature,
		"an origin with a plus":        "jrn+test\n4711\n" + root + "\n\n" + signature,
		"no origin":                    "\n4711\n" + root + "\n\n" + signature,
		"a short root":                 "jrn_test\n4711\n" + root[:40] + "\n\n" + signature,
		"a long root":                  "jrn_test\n4711\n" + base64.StdEncoding.EncodeToString(make([]byte, 33)) + "\n\n" + signature,
		"a second spelling of a root":  "jrn_test\n4711\n" + root[:42] + string(root[42]+1) + "=\n\n" + signature,
		"a carriage return":            strings.Replace(signed, "\n", "\r\n", 1),
		"too many signatures":          aCheckpoint.Text() + "\n" + manySignatures(journal.MaxCheckpointSignatures+1),
		"too many bytes":               aCheckpoint.Text() + "\n" + strings.Repeat("— n AAAAAAAA\n", journal.MaxCheckpointBytes/10),
	} {
		_, err := journal.ParseCheckpoint([]byte(text))
		assert.EqualError(t, err, "malformed checkpoint", name)
	}
	_, err := journal.ParseCheckpoint([]byte(aCheckpoint.Text() + "\n" + manySignatures(journal.MaxCheckpointSignatures)))
	require.NoError(t, err)
}

func manySignatures(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("— n " + base64.StdEncoding.EncodeToString([]byte{0, 0, 0, byte(i), 1}) + "\n")
	}
	return b.String()
}

func TestNoCheckpointIsSignedThatCannotBeRead(t *testing.T) {
	for _, c := range []journal.Checkpoint{{}, {Origin: "a b", Size: 1}, {Origin: "jrn_test"}, {Origin: "jrn_test", Size: 1 << 53}, {Origin: strings.Repeat("x", 256), Size: 1}} {
		_, err := journal.SignCheckpoint(c, trusted)
		assert.Error(t, err)
	}
}

func TestALeafIsHashedAsRFC6962Says(t *testing.T) {
	hash := sha256.Sum256([]byte("payload"))
	assert.Equal(t, sha256.Sum256(append([]byte{0}, hash[:]...)), journal.LeafHash(hash))
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add(signedCheckpoint(f, aCheckpoint, trusted))
	f.Add([]byte(aCheckpoint.Text() + "\n" + manySignatures(3)))
	r := registryOf(f, trustedKey(trusted))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := journal.ParseCheckpoint(text)
		if err != nil {
			assert.EqualError(t, err, "malformed checkpoint")
			return
		}
		assert.True(t, bytes.HasPrefix(text, []byte(s.Text()+"\n")), "it is read as it is written")
		if _, err := s.Signer(r); err == nil {
			assert.Equal(t, aCheckpoint, s.Checkpoint, "nothing else was ever signed")
		}
	})
}
