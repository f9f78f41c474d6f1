// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the draft has fingerprints by SHA-1; they only choose among certificates that are trusted anyway
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Trust is whose proofs are believed. What a record says of its key only chooses
// among these (requirement E5): a certificate in a record proves nothing about who
// made the record, unless it is one of these or leads to a root of these.
type Trust struct {
	keys         []trustedKey
	roots        *x509.CertPool
	certificates []*x509.Certificate
}

// trustedKey is a key by which proofs are checked.
type trustedKey struct {
	// id stands in the journal.
	id        string
	algorithm string
	// public is an ed25519.PublicKey, *ecdsa.PublicKey or *rsa.PublicKey; secret is
	// the one of a MAC.
	public any
	secret []byte
}

// The algorithms of the draft (JWA and IANA names) that are known here.
const (
	algEdDSA = "EdDSA"
	algES256 = "ES256"
	algRS256 = "RS256"
	algHMAC  = "HMAC-SHA256"
)

// algorithmNamed returns the known name of an algorithm, "" for any other one.
func algorithmNamed(name string) string {
	switch name {
	case algEdDSA, algES256, algRS256, algHMAC:
		return name
	case "HS256": // JWA's name of it
		return algHMAC
	case "Ed25519": // RFC 9864's name of it
		return algEdDSA
	default:
		return ""
	}
}

// Empty reports whether nothing is trusted.
func (t *Trust) Empty() bool {
	return t == nil || len(t.keys) == 0 && len(t.certificates) == 0 && t.roots == nil
}

// The forms of a reference to a key.
const (
	keyNone        = "none"
	keyCertificate = "certificate"
	keyFingerprint = "fingerprint"
	keyReference   = "reference"
)

// maxCertificate is the largest certificate that is looked at, in bytes of DER.
const maxCertificate = 16 << 10

// keyOf says how a record refers to a key.
func keyOf(reference string) record.AuditKey {
	if reference == "" {
		return record.AuditKey{Form: keyNone}
	}
	if der := certificateIn(reference); der != nil {
		sum := sha256.Sum256(der)
		return record.AuditKey{Form: keyCertificate, Ref: &record.Text{
			ValueDigest: "sha256:" + hex.EncodeToString(sum[:]), ValueCanonicalization: "bytes", ValueSize: int64(len(der)),
		}}
	}
	if _, digits, found := fingerprint(reference); found {
		return record.AuditKey{Form: keyFingerprint, Ref: &record.Text{Value: digits}}
	}
	ref := idOf(reference)
	return record.AuditKey{Form: keyReference, Ref: &ref}
}

// certificateIn returns the DER that a reference is, or nil.
func certificateIn(reference string) []byte {
	if len(reference) < 128 || len(reference) > base64.StdEncoding.EncodedLen(maxCertificate) {
		return nil
	}
	der, err := base64.StdEncoding.Strict().DecodeString(reference)
	if err != nil || der[0] != 0x30 {
		return nil
	}
	return der
}

// fingerprint reads a fingerprint, with colons as older versions of the draft have it
// or without.
func fingerprint(reference string) (algorithm, digits string, found bool) {
	algorithm, digits, found = strings.Cut(reference, ":")
	digits = strings.ToLower(strings.ReplaceAll(digits, ":", ""))
	want := map[string]int{"sha256": 2 * sha256.Size, "sha1": 2 * sha1.Size}[algorithm]
	if !found || want == 0 || len(digits) != want || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", "", false
	}
	return algorithm, digits, true
}

// find returns the trusted keys of an algorithm that a reference can mean. Without a
// reference those are all of them.
func (t *Trust) find(reference, algorithm string, now time.Time) (found []trustedKey) {
	if t == nil {
		return nil
	}
	if reference == "" {
		for _, k := range t.keys {
			if k.algorithm == algorithm {
				found = append(found, k)
			}
		}
		for _, c := range t.certificates {
			found = append(found, keyIn(c, algorithm, now)...)
		}
		return found
	}
	if der := certificateIn(reference); der != nil {
		c, err := x509.ParseCertificate(der)
		if err != nil || !t.trusts(c, now) {
			return nil
		}
		return keyIn(c, algorithm, now)
	}
	for _, k := range t.keys {
		if k.id == reference && k.algorithm == algorithm {
			found = append(found, k)
		}
	}
	for _, c := range t.certificates {
		if isMeant(c, reference) {
			found = append(found, keyIn(c, algorithm, now)...)
		}
	}
	return found
}

// trusts reports whether a certificate is a trusted one or leads to a trusted root.
func (t *Trust) trusts(c *x509.Certificate, now time.Time) bool {
	for _, own := range t.certificates {
		if bytes.Equal(own.Raw, c.Raw) {
			return true
		}
	}
	if t.roots == nil {
		return false
	}
	_, err := c.Verify(x509.VerifyOptions{Roots: t.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}

// isMeant reports whether a reference means a certificate: by fingerprint, subject key
// identifier, or issuer and serial number.
func isMeant(c *x509.Certificate, reference string) bool {
	if algorithm, digits, is := fingerprint(reference); is {
		if algorithm == "sha1" {
			sum := sha1.Sum(c.Raw) //nolint:gosec // see the import
			return digits == hex.EncodeToString(sum[:])
		}
		sum := sha256.Sum256(c.Raw)
		return digits == hex.EncodeToString(sum[:])
	}
	if ski := hex.EncodeToString(c.SubjectKeyId); ski != "" && ski == strings.ToLower(strings.ReplaceAll(reference, ":", "")) {
		return true
	}
	return reference == c.Issuer.String()+"/"+c.SerialNumber.String()
}

// keyIn returns the key of a certificate that is valid now, if it is one of the
// algorithm.
func keyIn(c *x509.Certificate, algorithm string, now time.Time) []trustedKey {
	if now.Before(c.NotBefore) || now.After(c.NotAfter) || algorithmOf(c.PublicKey) != algorithm {
		return nil
	}
	sum := sha256.Sum256(c.Raw)
	return []trustedKey{{id: "cert:" + hex.EncodeToString(sum[:]), algorithm: algorithm, public: c.PublicKey}}
}

// algorithmOf returns the algorithm of a public key, "" for one that is not used here.
func algorithmOf(public any) string {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return algEdDSA
	case *ecdsa.PublicKey:
		if k.Curve.Params().BitSize == 256 {
			return algES256
		}
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSA && bits <= maxRSA {
			return algRS256
		}
	}
	return ""
}

// RSA keys that are used, in bits.
const (
	minRSA = 2048
	maxRSA = 8192
)
