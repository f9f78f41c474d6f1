// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dir is where the journal of a test stands in its crashfs.
const dir = "/journals/reads"

// testSigner signs with a key that every run has.
type testSigner struct{ private ed25519.PrivateKey }

var (
	signer = newSigner(0)
	// second and third are the keys that a journal rotates to.
	second, third = newSigner(2), newSigner(3)
)

func newSigner(seed byte) testSigner {
	return testSigner{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))}
}

func (s testSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s testSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }
func (s testSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

// clock moves only when told to, and a little with every reading.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// optionsFor returns those of a small journal on a file system. Its index is a
// real file, which outlives the crashes of the file system.
func optionsFor(t *testing.T, fs durable.FS) ledger.Options {
	t.Helper()
	return ledger.Options{
		Dir: dir, FS: fs, Signer: signer, CollectorID: "collector-1",
		Scope:         record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		IndexDir:      t.TempDir(),
		Now:           newClock().Now,
		RetryInterval: time.Millisecond,
	}
}

func open(t *testing.T, o ledger.Options) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

func closeLedger(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	require.NoError(t, l.Close(t.Context()))
}

func appendAll(t *testing.T, l *ledger.Ledger, drafts ...*record.Draft) []journal.Receipt {
	t.Helper()
	receipts, err := l.Append(t.Context(), drafts)
	require.NoError(t, err)
	require.Len(t, receipts, len(drafts))
	return receipts
}

// read makes the draft of a read with an id. Another version is another body.
func read(t testing.TB, id, version string) *record.Draft { return readGiven(t, id, version, false) }

func readGiven(t testing.TB, id, version string, given bool) *record.Draft {
	t.Helper()
	r := &record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: "run_1"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		ReadID: id, ExecutionID: "run_1",
		Source:    record.Source{Kind: record.SourceAPI, ToolID: "crm.get", ToolVersion: version},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}
	if given {
		r.Basis = map[string]record.Basis{"read_id": record.BasisAttribute}
	}
	d, err := record.NewReadDraft(r, given)
	require.NoError(t, err)
	return d
}

