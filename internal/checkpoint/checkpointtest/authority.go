// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkpointtest plays the places outside a journal that attest
// checkpoints, for tests: a time stamp authority and a witness.
package checkpointtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	"github.com/stretchr/testify/require"
)

// Authority is an RFC 3161 time stamp authority with a root of its own.
type Authority struct {
	// Roots trusts the authority, RootPEM is its root.
	Roots   *x509.CertPool
	RootPEM []byte
	// Now is the time that it states.
	Now func() time.Time

	t           testing.TB
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

var stampingOnly = []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}

// NewAuthority makes an authority whose certificate is for time stamping only and
// valid for ten years around now.
func NewAuthority(t testing.TB) *Authority { return NewAuthorityFor(t, stampingOnly, true) }

// NewAuthorityFor makes an authority whose certificate is for other usages, or
// does not say so in a critical extension.
func NewAuthorityFor(t testing.TB, usages []x509.ExtKeyUsage, critical bool) *Authority {
	t.Helper()
	rootKey, leafKey := newKey(t), newKey(t)
	from, until := time.Now().AddDate(-5, 0, 0), time.Now().AddDate(5, 0, 0)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Root"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	require.NoError(t, err)
	root, err = x509.ParseCertificate(rootDER)
	require.NoError(t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test Authority"}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if critical {
		leaf.ExtraExtensions = []pkix.Extension{criticalUsages(t, usages)}
	} else {
		leaf.ExtKeyUsage = usages
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	require.NoError(t, err)
	leaf, err = x509.ParseCertificate(leafDER)
	require.NoError(t, err)
	a := &Authority{
		Roots: x509.NewCertPool(), RootPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		Now: time.Now, t: t, certificate: leaf, key: leafKey,
	}
	a.Roots.AddCert(root)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// criticalUsages is the extension that crypto/x509 writes as not critical.
func criticalUsages(t testing.TB, usages []x509.ExtKeyUsage) pkix.Extension {
	var oids []asn1.ObjectIdentifier
	for _, u := range usages {
		switch u {
		case x509.ExtKeyUsageTimeStamping:
			oids = append(oids, asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8})
		case x509.ExtKeyUsageCodeSigning:
			oids = append(oids, asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 3})
		}
	}
	value, err := asn1.Marshal(oids)
	require.NoError(t, err)
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: value}
}

// Stamp answers a request in DER.
func (a *Authority) Stamp(request []byte) []byte {
	parsed, err := timestamp.ParseRequest(request)
	require.NoError(a.t, err)
	return a.StampDigest(parsed.HashAlgorithm, parsed.HashedMessage, parsed.Nonce)
}

// StampDigest returns a time stamp of a digest.
func (a *Authority) StampDigest(algorithm crypto.Hash, digest []byte, nonce *big.Int) []byte {
	stamp := timestamp.Timestamp{
		HashAlgorithm: algorithm, HashedMessage: digest, Time: a.Now(), Nonce: nonce,
		Policy: asn1.ObjectIdentifier{1, 2, 3, 4}, AddTSACertificate: true,
	}
	response, err := stamp.CreateResponseWithOpts(a.certificate, a.key, crypto.SHA256)
	require.NoError(a.t, err)
	return response
}

// ServeHTTP answers as RFC 3161 section 3.4 says.
func (a *Authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/timestamp-query" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	_, _ = w.Write(a.Stamp(request))
}
