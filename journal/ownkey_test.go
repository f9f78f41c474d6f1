// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func signatureOf(s *keySigner, digest [sha256.Size]byte) Signature {
	value, _ := s.Sign(digest[:])
	return Signature{
		Algorithm: signatureAlgorithm, KeyID: s.KeyID(), PublicKey: base64.StdEncoding.EncodeToString(s.PublicKey()),
		Value: base64.StdEncoding.EncodeToString(value),
	}
}

func TestASignatureIsVerifiedUnderTheKeyThatItNames(t *testing.T) {
	var v OwnKeyVerifier
	digest := sha256.Sum256([]byte("an entry"))
	good := signatureOf(groupSigner, digest)
	other := newKeySigner(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize)))
	otherGood := signatureOf(other, digest)
	for range 2 { // whatever was verified before
		require.NoError(t, v.Verify(&good, digest))
		require.NoError(t, v.Verify(&otherGood, digest))
		require.ErrorIs(t, v.Verify(&good, sha256.Sum256(nil)), errOwnSignature)
		for name, c := range map[string]struct {
			change func(*Signature)
			want   error
		}{
			"nothing":              {func(s *Signature) { *s = Signature{} }, errOwnKey},
			"zeros":                {func(s *Signature) { s.Value = base64.StdEncoding.EncodeToString(make([]byte, 64)) }, errOwnSignature},
			"no signature":         {func(s *Signature) { s.Value = "" }, errOwnSignature},
			"another key":          {func(s *Signature) { s.KeyID, s.PublicKey = otherGood.KeyID, otherGood.PublicKey }, errOwnSignature},
			"another public key":   {func(s *Signature) { s.PublicKey = otherGood.PublicKey }, errOwnKey},
			"another key id":       {func(s *Signature) { s.KeyID = otherGood.KeyID }, errOwnKey},
			"no key":               {func(s *Signature) { s.PublicKey = "" }, errOwnKey},
			"an unknown algorithm": {func(s *Signature) { s.Algorithm = "none" }, errOwnAlgorithm},
			"a group that is none": {func(s *Signature) { s.Algorithm = groupAlgorithm }, errOwnSignature},
			"a point of low order": {func(s *Signature) {
				s.PublicKey = base64.StdEncoding.EncodeToString(make([]byte, 32))
				s.KeyID = KeyID(make([]byte, 32))
			}, errOwnKey},
			"spelled with a break":  {func(s *Signature) { s.Value = s.Value[:4] + "\n" + s.Value[4:] }, errOwnSignature},
			"a key with spare bits": {func(s *Signature) { s.PublicKey = s.PublicKey[:42] + "/=" }, errOwnKey},
		} {
			bad := good
			c.change(&bad)
			require.ErrorIs(t, v.Verify(&bad, digest), c.want, name)
		}
	}
}

func TestEveryEntryOfAGroupVerifiesUnderTheKeyThatItNames(t *testing.T) {
	_, lines := groupOf(t, 40)
	var v OwnKeyVerifier
	var before Integrity
	for i, line := range lines {
		var p parts
		line = bytes.TrimSuffix(line, []byte("\n"))
		require.NoError(t, p.read(line, nil))
		this, digest := p.integrity(), p.cut.digest(line)
		require.NoError(t, v.Verify(&this.Signature, digest), fmt.Sprint(i))
		require.ErrorIs(t, v.Verify(&this.Signature, sha256.Sum256(nil)), errOwnSignature)
		if i > 0 {
			require.ErrorIs(t, v.Verify(&before.Signature, digest), errOwnSignature)
		}
		before = this
	}
}

func BenchmarkOwnKey(b *testing.B) {
	var v OwnKeyVerifier
	digest := sha256.Sum256([]byte("an entry"))
	s := signatureOf(groupSigner, digest)
	for b.Loop() {
		if err := v.Verify(&s, digest); err != nil {
			b.Fatal(err)
		}
	}
}
