// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"

	"go.opentelemetry.io/collector/client"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/readtrail/readtrail/internal/durable"
)

// Client is who sent a request.
type Client struct {
	// Subject is who the client is: the authenticator's subject, or else that of the
	// certificate which TLS verified. It is empty if nobody said.
	Subject string
	// Source is upstream_context_source of what the client sends.
	Source string
}

// ClientOf returns who sent a request. configured is the authenticator that the
// server has, "" for none; what it says of a client goes before what the client's
// certificate says, since it is what the operator put in front of the records.
func ClientOf(ctx context.Context, state *tls.ConnectionState, configured string) Client {
	if auth := client.FromContext(ctx).Auth; auth != nil {
		if subject := subjectOf(auth); subject != "" {
			return Client{Subject: subject, Source: authenticated + subject}
		}
	}
	if subject := certificateSubject(state); subject != "" {
		return Client{Subject: subject, Source: authenticated + subject}
	}
	return Client{Source: source(ctx, configured)}
}

// InPipeline returns who sent the telemetry of a Consume call, as far as the context
// tells: what ClientOf says, with the certificate if the receiver's server is one of
// gRPC. One of HTTP passes nothing of TLS on.
func InPipeline(ctx context.Context, configured string) Client {
	var state *tls.ConnectionState
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok {
			state = &info.State
		}
	}
	return ClientOf(ctx, state, configured)
}

// MaxSubject is the longest name of a certificate that stands for itself, in bytes.
const MaxSubject = 256

// certificateSubject returns the name of the client's certificate if TLS verified
// it against the configured authorities, "" otherwise: its distinguished name (RFC
// 4514), else its first URI, and where neither can stand legibly in a record the
// digest of the certificate.
func certificateSubject(state *tls.ConnectionState) string {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		return ""
	}
	leaf := state.PeerCertificates[0]
	for _, name := range namesOf(leaf) {
		if name != "" && durable.CheckName(name, MaxSubject) == nil {
			return name
		}
	}
	digest := sha256.Sum256(leaf.Raw)
	return "sha256:" + hex.EncodeToString(digest[:])
}

func namesOf(leaf *x509.Certificate) []string {
	names := []string{leaf.Subject.String()}
	if len(leaf.URIs) > 0 {
		names = append(names, leaf.URIs[0].String())
	}
	return names
}
