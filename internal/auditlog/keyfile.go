// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json/v2"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"runtime"

	"github.com/readtrail/readtrail/record"
)

// TrustFiles are where keys and certificates of producers stand.
type TrustFiles struct {
	// Keys is a JWK Set (RFC 7517): public keys of Ed25519 (OKP), P-256 (EC) and RSA,
	// and secrets of HMAC-SHA256 (oct). Each has a kid.
	Keys string
	// Certificates is PEM: certificates of producers, each trusted by itself.
	Certificates string
	// Roots is PEM: certificates that may issue producers' certificates.
	Roots string
}

// Limits of the files of trust.
const (
	maxTrustFile = 1 << 20
	maxKeys      = 256
)

// ReadTrust reads who is trusted. Files that are not named give nothing. Errors begin
// with the key that the configuration has for the file.
func ReadTrust(files TrustFiles) (*Trust, error) {
	t := &Trust{}
	if files.Keys != "" {
		if err := t.readKeys(files.Keys); err != nil {
			return nil, fmt.Errorf("keys_file: %w", err)
		}
	}
	if files.Certificates != "" {
		certificates, err := readCertificates(files.Certificates)
		if err != nil {
			return nil, fmt.Errorf("certificates_file: %w", err)
		}
		t.certificates = certificates
	}
	if files.Roots != "" {
		roots, err := readCertificates(files.Roots)
		if err != nil {
			return nil, fmt.Errorf("roots_file: %w", err)
		}
		t.roots = x509.NewCertPool()
		for _, c := range roots {
			t.roots.AddCert(c)
		}
	}
	if n := len(t.keys) + len(t.certificates); n > maxKeys {
		return nil, fmt.Errorf("%d keys and certificates of producers are more than %d", n, maxKeys)
	}
	return t, nil
}

// jwk is a JSON Web Key (RFC 7517, 7518, 8037). Other members are allowed.
type jwk struct {
	Kty string `json:"kty"`
	Kid string `json:"kid"`
	Alg string `json:"alg"`
	Crv string `json:"crv"`
	X   string `json:"x"`
	Y   string `json:"y"`
	N   string `json:"n"`
	E   string `json:"e"`
	K   string `json:"k"`
	D   string `json:"d"`
}

func (t *Trust) readKeys(name string) error {
	text, mode, err := readTrustFile(name)
	if err != nil {
		return err
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) == 0 {
		return fmt.Errorf("%s is no JWK Set with keys", name)
	}
	ids := map[string]bool{}
	for i, k := range set.Keys {
		key, err := k.parse()
		if err != nil {
			return fmt.Errorf("%s: key %d: %w", name, i, err)
		}
		if ids[key.id] {
			return fmt.Errorf("%s: key %d has the kid of another one", name, i)
		}
		if key.secret != nil && runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
			return fmt.Errorf("%s holds a secret and can be read by others; run: chmod 600 %s", name, name)
		}
		ids[key.id] = true
		t.keys = append(t.keys, key)
	}
	return nil
}

var (
	errKeyID  = errors.New("kid is missing, or has not the shape of an id")
	errKeyD   = errors.New("it has a private key, which does not belong here")
	errKeyBad = errors.New("it is no public key of OKP Ed25519, EC P-256 or RSA of 2048 bits or more, and no secret (oct) of 32 bytes or more")
	errKeyAlg = errors.New("alg does not fit the key")
)

func (k *jwk) parse() (trustedKey, error) {
	key := trustedKey{id: k.Kid}
	switch {
	case !record.ValidGivenID(k.Kid):
		return key, errKeyID
	case k.D != "":
		return key, errKeyD
	}
	switch k.Kty {
	case "OKP":
		x, ok := bytesOf(k.X)
		if !ok || k.Crv != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return key, errKeyBad
		}
		key.public = ed25519.PublicKey(x)
	case "EC":
		x, okX := bytesOf(k.X)
		y, okY := bytesOf(k.Y)
		if !okX || !okY || k.Crv != "P-256" || len(x) != 32 || len(y) != 32 {
			return key, errKeyBad
		}
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
		if err != nil {
			return key, errKeyBad
		}
		key.public = public
	case "RSA":
		n, okN := bytesOf(k.N)
		e, okE := bytesOf(k.E)
		if !okN || !okE || len(e) > 4 {
			return key, errKeyBad
		}
		key.public = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	case "oct":
		secret, ok := bytesOf(k.K)
		if !ok || len(secret) < 32 {
			return key, errKeyBad
		}
		key.algorithm, key.secret = algHMAC, secret
	}
	if key.secret == nil {
		key.algorithm = algorithmOf(key.public)
	}
	switch {
	case key.algorithm == "":
		return key, errKeyBad
	case k.Alg != "" && algorithmNamed(k.Alg) != key.algorithm:
		return key, errKeyAlg
	}
	return key, nil
}

func bytesOf(s string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return b, err == nil && len(b) > 0
}

func readCertificates(name string) (all []*x509.Certificate, err error) {
	text, _, err := readTrustFile(name)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("%s has something else than certificates", name)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: certificate %d cannot be read", name, len(all))
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no certificate in PEM", name)
	}
	return all, nil
}

func readTrustFile(name string) ([]byte, os.FileMode, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, io.LimitReader(f, maxTrustFile+1)); err != nil {
		return nil, 0, err
	}
	if text.Len() > maxTrustFile {
		return nil, 0, fmt.Errorf("%s has more than %d bytes", name, maxTrustFile)
	}
	return text.Bytes(), info.Mode(), nil
}
