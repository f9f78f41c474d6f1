// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
)

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for name, s := range map[string]archive.Settings{
		"bucket is not the name of an S3 bucket":       {Bucket: "Evidence_1"},
		"prefix has an element that is empty":          {Bucket: "evidence", Prefix: "a//b"},
		"or has other characters than A-Z":             {Bucket: "evidence", Prefix: "a b"},
		"begins with a dot":                            {Bucket: "evidence", Prefix: "a/../b"},
		"endpoint is not a URL that begins with https": {Bucket: "evidence", Endpoint: "s3.example.com"},
		"must not be negative":                         {Bucket: "evidence", Timeout: -1},
	} {
		_, err := archive.Open(t.Context(), s)
		require.ErrorContains(t, err, name)
	}
	bucket, prefix, err := archive.ParseURL("s3://evidence/a/b/")
	require.NoError(t, err)
	assert.Equal(t, []string{"evidence", "a/b"}, []string{bucket, prefix})
	_, _, err = archive.ParseURL("s3:/evidence")
	require.ErrorContains(t, err, "is not the address of an archive, s3://BUCKET/PREFIX")
}

func TestPoliciesThatNobodyMeansAreRefused(t *testing.T) {
	p := archive.Policy{Mode: "compliance", Keep: map[string]time.Duration{"a": time.Hour, "b": 200 * 365 * day, "c": day}}
	err := p.Check()
	require.ErrorContains(t, err, "mode must be COMPLIANCE or GOVERNANCE")
	require.ErrorContains(t, err, "retain::a is 1h0m0s, not one day to 100 years: write days, such as 3660d")
	require.ErrorContains(t, err, "retain::b is")
	assert.NotContains(t, err.Error(), "retain::c")
	require.ErrorContains(t, (&archive.Policy{Mode: archive.Governance}).Check(), "retain must say for each retention class")
}

func TestErrorsSayWhatToDoAndNothingThatTheServerChose(t *testing.T) {
	s3test.Credentials(t)
	w := writeJournal(t, 3)
	listener, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, err = open(t, archive.Settings{Bucket: "evidence", Endpoint: "http://" + listener.Addr().String(), PathStyle: true, Attempts: 1}, policy).Push(t.Context(), w.Journal)
	require.ErrorContains(t, err, "ask for the Object Lock of s3://evidence: dial tcp")
	require.ErrorContains(t, err, "connection refused")

	server := startServer(t)
	s := settings(server)
	s.Bucket = "another"
	_, err = open(t, s, policy).Push(t.Context(), w.Journal)
	require.EqualError(t, err, "ask for the Object Lock of s3://another/readtrail: NoSuchBucket (HTTP 404); create it with Object Lock")

	s = settings(server)
	s.Timeout = time.Nanosecond
	_, err = open(t, s, policy).Push(t.Context(), w.Journal)
	require.ErrorContains(t, err, "no answer in time; whether it was done shows when the bucket is looked at again")
}
