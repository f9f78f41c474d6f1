// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// cosigner is a witness that states any time.
type cosigner struct {
	private ed25519.PrivateKey
	vkey    *torchwood.CosignatureVerifier
}

func newCosigner(t testing.TB, name string, seed byte) cosigner {
	private := newSeedSigner(seed).private
	v, err := torchwood.NewCosignatureVerifierFromKey(name, private.Public())
	require.NoError(t, err)
	return cosigner{private, v}
}

func (c cosigner) witness(t testing.TB) journal.Witness {
	w, err := journal.ParseWitness(c.vkey.String())
	require.NoError(t, err)
	return w
}

func (c cosigner) cosign(text string, seconds int64) string {
	value := binary.BigEndian.AppendUint32(nil, c.vkey.KeyHash())
	value = binary.BigEndian.AppendUint64(value, uint64(seconds))
	value = append(value, ed25519.Sign(c.private, []byte(fmt.Sprintf("cosignature/v1\ntime %d\n%s", seconds, text)))...)
	return "— " + c.vkey.Name() + " " + base64.StdEncoding.EncodeToString(value) + "\n"
}

func TestOnlyCosignaturesThatVerifyAttest(t *testing.T) {
	one, two, three := newCosigner(t, "one.example", 11), newCosigner(t, "two.example", 12), newCosigner(t, "three.example", 13)
	other := aCheckpoint
	other.Size++
	note := signedCheckpoint(t, aCheckpoint, trusted)
	for _, line := range []string{
		one.cosign(aCheckpoint.Text(), 1000), one.cosign(aCheckpoint.Text(), 900), one.cosign(other.Text(), 800), one.cosign(aCheckpoint.Text(), 0),
		two.cosign(other.Text(), 1000), three.cosign(aCheckpoint.Text(), 0), three.cosign(aCheckpoint.Text(), 1<<62),
	} {
		note = append(note, line...)
	}
	s := parsedCheckpoint(t, note)
	got := s.Cosignatures([]journal.Witness{two.witness(t), one.witness(t), one.witness(t), three.witness(t)})
	assert.Equal(t, []journal.Attestation{{By: "one.example", Kind: journal.AttestedByWitness, At: time.Unix(900, 0).UTC()}}, got)
	assert.Empty(t, s.Cosignatures(nil))
	_, err := s.Signer(registryOf(t, trustedKey(trusted)))
	require.NoError(t, err, "cosignatures leave the signer as it was")
}

func TestTheSignatureOfTheJournalIsNoCosignature(t *testing.T) {
	self := newCosigner(t, aCheckpoint.Origin, 1)
	require.Equal(t, trusted.PublicKey(), self.private.Public())
	s := parsedCheckpoint(t, signedCheckpoint(t, aCheckpoint, trusted))
	assert.Empty(t, s.Cosignatures([]journal.Witness{self.witness(t)}))
}

func TestWhatIsNoKeyOfAWitnessIsRefused(t *testing.T) {
	vkey := newCosigner(t, "one.example", 11).vkey.String()
	w, err := journal.ParseWitness(vkey)
	require.NoError(t, err)
	assert.Equal(t, "one.example", w.Name)
	assert.Equal(t, vkey, w.String())

	name, rest, _ := strings.Cut(vkey, "+")
	hash, key, _ := strings.Cut(rest, "+")
	logKey, err := journal.CheckpointKey("jrn_test", trusted.PublicKey())
	require.NoError(t, err)
	for _, text := range []string{
		"", vkey + " ", " " + vkey, name, name + "+" + hash, "other+" + rest, name + "+" + strings.ToUpper(hash) + "X+" + key,
		name + "+00000000+" + key, name + "+" + hash + "+" + key[:len(key)-4], logKey, vkey + "\n",
	} {
		_, err := journal.ParseWitness(text)
		assert.ErrorContains(t, err, "not the verifier key of a witness", text)
	}
}

func FuzzCosignatures(f *testing.F) {
	one := newCosigner(f, "one.example", 11)
	w := one.witness(f)
	note := signedCheckpoint(f, aCheckpoint, trusted)
	f.Add([]byte(one.cosign(aCheckpoint.Text(), 1000)))
	f.Add([]byte("— one.example AAAA\n"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		s, err := journal.ParseCheckpoint(append(bytes.Clone(note), lines...))
		if err != nil {
			return
		}
		if got := s.Cosignatures([]journal.Witness{w}); len(got) > 0 {
			assert.Equal(t, int64(1000), got[0].At.Unix(), "it cosigned at no other time")
		}
	})
}
