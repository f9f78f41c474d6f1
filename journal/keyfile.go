// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

const (
	pemType = "PRIVATE KEY" // PKCS#8, RFC 7468
	// maxKeyFileBytes bounds what is read of a key file; an Ed25519 key takes 119.
	maxKeyFileBytes = 64 << 10
	// MaxKeys bounds the keys of a key file: the one that signs and those that it
	// takes over from.
	MaxKeys = 16
	// makeKey is the command that makes a key file.
	makeKey = "readtrail keys new --out DIR"
)

// pemBegin begins every block of a PEM (RFC 7468).
var pemBegin = []byte("-----BEGIN ")

// NewFileSigner returns a signer with the first key of a key file, see
// NewFileSigners.
func NewFileSigner(path string) (Signer, error) {
	signers, err := NewFileSigners(path)
	if err != nil {
		return nil, err
	}
	return signers[0], nil
}

// NewFileSigners returns signers with the keys of a key file, in its order: the
// first one signs, the others are outgoing keys, which may only hand over to it
// (contract 4). It refuses a file that others than its owner can read or write.
func NewFileSigners(path string) ([]Signer, error) {
	text, err := ReadKeyFile(path)
	if err != nil {
		return nil, err
	}
	signers, err := NewPEMSigners(text)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w; make one with: %s", path, err, makeKey)
	}
	return signers, nil
}

// NewPEMSigner returns a signer with the first key of a text of PEM, see
// NewPEMSigners.
func NewPEMSigner(text []byte) (Signer, error) {
	signers, err := NewPEMSigners(text)
	if err != nil {
		return nil, err
	}
	return signers[0], nil
}

// NewPEMSigners returns signers with the keys of a text that holds one to MaxKeys
// Ed25519 keys as PKCS#8 PEM (RFC 5958, RFC 7468, RFC 8410), in its order. Its errors
// hold nothing of the text. A block that cannot be read makes the whole text
// unusable: the key behind it would sign in its place.
func NewPEMSigners(text []byte) ([]Signer, error) {
	if len(text) > maxKeyFileBytes {
		return nil, fmt.Errorf("key has more than %d bytes", maxKeyFileBytes)
	}
	blocks := bytes.Count(text, pemBegin)
	switch {
	case blocks == 0:
		return nil, errors.New("key is not a PKCS#8 PEM (" + pemType + ")")
	case blocks > MaxKeys:
		return nil, fmt.Errorf("there are more than %d keys", MaxKeys)
	}
	signers := make([]Signer, 0, blocks)
	known := make(map[string]bool, blocks)
	for i := range blocks {
		var private ed25519.PrivateKey
		var err error
		if private, text, err = parsePrivateKey(text); err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, blocks, err)
		}
		s := newKeySigner(private)
		if known[s.id] {
			return nil, fmt.Errorf("key %d of %d: it stands there twice", i+1, blocks)
		}
		known[s.id] = true
		signers = append(signers, s)
	}
	return signers, nil
}

// parsePrivateKey reads the PEM block that a text begins with, and returns what
// is behind it.
func parsePrivateKey(text []byte) (private ed25519.PrivateKey, rest []byte, err error) {
	begin := bytes.Index(text, pemBegin)
	if begin < 0 {
		return nil, nil, errors.New("it is not a PEM block")
	}
	// A block that is damaged would be passed over for the next one.
	end := len(text)
	if next := bytes.Index(text[begin+1:], pemBegin); next >= 0 {
		end = begin + 1 + next
	}
	block, _ := pem.Decode(text[begin:end])
	switch {
	case block == nil:
		return nil, nil, errors.New("it is not a whole PEM block")
	case block.Type != pemType || len(block.Headers) > 0:
		return nil, nil, errors.New("it is not a PKCS#8 PEM without password (" + pemType + ")")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, errors.New("it is not a PKCS#8 private key")
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("it is a %T, not Ed25519", key)
	}
	return private, text[end:], nil
}

// ReadKeyFile reads a file with private keys, of at most 64 KiB. It refuses a file
// that others than its owner can read or write. The errors say what to do.
func ReadKeyFile(path string) ([]byte, error) {
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
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if len(text) > maxKeyFileBytes {
		return nil, fmt.Errorf("signing key %s has more than %d bytes; name the file that holds the key", path, maxKeyFileBytes)
	}
	return text, nil
}
