// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// Errors of an OwnKeyVerifier.
var (
	errOwnKey       = errors.New("signature has a key_id that is not that of its public_key")
	errOwnAlgorithm = errors.New("signature is of an algorithm that this version cannot verify")
	errOwnSignature = errors.New("signature is not one over the record hash by the key that it names")
)

// OwnKeyVerifier verifies signatures under the key that each of them names: that
// whoever has that key signed. Whether the key is to be trusted is for the caller
// to say. It remembers the key and the group of the signature before, so that
// neighbors cost little, and is for one goroutine.
type OwnKeyVerifier struct {
	keyID, spelled string
	key            Key
	group          verifiedGroup
}

// Verify verifies the signature of an entry with a record hash (contract 4): under
// its public_key, of which key_id must be the thumbprint. Errors are constant.
func (v *OwnKeyVerifier) Verify(s *Signature, recordHash [sha256.Size]byte) error {
	if err := v.setKey(s); err != nil {
		return err
	}
	value, err := decodeBase64([]byte(s.Value))
	if err != nil {
		return errOwnSignature
	}
	switch s.Algorithm {
	case signatureAlgorithm:
		if !ed25519.Verify(v.key.PublicKey, recordHash[:], value) {
			return errOwnSignature
		}
		return nil
	case groupAlgorithm:
		return v.verifyGroup(value, recordHash)
	}
	return errOwnAlgorithm
}

func (v *OwnKeyVerifier) setKey(s *Signature) error {
	if v.spelled != "" && s.KeyID == v.keyID && s.PublicKey == v.spelled {
		return nil
	}
	raw, err := decodeBase64([]byte(s.PublicKey))
	if err != nil {
		return errOwnKey
	}
	public, err := decodePublicKey(base64.RawURLEncoding.EncodeToString(raw))
	if err != nil || KeyID(public) != s.KeyID {
		return errOwnKey
	}
	*v = OwnKeyVerifier{keyID: s.KeyID, spelled: s.PublicKey, key: Key{ID: s.KeyID, PublicKey: public}}
	return nil
}

func (v *OwnKeyVerifier) verifyGroup(value []byte, recordHash [sha256.Size]byte) error {
	g, err := parseGroupSignature(value)
	if err != nil {
		return errOwnSignature
	}
	this := verifiedGroup{key: &v.key, root: g.root(recordHash), signature: g.signature}
	if this == v.group {
		return nil
	}
	if !ed25519.Verify(v.key.PublicKey, groupMessage(this.root), this.signature[:]) {
		return errOwnSignature
	}
	v.group = this
	return nil
}