// lineage makes the draft of a lineage record of spans with these ids.
func lineage(t testing.TB, spans ...string) *record.Draft {
	t.Helper()
	h := record.Header{
		EventType:   record.EventLineageSpans,
		Correlation: record.Correlation{ExecutionID: "run_1", TraceID: "0af7651916cd43dd8448eb211c80319c"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
	}
	parts := make([]record.Span, len(spans))
	for i, id := range spans {
		parts[i] = record.Span{
			SpanID: id, Name: "execute_tool", Kind: "internal", Class: "tool", Status: record.StatusOK,
			StartedAt: record.TimeFromUnixNano(1_700_000_000_000_000_000), EndedAt: record.TimeFromUnixNano(1_700_000_000_000_000_001),
		}
	}
	d, err := record.NewLineageDraft(&record.Lineage{Header: h}, parts)
	require.NoError(t, err)
	return d
}

// audit reads the journal as a verifier would and returns its entries.
func audit(t testing.TB, fs durable.FS, dir string) (entries []*journal.Entry) {
	t.Helper()
	previous := ""
	for line, err := range segment.Lines(fs, dir, segment.Position{}) {
		require.NoError(t, err)
		e, err := journal.ParseLine(append([]byte(nil), line.Bytes...))
		require.NoError(t, err)
		digest := e.PayloadDigest()
		require.Equal(t, "sha256:"+hex.EncodeToString(digest[:]), e.Integrity.RecordHash)
		require.Equal(t, previous, e.Integrity.PreviousEventHash)
		require.Equal(t, uint64(len(entries)+1), e.Header.Sequence)
		auditSignature(t, e, digest)
		if len(entries) > 0 {
			auditKey(t, entries[len(entries)-1], e)
		}
		previous = e.Integrity.RecordHash
		entries = append(entries, e)
	}
	require.NotEmpty(t, entries)
	require.Equal(t, record.EventJournalOpened, entries[0].Header.EventType)
	return entries
}

// auditSignature verifies the signature of an entry with one of the keys of the
// tests; of a group, by another implementation of RFC 6962.
func auditSignature(t testing.TB, e *journal.Entry, digest [sha256.Size]byte) {
	t.Helper()
	s := e.Integrity.Signature
	key := slices.IndexFunc([]testSigner{signer, second, third}, func(k testSigner) bool { return k.KeyID() == s.KeyID })
	require.GreaterOrEqual(t, key, 0)
	public := []testSigner{signer, second, third}[key].PublicKey()
	value, err := base64.StdEncoding.DecodeString(s.Value)
	require.NoError(t, err)
	if s.Algorithm == "Ed25519" {
		require.True(t, ed25519.Verify(public, digest[:], value))
		return
	}
	require.Equal(t, "Ed25519-RFC6962", s.Algorithm)
	index, size := binary.BigEndian.Uint32(value), binary.BigEndian.Uint32(value[4:])
	var path [][]byte
	for rest := value[8 : len(value)-ed25519.SignatureSize]; len(rest) > 0; rest = rest[sha256.Size:] {
		path = append(path, rest[:sha256.Size])
	}
	root, err := proof.RootFromInclusionProof(rfc6962.DefaultHasher, uint64(index), uint64(size), rfc6962.DefaultHasher.HashLeaf(digest[:]), path)
	require.NoError(t, err)
	require.True(t, ed25519.Verify(public, append([]byte("readtrail/group/v1\n"), root...), value[len(value)-ed25519.SignatureSize:]))
}

// auditKey demands a bridge where the key changes, and an end of each that was
// begun.
func auditKey(t testing.TB, before, e *journal.Entry) {
	t.Helper()
	rotated, accepted := before.Header.EventType == record.EventKeyRotated, e.Header.EventType == record.EventKeyAccepted
	require.Equal(t, rotated, accepted, "%s before %s", before.Header.EventType, e.Header.EventType)
	outgoing, incoming := before.Integrity.Signature.KeyID, e.Integrity.Signature.KeyID
	if !accepted {
		require.Equal(t, outgoing, incoming, "key changes at %d", e.Header.Sequence)
		return
	}
	require.NotEqual(t, outgoing, incoming)
	require.Equal(t, incoming, bodyOf(t, before).Detail.IncomingKeyID)
	require.Equal(t, outgoing, bodyOf(t, e).Detail.OutgoingKeyID)
}

// body is what the tests read of a body.
type body struct {
	ReadID        string `json:"read_id"`
	ConflictsWith string `json:"conflicts_with"`
	Spans         []struct {
		SpanID string `json:"span_id"`
	} `json:"spans"`
	Detail struct {
		record.Recovered   `json:",inline"`
		record.KeyRotated  `json:",inline"`
		record.KeyAccepted `json:",inline"`
	} `json:"detail"`
}

func bodyOf(t testing.TB, e *journal.Entry) (b body) {
	t.Helper()
	require.NoError(t, json.Unmarshal(e.Body, &b))
	return b
}

// eventTypes returns those of the entries, in order.
func eventTypes(entries []*journal.Entry) (types []string) {
	for _, e := range entries {
		types = append(types, e.Header.EventType)
	}
	return types
}

// countIDs returns how many entries each read id has.
func countIDs(t testing.TB, entries []*journal.Entry) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, e := range entries {
		if e.Kind == record.KindRead {
			n[bodyOf(t, e).ReadID]++
		}
	}
	return n
}

func id(n int) string { return fmt.Sprintf("read_%d", n) }

// batch makes reads with the ids from..to-1.
func batch(t testing.TB, from, to int) (drafts []*record.Draft) {
	t.Helper()
	for n := from; n < to; n++ {
		drafts = append(drafts, read(t, id(n), "1"))
	}
	return drafts
}

// lastSegment returns the path and the bytes of the last segment.
func lastSegment(t testing.TB, fs *crashfs.FS) (path string, b []byte) {
	t.Helper()
	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	path = dir + "/" + segment.Name(segments[len(segments)-1].First)
	return path, fs.Bytes(path)
}
