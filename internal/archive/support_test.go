// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

const day = 24 * time.Hour

var policy = archive.Policy{Mode: archive.Compliance, Keep: map[string]time.Duration{"kyc": 3660 * day}}

// now is when the journals of the tests are written; the servers' clock says so too.
var now = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func clockAt(at time.Time) func() time.Time { return func() time.Time { return at } }

// startServer runs a server whose clock is an hour after the journals.
func startServer(t *testing.T) *s3test.Server {
	s3test.Credentials(t)
	s := s3test.Start(t)
	s.Now = clockAt(now.Add(time.Hour))
	return s
}

func settings(s *s3test.Server) archive.Settings {
	return archive.Settings{
		Bucket: s3test.Bucket, Prefix: "readtrail/", Endpoint: s.URL, PathStyle: true, Attempts: 1, Now: s.Now,
	}
}

func open(t *testing.T, s archive.Settings, p archive.Policy) *archive.Archive {
	t.Helper()
	b, err := archive.Open(t.Context(), s)
	require.NoError(t, err)
	a, err := archive.New(b, p)
	require.NoError(t, err)
	return a
}

// written is a journal on a disk.
type written struct {
	archive.Journal
	registry *journal.Registry
	root     string
}

func (w *written) path(name string) string { return filepath.Join(w.Dir, name) }

func segmentName(first int) string { return fmt.Sprintf("%020d.events", first) }

func key(w *written, name string) string {
	return "readtrail/bank%2FEU/kyc/reads/" + w.JournalID + "/segments/" + name
}

// writeJournal writes a journal of n segments, all but the last one sealed. Its
// segments have one entry each: journal.opened, reads and journal.closed, which
// stands in the last one.
func writeJournal(t *testing.T, n int) *written {
	t.Helper()
	return writeJournalAt(t, n, clockAt(now))
}

func writeJournalAt(t *testing.T, n int, clock func() time.Time) *written {
	t.Helper()
	root := t.TempDir()
	pem, trusted, err := journal.NewKey(time.Unix(0, 0))
	require.NoError(t, err)
	keyFile := filepath.Join(root, "signing-key.pem")
	require.NoError(t, os.WriteFile(keyFile, pem, 0o600))
	signer, err := journal.NewFileSigner(keyFile)
	require.NoError(t, err)
	w := &written{root: root, registry: &journal.Registry{}}
	require.NoError(t, w.registry.Add(trusted))
	w.Dir, w.FS = filepath.Join(root, "bank%2FEU", "kyc", "reads"), durable.OS{}
	l, err := ledger.Open(t.Context(), ledger.Options{
		Dir: w.Dir, Signer: signer, CollectorID: "collector-1", MaxSegmentBytes: 1, Now: clock,
		Scope: record.Scope{OrganizationRef: "bank/EU", Environment: "test", RetentionClass: "kyc"},
	})
	require.NoError(t, err)
	for i := range n - 2 {
		_, err := l.Append(t.Context(), []*record.Draft{readDraft(t, fmt.Sprintf("read_%d", i))})
		require.NoError(t, err)
	}
	require.NoError(t, l.Close(t.Context()))
	w.Place = archive.Place{Organization: "bank/EU", RetentionClass: "kyc", Kind: "reads", JournalID: l.JournalID()}
	return w
}

func readDraft(t *testing.T, id string) *record.Draft {
	t.Helper()
	d, err := record.NewReadDraft(&record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: "run_1"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		ReadID: id, ExecutionID: "run_1",
		Source:    record.Source{Kind: record.SourceAPI, ToolID: "crm.get"},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, false)
	require.NoError(t, err)
	return d
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}
