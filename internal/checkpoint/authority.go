// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/http"

	"github.com/digitorus/timestamp"

	"github.com/readtrail/readtrail/journal"
)

// Authority asks a time stamp authority for a token (RFC 3161 over HTTP, section
// 3.4).
type Authority struct {
	name, url string
	client    *http.Client
	roots     *x509.CertPool
}

// NewAuthority returns the attester of a time stamp authority whose certificate
// leads to one of the roots.
func NewAuthority(name, url string, client *http.Client, roots *x509.CertPool) *Authority {
	return &Authority{name: name, url: url, client: client, roots: roots}
}

// Name implements Attester.
func (a *Authority) Name() string { return a.name }

// nonceBits is the size of the number that ties an answer to its request.
const nonceBits = 120

// Attest implements Attester. A token counts only once it is verified, and only
// if it answers this request.
func (a *Authority) Attest(ctx context.Context, c *journal.SignedCheckpoint, _ Prove) (Statement, error) {
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), nonceBits))
	if err != nil {
		return Statement{}, fmt.Errorf("make a nonce: %w", err)
	}
	digest := sha256.Sum256([]byte(c.Text()))
	request := timestamp.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest[:], Certificates: true, Nonce: nonce}
	query, err := request.Marshal()
	if err != nil {
		return Statement{}, fmt.Errorf("make a time stamp request: %w", err)
	}
	status, answer, err := post(ctx, a.client, a.url, "application/timestamp-query", query)
	if err != nil {
		return Statement{}, err
	}
	if status != http.StatusOK && status != http.StatusCreated { // sigstore answers 201
		return Statement{}, failed(ReasonRefused, "the time stamp authority answered %d", status)
	}
	if _, err := c.Timestamp(answer, a.roots); err != nil {
		return Statement{}, failed(ReasonInvalid, "the answer of the time stamp authority does not count: %w", err)
	}
	stamp, err := timestamp.ParseResponse(answer)
	if err != nil || stamp.Nonce == nil || stamp.Nonce.Cmp(nonce) != 0 {
		return Statement{}, failed(ReasonInvalid, "the answer of the time stamp authority is to another request")
	}
	return Statement{Token: answer}, nil
}
