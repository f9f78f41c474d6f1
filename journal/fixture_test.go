// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seedSigner signs with the key of a fixed seed.
type seedSigner struct{ private ed25519.PrivateKey }

func newSeedSigner(seed byte) seedSigner {
	return seedSigner{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))}
}

func (s seedSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }
func (s seedSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s seedSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

var (
	trusted  = newSeedSigner(1)
	incoming = newSeedSigner(2)
	stranger = newSeedSigner(3)
)

var epoch = time.Date(2026, 10, 9, 8, 12, 3, 418000000, time.UTC)

// trustedKey is the registry entry of a signer, valid from an hour before the
// first entry.
func trustedKey(s seedSigner) journal.Key {
	return journal.Key{ID: s.KeyID(), PublicKey: s.PublicKey(), ValidFrom: record.NewTime(epoch.Add(-time.Hour))}
}

func registryOf(t testing.TB, keys ...journal.Key) *journal.Registry {
	r := &journal.Registry{}
	for _, k := range keys {
		require.NoError(t, r.Add(k))
	}
	return r
}

// writer writes a journal as the ledger does, or as an attacker would.
type writer struct {
	t        testing.TB
	signer   journal.Signer
	id       string
	previous string
	sequence uint64
	at       time.Time
	// lines are the entries, each with its LF.
	lines [][]byte
}

func newWriter(t testing.TB) *writer {
	return &writer{t: t, signer: trusted, id: "jrn_test", at: epoch}
}

func (w *writer) completion() record.Completion {
	return record.Completion{
		EventID: fmt.Sprintf("evt_%026d", w.sequence), JournalID: w.id, Sequence: w.sequence, RecordedAt: record.NewTime(w.at),
		Scope: record.Scope{OrganizationRef: "bank", Environment: "production", RetentionClass: "kyc"}, CollectorID: "collector-1",
	}
}

func (w *writer) draft(d *record.Draft, err error) *writer {
	require.NoError(w.t, err)
	w.begin()
	return w.seal(d.Kind(), record.SchemaVersion, d.Complete(w.completion()))
}

// begin goes on to the next sequence and second.
func (w *writer) begin() {
	w.sequence++
	w.at = w.at.Add(time.Second)
}

func (w *writer) seal(kind record.Kind, version string, body []byte) *writer {
	u := journal.Assemble(kind, version, body, w.previous, w.signer)
	line, err := u.Sign(w.signer)
	require.NoError(w.t, err)
	w.previous = u.RecordHash()
	w.lines = append(w.lines, line)
	return w
}

func (w *writer) event(eventType string, detail any) *writer {
	return w.draft(record.NewJournalDraft(&record.Journal{Header: record.Header{EventType: eventType}, Detail: detail}))
}

func (w *writer) read() *writer { return w.draft(record.NewReadDraft(exampleRead(w.sequence), true)) }

// foreign writes an entry with a body of a version that nobody knows.
func (w *writer) foreign(kind record.Kind, version string) *writer {
	w.begin()
	return w.seal(kind, version, fmt.Appendf(nil,
		`{"journal_id":%q,"news":[1,{}],"recorded_at":%q,"sequence":%d}`, w.id, record.NewTime(w.at), w.sequence))
}

func exampleRead(n uint64) *record.Read {
	execution := "run_syn_0193"
	return &record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.NewTime(epoch),
			Correlation: record.Correlation{ExecutionID: execution, TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: fmt.Sprintf("%016x", n+1)},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan, Dialect: "otel"},
		},
		ReadID: "read_syn_0193_" + strconv.FormatUint(n, 10), ExecutionID: execution, ToolCallID: "call_syn_0193_02",
		Source:    record.Source{System: "crm-eu", Kind: record.SourceAPI, ToolID: "crm.customer.get", ToolVersion: "2026-09-30"},
		Request:   record.Request{RecordRefs: []string{"cust_syn_55120", "Zoë 😀 \u2028 </script>"}},
		Response:  record.Response{Status: record.StatusOK, SourceRecordVersion: "v41"},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
		Basis:     map[string]record.Basis{"read_id": record.BasisAttribute},
	}
}

// journalOf writes a journal.opened and reads up to n entries.
func journalOf(t testing.TB, n int) *writer {
	w := newWriter(t).event(record.EventJournalOpened, nil)
	for len(w.lines) < n {
		w.read()
	}
	return w
}

// segmentName is the name of a segment that begins at a sequence.
func segmentName(first int) string { return fmt.Sprintf("%020d.events", first) }

// store writes lines into the segment of a new directory.
func store(t testing.TB, first int, lines ...[]byte) (directory string) {
	directory = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(first)), bytes.Join(lines, nil), 0o600))
	return directory
}

// verify verifies the one journal of a target.
func verify(t testing.TB, target string, registry *journal.Registry) *journal.Report {
	sources, err := journal.Open(target)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry})
	require.NoError(t, err)
	return report
}

// verifyLines verifies a journal that begins at sequence 1.
func verifyLines(t testing.TB, lines ...[]byte) *journal.Report {
	return verify(t, store(t, 1, lines...), registryOf(t, trustedKey(trusted)))
}

// hashOf returns the record hash that a line names.
func hashOf(t testing.TB, line []byte) string { return entryOf(t, line).Integrity.RecordHash }

func entryOf(t testing.TB, line []byte) *journal.Entry {
	e, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
	require.NoError(t, err)
	return e
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
