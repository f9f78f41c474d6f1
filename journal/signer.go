// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
)

// Signer signs entries and checkpoints. It is safe for concurrent use.
type Signer interface {
	// KeyID returns the base64url RFC 7638 thumbprint of the public key.
	KeyID() string
	PublicKey() ed25519.PublicKey
	// Sign returns the 64 bytes of the Ed25519 signature (RFC 8032) over a message.
	// Every kind of message has a form of its own, so that a signature of one never
	// serves as that of another: an entry is the 32 bytes of its digest, a commit
	// group has a prefix, a checkpoint is the text of a note.
	Sign(message []byte) ([]byte, error)
}

type keySigner struct {
	id      string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

func newKeySigner(private ed25519.PrivateKey) *keySigner {
	public := private.Public().(ed25519.PublicKey)
	return &keySigner{id: KeyID(public), public: public, private: private}
}

func (s *keySigner) KeyID() string                { return s.id }
func (s *keySigner) PublicKey() ed25519.PublicKey { return s.public }

func (s *keySigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

// KeyID returns the id of a public key: its RFC 7638 thumbprint with SHA-256,
// in base64url without padding.
func KeyID(public ed25519.PublicKey) string {
	jwk := `{"crv":"` + keyCurve + `","kty":"` + keyType + `","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`
	sum := sha256.Sum256([]byte(jwk))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newPrivateKey makes a key and its PKCS#8 PEM.
func newPrivateKey() (text []byte, public ed25519.PublicKey, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("new signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("new signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), public, nil
}
