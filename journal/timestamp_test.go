// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/journal"
)

func stampRequest(t testing.TB, text string) []byte {
	request, err := timestamp.CreateRequest(bytes.NewReader([]byte(text)), &timestamp.RequestOptions{Hash: crypto.SHA256, Certificates: true})
	require.NoError(t, err)
	return request
}

func TestATimeStampAttestsWhenACheckpointExisted(t *testing.T) {
	a := checkpointtest.NewAuthority(t)
	at := time.Now().AddDate(-1, 0, 0).UTC().Truncate(time.Second)
	a.Now = func() time.Time { return at }
	s := parsedCheckpoint(t, signedCheckpoint(t, aCheckpoint, trusted))
	token := a.Stamp(stampRequest(t, aCheckpoint.Text()))

	got, err := s.Timestamp(token, a.Roots)
	require.NoError(t, err)
	assert.Equal(t, journal.Attestation{By: "CN=Test Authority", Kind: journal.AttestedByTimestamp, At: at}, got)
}

func TestATimeStampThatProvesNothingIsRefused(t *testing.T) {
	a := checkpointtest.NewAuthority(t)
	s := parsedCheckpoint(t, signedCheckpoint(t, aCheckpoint, trusted))
	token := a.Stamp(stampRequest(t, aCheckpoint.Text()))
	other := aCheckpoint
	other.Size++
	digest512 := crypto.SHA512.New()
	digest512.Write([]byte(aCheckpoint.Text()))
	past := checkpointtest.NewAuthority(t)
	past.Now = func() time.Time { return time.Now().AddDate(-20, 0, 0) }
	usages := checkpointtest.NewAuthorityFor(t, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageCodeSigning}, true)
	uncritical := checkpointtest.NewAuthorityFor(t, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}, false)
	for name, c := range map[string]struct {
		token []byte
		roots *x509.CertPool
		want  string
	}{
		"nothing":                          {nil, a.Roots, "not a granted RFC 3161 time stamp"},
		"a cut token":                      {token[:len(token)-1], a.Roots, "not a granted RFC 3161 time stamp"},
		"bytes behind it":                  {append(bytes.Clone(token), 0), a.Roots, "not a granted RFC 3161 time stamp"},
		"too many bytes":                   {make([]byte, journal.MaxTimestampBytes+1), a.Roots, "not a granted RFC 3161 time stamp"},
		"no roots":                         {token, nil, "no roots"},
		"roots of nobody":                  {token, x509.NewCertPool(), "does not lead to a trusted root"},
		"roots of others":                  {token, checkpointtest.NewAuthority(t).Roots, "does not lead to a trusted root"},
		"another checkpoint":               {a.Stamp(stampRequest(t, other.Text())), a.Roots, "not for this checkpoint"},
		"another hash":                     {a.StampDigest(crypto.SHA512, digest512.Sum(nil), nil), a.Roots, "not for this checkpoint"},
		"a time at which nobody was valid": {past.Stamp(stampRequest(t, aCheckpoint.Text())), past.Roots, "does not lead to a trusted root"},
		"a certificate for more":           {usages.Stamp(stampRequest(t, aCheckpoint.Text())), usages.Roots, "for time stamping only"},
		"a usage that is not critical":     {uncritical.Stamp(stampRequest(t, aCheckpoint.Text())), uncritical.Roots, "for time stamping only"},
	} {
		_, err := s.Timestamp(c.token, c.roots)
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestEveryBitOfATimeStampCounts(t *testing.T) {
	a := checkpointtest.NewAuthority(t)
	s := parsedCheckpoint(t, signedCheckpoint(t, aCheckpoint, trusted))
	token := a.Stamp(stampRequest(t, aCheckpoint.Text()))
	want, err := s.Timestamp(token, a.Roots)
	require.NoError(t, err)
	for i := range token {
		changed := bytes.Clone(token)
		changed[i] ^= 1
		if got, err := s.Timestamp(changed, a.Roots); err == nil {
			assert.Equal(t, want, got, "byte %d says nothing that is believed", i)
		}
	}
}

func FuzzTimestamp(f *testing.F) {
	a := checkpointtest.NewAuthority(f)
	f.Add(a.Stamp(stampRequest(f, aCheckpoint.Text())))
	digest := sha256.Sum256([]byte("another"))
	f.Add(a.StampDigest(crypto.SHA256, digest[:], nil))
	s := parsedCheckpoint(f, signedCheckpoint(f, aCheckpoint, trusted))
	roots := checkpointtest.NewAuthority(f).Roots
	f.Fuzz(func(t *testing.T, token []byte) {
		_, err := s.Timestamp(token, roots)
		assert.Error(t, err, "it is of another authority")
	})
}
