// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials"
)

// certificates are an authority and what it issued, as PEM files.
type certificates struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newCertificates(t *testing.T) *certificates {
	t.Helper()
	c := &certificates{t: t, dir: t.TempDir()}
	c.cert, c.key = c.issue("ca", &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return c
}

// issue writes name.pem and name-key.pem.
func (c *certificates) issue(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(c.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := c.cert, c.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(c.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(c.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(c.t, err)
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, file), pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

func (c *certificates) config(name string) *tls.Config {
	c.t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(c.dir, name+".pem"), filepath.Join(c.dir, name+"-key.pem"))
	require.NoError(c.t, err)
	roots := x509.NewCertPool()
	roots.AddCert(c.cert)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: "localhost", MinVersion: tls.VersionTLS12}
}

// security is that of a gRPC client with a certificate.
func (c *certificates) security(name string) credentials.TransportCredentials {
	return credentials.NewTLS(c.config(name))
}

// client is an HTTP client with a certificate.
func (c *certificates) client(name string) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c.config(name)}}
}
