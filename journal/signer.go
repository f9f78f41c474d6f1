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
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
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

const (
	pemType = "PRIVATE KEY" // PKCS#8, RFC 7468
	// maxKeyFileBytes bounds what is read of a key file; an Ed25519 key takes 119.
	maxKeyFileBytes = 64 << 10
	// makeKey is the command that makes a key file.
	makeKey = "readtrail keys new --out DIR"
)

type keySigner struct {
	id      string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

// NewFileSigner returns a signer with the Ed25519 key of a PKCS#8 PEM file. It
// refuses a file that others than its owner can read or write.
func NewFileSigner(path string) (Signer, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("signing key: %w; make one with: %s", err, makeKey)
	case err != nil:
		return nil, fmt.Errorf("signing key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("signing key %s is a directory; name the file in it that holds the key, or make one with: %s", path, makeKey)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("signing key %s has mode %04o and is open to others than its owner; run: chmod 600 %[1]s", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileBytes))
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	private, err := parsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w; make one with: %s", path, err, makeKey)
	}
	return newKeySigner(private), nil
}

func newKeySigner(private ed25519.PrivateKey) *keySigner {
	public := private.Public().(ed25519.PublicKey)
	return &keySigner{id: KeyID(public), public: public, private: private}
}

// parsePrivateKey reads a PKCS#8 PEM. Its errors hold nothing of the key.
func parsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, errors.New("file is not a PKCS#8 PEM (" + pemType + ")")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("file is not a PKCS#8 private key")
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("key is a %T, not Ed25519", key)
	}
	return private, nil
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
