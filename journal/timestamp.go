// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // RFC 3161 names the certificate by SHA-1; RFC 5816 ends that
	"crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"
)

// MaxTimestampBytes bounds a time stamp response.
const MaxTimestampBytes = 64 << 10

var (
	errTimestampMalformed = errors.New("not a granted RFC 3161 time stamp with one signer whose signature verifies")
	errTimestampOther     = errors.New("the time stamp is not for this checkpoint")
	errTimestampSigner    = errors.New("the time stamp is not signed by a certificate for time stamping only")
	errTimestampUntrusted = errors.New("the time stamp does not lead to a trusted root, to which belong the intermediate certificates that it does not carry")
	errNoTimestampRoots   = errors.New("no roots of time stamp authorities are given")
)

// Timestamp verifies an RFC 3161 time stamp of the checkpoint: a TimeStampResp
// in DER of at most MaxTimestampBytes, over the SHA-256 of the note's text
// without its signatures, that carries the certificates up to one of the roots.
// A root need not be self-signed: many tokens carry only the certificate of their
// signer, and then the intermediate above it has to be among the roots.
// The chain is judged at the time that it states. Errors say nothing of the
// token.
func (s *SignedCheckpoint) Timestamp(token []byte, roots *x509.CertPool) (Attestation, error) {
	if roots == nil { // package pkcs7 would trust everybody
		return Attestation{}, errNoTimestampRoots
	}
	if len(token) > MaxTimestampBytes {
		return Attestation{}, errTimestampMalformed
	}
	stamp, err := timestamp.ParseResponse(token)
	if err != nil || len(stamp.Certificates) == 0 {
		return Attestation{}, errTimestampMalformed
	}
	digest := sha256.Sum256([]byte(s.text))
	if stamp.HashAlgorithm != crypto.SHA256 || !bytes.Equal(stamp.HashedMessage, digest[:]) {
		return Attestation{}, errTimestampOther
	}
	signed, err := pkcs7.Parse(stamp.RawToken)
	if err != nil {
		return Attestation{}, errTimestampMalformed
	}
	signer := signed.GetOnlySigner()
	if signer == nil {
		return Attestation{}, errTimestampMalformed
	}
	if !forTimestampsOnly(signer) || !namesSigner(signed, signer) {
		return Attestation{}, errTimestampSigner
	}
	intermediates := x509.NewCertPool()
	for _, c := range signed.Certificates {
		intermediates.AddCert(c)
	}
	if _, err := signer.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: stamp.Time,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	}); err != nil {
		return Attestation{}, errTimestampUntrusted
	}
	return Attestation{By: signer.Subject.String(), Kind: AttestedByTimestamp, At: stamp.Time.UTC()}, nil
}

// The object identifiers of RFC 3161, RFC 5280, RFC 5035 and RFC 5652.
var (
	oidExtKeyUsage          = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidTSTInfo              = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidSigningCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidSigningCertificateV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidSHA384               = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512               = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidSHA256               = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
)

// forTimestampsOnly holds RFC 3161 section 2.3: the certificate must say, in a
// critical extension, that it is for time stamping and for nothing else.
func forTimestampsOnly(c *x509.Certificate) bool {
	if len(c.ExtKeyUsage) != 1 || c.ExtKeyUsage[0] != x509.ExtKeyUsageTimeStamping || len(c.UnknownExtKeyUsage) > 0 {
		return false
	}
	for _, e := range c.Extensions {
		if e.Id.Equal(oidExtKeyUsage) {
			return e.Critical
		}
	}
	return false
}

// essCertID is ESSCertIDv2 (RFC 5035) and, without a hash algorithm, ESSCertID
// (RFC 2634).
type essCertID struct {
	HashAlgorithm pkix.AlgorithmIdentifier `asn1:"optional"`
	CertHash      []byte
	IssuerSerial  asn1.RawValue `asn1:"optional"`
}

type signingCertificate struct {
	Certs    []essCertID
	Policies asn1.RawValue `asn1:"optional"`
}

// namesSigner holds RFC 3161 section 2.4.2: what is signed is a TSTInfo, and the
// signed attributes name the certificate of the signer, so that no other one can
// be put in its place.
func namesSigner(signed *pkcs7.PKCS7, signer *x509.Certificate) bool {
	var contentType asn1.ObjectIdentifier
	if signed.UnmarshalSignedAttribute(pkcs7.OIDAttributeContentType, &contentType) != nil || !contentType.Equal(oidTSTInfo) {
		return false
	}
	var named signingCertificate
	byDefault := crypto.SHA256
	if signed.UnmarshalSignedAttribute(oidSigningCertificateV2, &named) != nil {
		byDefault = crypto.SHA1
		if signed.UnmarshalSignedAttribute(oidSigningCertificate, &named) != nil {
			return false
		}
	}
	if len(named.Certs) == 0 {
		return false
	}
	first, hash := named.Certs[0], byDefault
	if oid := first.HashAlgorithm.Algorithm; len(oid) > 0 {
		switch {
		case oid.Equal(oidSHA256):
			hash = crypto.SHA256
		case oid.Equal(oidSHA384):
			hash = crypto.SHA384
		case oid.Equal(oidSHA512):
			hash = crypto.SHA512
		default:
			return false
		}
	}
	h := hash.New()
	h.Write(signer.Raw)
	return bytes.Equal(h.Sum(nil), first.CertHash)
}
