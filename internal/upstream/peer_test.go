// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/client"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

func stateOf(leaf *x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}}
}

func TestAClientIsWhoTheAuthenticatorSaysOrElseItsCertificate(t *testing.T) {
	executor := &x509.Certificate{Subject: pkix.Name{CommonName: "executor-1", Organization: []string{"Bank"}}}
	workload := &x509.Certificate{URIs: []*url.URL{{Scheme: "spiffe", Host: "bank", Path: "/executor"}}, Raw: []byte("raw")}
	unreadable := &x509.Certificate{Subject: pkix.Name{CommonName: "a\u202eb"}, Raw: []byte("raw")}
	long := &x509.Certificate{Subject: pkix.Name{CommonName: strings.Repeat("a", 300)}, URIs: workload.URIs}
	const digestOfRaw = "sha256:d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"
	for name, test := range map[string]struct {
		auth       client.AuthData
		state      *tls.ConnectionState
		configured string
		subject    string
		source     string
	}{
		"nobody":                            {nil, nil, "", "", "unverified_input"},
		"TLS without a certificate":         {nil, &tls.ConnectionState{}, "", "", "unverified_input"},
		"a certificate nobody verified":     {nil, &tls.ConnectionState{PeerCertificates: []*x509.Certificate{executor}}, "", "", "unverified_input"},
		"a certificate":                     {nil, stateOf(executor), "", "CN=executor-1,O=Bank", "authenticated:CN=executor-1,O=Bank"},
		"a certificate with a URI only":     {nil, stateOf(workload), "", "spiffe://bank/executor", "authenticated:spiffe://bank/executor"},
		"a certificate with a long name":    {nil, stateOf(long), "", "spiffe://bank/executor", "authenticated:spiffe://bank/executor"},
		"a certificate that cannot be read": {nil, stateOf(unreadable), "", digestOfRaw, "authenticated:" + digestOfRaw},
		"the authenticator goes before":     {auth{"subject": "agent-7"}, stateOf(executor), "oidc", "agent-7", "authenticated:agent-7"},
		"the certificate, for a token":      {auth{"raw": "c2VjcmV0"}, stateOf(executor), "bearertokenauth", "CN=executor-1,O=Bank", "authenticated:CN=executor-1,O=Bank"},
		"the authenticator that says none":  {nil, nil, "bearertokenauth", "", "authenticated:bearertokenauth"},
		"the package of the authenticator":  {auth{"raw": "c2VjcmV0"}, nil, "bearertokenauth", "", "authenticated:upstream"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := client.NewContext(t.Context(), client.Info{Auth: test.auth})
			assert.Equal(t, Client{Subject: test.subject, Source: test.source}, ClientOf(ctx, test.state, test.configured))
		})
	}
}

func TestAPipelineIsToldOfACertificateOverGRPCOnly(t *testing.T) {
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "agents", Organization: []string{"Bank"}}}
	over := func(info credentials.AuthInfo) context.Context {
		return peer.NewContext(t.Context(), &peer.Peer{AuthInfo: info})
	}
	verified := over(credentials.TLSInfo{State: *stateOf(leaf)})
	for name, test := range map[string]struct {
		ctx        context.Context
		configured string
		want       Client
	}{
		"no server":                      {t.Context(), "", Client{Source: "unverified_input"}},
		"without TLS":                    {over(nil), "", Client{Source: "unverified_input"}},
		"a certificate nobody verified":  {over(credentials.TLSInfo{State: tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}}), "", Client{Source: "unverified_input"}},
		"a certificate":                  {verified, "", Client{Subject: "CN=agents,O=Bank", Source: "authenticated:CN=agents,O=Bank"}},
		"a certificate, besides a token": {verified, "bearertokenauth", Client{Subject: "CN=agents,O=Bank", Source: "authenticated:CN=agents,O=Bank"}},
		"a token that says nothing":      {over(nil), "bearertokenauth", Client{Source: "authenticated:bearertokenauth"}},
		"the authenticator goes before":  {client.NewContext(verified, client.Info{Auth: auth{"subject": "b"}}), "", Client{Subject: "b", Source: "authenticated:b"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, InPipeline(test.ctx, test.configured)) })
	}
}
