// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/readtrail/readtrail/internal/upstream"
)

// authenticator lets in whoever names a subject. It says who that is only if it is
// told to.
type authenticator struct {
	component.StartFunc
	component.ShutdownFunc
	silent bool
}

type subject string

func (s subject) GetAttribute(name string) any {
	if name == "subject" {
		return string(s)
	}
	return nil
}

func (subject) GetAttributeNames() []string { return []string{"subject"} }

func (a *authenticator) Authenticate(ctx context.Context, sources map[string][]string) (context.Context, error) {
	names := sources["Authorization"]
	if len(names) != 1 {
		return nil, errors.New("CANARY: no subject in " + http.Header(sources).Get("Authorization"))
	}
	if a.silent {
		return ctx, nil
	}
	info := client.FromContext(ctx)
	info.Auth = subject(names[0])
	return client.NewContext(ctx, info), nil
}

var authenticatorID = component.MustNewID("names")

func withAuthenticator(r *rig, c *Config, silent bool) {
	withAuthenticatorNamed(r, c, authenticatorID, silent)
}

func withAuthenticatorNamed(r *rig, c *Config, id component.ID, silent bool) {
	r.host.extensions[id] = &authenticator{silent: silent}
	c.HTTP.Auth = configoptional.Some(confighttp.AuthConfig{Config: configauth.Config{AuthenticatorID: id}})
}

func TestAClientWritesForItsOrganizationsOnly(t *testing.T) {
	r := newRig(t, func(r *rig, c *Config) {
		withAuthenticator(r, c, false)
		c.Clients = []ClientConfig{
			{Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank", RetentionClass: "long"}},
			{Binding: upstream.Binding{Subject: "b", OrganizationRef: "insurer"}},
			{Binding: upstream.Binding{Subject: "both", OrganizationRef: "insurer", RetentionClass: "short"}},
			{Binding: upstream.Binding{Subject: "both", OrganizationRef: "bank"}},
		}
	})
	for name, test := range map[string]struct {
		subject, organization, class string
		want                         string // "" is refused
	}{
		"its only scope":                        {"a", "", "", "bank/long"},
		"its only scope, named":                 {"a", "bank", "long", "bank/long"},
		"another class":                         {"a", "", "short", ""},
		"another organization":                  {"a", "insurer", "", ""},
		"another organization and its class":    {"a", "insurer", "long", ""},
		"any class of its organization":         {"b", "", "long", "insurer/long"},
		"by default the class of the base":      {"b", "", "", "insurer/short"},
		"a class that there is not":             {"b", "", "eternal", ""},
		"the organization of another":           {"b", "bank", "", ""},
		"the first of its organizations":        {"both", "", "", "insurer/short"},
		"the second of its organizations":       {"both", "bank", "long", "bank/long"},
		"the class of one of its organizations": {"both", "", "long", "bank/long"},
		"a class that one of them lacks":        {"both", "insurer", "long", ""},
		"nobody that is bound":                  {"c", "", "", ""},
		"the subject of every client":           {"*", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(r.journal.appended())
			headers := []string{"Authorization", test.subject}
			if test.organization != "" {
				headers = append(headers, organizationHeader, test.organization)
			}
			if test.class != "" {
				headers = append(headers, retentionClassHeader, test.class)
			}
			got := r.decide("x", headers...)
			after := r.journal.appended()[before:]
			if test.want == "" {
				requireProblem(t, got, http.StatusForbidden, "scope_forbidden", "")
				assert.Empty(t, after)
				return
			}
			require.Equal(t, http.StatusOK, got.status, got.body)
			assert.Equal(t, []string{test.want + " decision_record x"}, after)
		})
	}
}

func TestABindingForEveryClientIsForThoseThatNobodyNamesToo(t *testing.T) {
	r := newRig(t, func(r *rig, c *Config) {
		c.Clients = []ClientConfig{{Binding: upstream.Binding{Subject: upstream.AnyClient, OrganizationRef: "insurer"}}}
	})
	require.Equal(t, http.StatusOK, r.decide("x", retentionClassHeader, "long").status)
	requireProblem(t, r.decide("x", organizationHeader, "bank"), http.StatusForbidden, "scope_forbidden", "")
	assert.Equal(t, []string{"insurer/long decision_record x"}, r.journal.appended())
}

func TestWhoDoesNotAuthenticateIsToldNothing(t *testing.T) {
	r := newRig(t, func(r *rig, c *Config) { withAuthenticator(r, c, true) })
	for _, path := range []string{"/test", "/CANARY"} {
		got := r.send("POST", path, "CANARY", "Content-Type", mediaNDJSON)
		requireProblem(t, got, http.StatusUnauthorized, "unauthorized", "")
		assert.NotContains(t, got.body, "CANARY")
	}
	assert.Equal(t, http.StatusOK, r.decide("x", "Authorization", "a").status)
	for _, entry := range r.logs.All() {
		assert.NotContains(t, entry.Message, "CANARY")
	}
}

func TestWhoDoesNotAuthenticateIsToldHow(t *testing.T) {
	for id, want := range map[component.ID]string{
		component.MustNewID("bearertokenauth"):              `Bearer realm="readtrail"`,
		component.MustNewIDWithName("basicauth", "writers"): `Basic realm="readtrail"`,
		component.MustNewID("oidc"):                         `Bearer realm="readtrail"`,
		authenticatorID:                                     "", // nobody knows
	} {
		r := newRig(t, func(r *rig, c *Config) { withAuthenticatorNamed(r, c, id, false) })
		got := r.send("POST", "/v1/records", "{}", "Content-Type", mediaJSON)
		requireProblem(t, got, http.StatusUnauthorized, "unauthorized", "")
		assert.Equal(t, want, got.header.Get("WWW-Authenticate"), id)
	}
}

// authority issues certificates below a directory.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.issue("ca", &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// issue writes name.pem and name-key.pem.
func (a *authority) issue(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	require.NoError(a.t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for file, block := range map[string]*pem.Block{name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + "-key.pem": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		require.NoError(a.t, os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

// clientWith returns a client with a certificate of the name, none for "".
func (a *authority) clientWith(name string) *http.Client {
	a.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	cfg := &tls.Config{RootCAs: roots}
	if name != "" {
		pair, err := tls.LoadX509KeyPair(a.path(name+".pem"), a.path(name+"-key.pem"))
		require.NoError(a.t, err)
		cfg.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, ForceAttemptHTTP2: true}}
}

func TestACertificateSaysWhoAClientIs(t *testing.T) {
	ca := newAuthority(t)
	ca.issue("server", &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}})
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	ca.issue("executor", &x509.Certificate{Subject: pkix.Name{CommonName: "executor-1", Organization: []string{"Bank"}}, ExtKeyUsage: usage})
	ca.issue("other", &x509.Certificate{Subject: pkix.Name{CommonName: "executor-2", Organization: []string{"Bank"}}, ExtKeyUsage: usage})
	other := newAuthority(t)
	other.issue("stranger", &x509.Certificate{Subject: pkix.Name{CommonName: "executor-1", Organization: []string{"Bank"}}, ExtKeyUsage: usage})

	var seen []string
	r := newRig(t, func(r *rig, c *Config) {
		r.scheme = "https"
		c.Clients = []ClientConfig{{Binding: upstream.Binding{Subject: "CN=executor-1,O=Bank", OrganizationRef: "bank"}}}
		c.HTTP.TLS = configoptional.Some(configtls.ServerConfig{
			Config:       configtls.Config{CertFile: ca.path("server.pem"), KeyFile: ca.path("server-key.pem")},
			ClientCAFile: ca.path("ca.pem"),
		})
	})
	serve := r.receiver.api.endpoints[len(r.receiver.api.endpoints)-1].serve
	r.receiver.api.endpoints[len(r.receiver.api.endpoints)-1].serve = func(ctx context.Context, c *call) reply {
		seen = append(seen, c.client.Source)
		return serve(ctx, c)
	}
	defer func() { r.client.CloseIdleConnections() }()

	r.client = ca.clientWith("executor")
	require.Equal(t, http.StatusOK, r.decide("x").status)
	assert.Equal(t, []string{"authenticated:CN=executor-1,O=Bank"}, seen)
	r.client.CloseIdleConnections()

	r.client = ca.clientWith("other")
	requireProblem(t, r.decide("x"), http.StatusForbidden, "scope_forbidden", "")
	r.client.CloseIdleConnections()

	for _, refused := range []*http.Client{ca.clientWith(""), strangerTo(ca, other)} {
		_, err := refused.Post(r.url("/test"), mediaNDJSON, http.NoBody)
		require.Error(t, err)
		refused.CloseIdleConnections()
	}
	assert.Len(t, r.journal.appended(), 1)
	r.client = ca.clientWith("executor")
}

// strangerTo is a client that trusts the server, with a certificate of another
// authority.
func strangerTo(ca, other *authority) *http.Client {
	c := other.clientWith("stranger")
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	c.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
	return c
}
