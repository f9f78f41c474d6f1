// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

const journalID = "jrn_1"

var start = time.Date(2026, 10, 9, 9, 0, 0, 0, time.UTC)

// house is a journal with checkpoints outside it, and whoever is trusted.
type house struct {
	t                testing.TB
	id               string
	dir              string
	signer, manifest journal.Signer
	keys, manifests  *journal.Registry
	authority        *checkpointtest.Authority
	policy           *journal.Policy
	// lines are the stored lines.
	lines []string
	tree  *tiles.Tree
}

func signerOf(t testing.TB, name string) journal.Signer {
	seed := sha256.Sum256([]byte(name))
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	require.NoError(t, err)
	s, err := journal.NewPEMSigner(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	require.NoError(t, err)
	return s
}

func trusting(t testing.TB, s journal.Signer) *journal.Registry {
	r := &journal.Registry{}
	require.NoError(t, r.Add(journal.TrustedKey(s.PublicKey(), start.AddDate(-1, 0, 0))))
	return r
}

// newHouse writes a journal of n entries in segments of four, and checkpoints of
// sizes 4 and n-1: a time stamp on the first, a cosignature on the second.
func newHouse(t testing.TB, n int) *house { return newHouseOf(t, journalID, n) }

func newHouseOf(t testing.TB, id string, n int) *house {
	h := &house{t: t, id: id, dir: t.TempDir(), signer: signerOf(t, "journal"), manifest: signerOf(t, "manifest"), authority: checkpointtest.NewAuthority(t)}
	h.keys, h.manifests = trusting(t, h.signer), trusting(t, h.manifest)
	require.NoError(t, os.MkdirAll(h.journal(), 0o755))
	h.tree = tiles.New(durable.OS{}, filepath.Join(h.dir, "unused"))
	previous := ""
	for sequence := 1; sequence <= n; sequence++ {
		previous = h.append(uint64(sequence), draft(t, sequence), previous)
		if sequence == 4 {
			h.checkpoint(false, true)
		}
		if sequence == n-1 {
			h.checkpoint(true, false)
		}
	}
	return h
}

func (h *house) journal() string     { return filepath.Join(h.dir, "journal") }
func (h *house) checkpoints() string { return filepath.Join(h.dir, "checkpoints") }

// draft is the first entry of a journal, reads of two executions, and a lineage
// entry now and then.
func draft(t testing.TB, sequence int) *record.Draft {
	run := fmt.Sprintf("run_%d", sequence%2)
	correlation := record.Correlation{ExecutionID: run, TraceID: fmt.Sprintf("%032x", sequence%2+1), SpanID: fmt.Sprintf("%016x", sequence)}
	header := record.Header{OccurredAt: record.NewTime(start), Correlation: correlation, ObservedBy: record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan}}
	switch {
	case sequence == 1:
		d, err := record.NewJournalDraft(&record.Journal{Header: record.Header{EventType: record.EventJournalOpened}})
		require.NoError(t, err)
		return d
	case sequence%5 == 0:
		header.EventType = record.EventLineageSpans
		header.Correlation.SpanID = ""
		d, err := record.NewLineageDraft(&record.Lineage{Header: header}, []record.Span{
			{SpanID: correlation.SpanID, Kind: "internal", Class: "tool", Status: record.StatusOK, StartedAt: record.NewTime(start), EndedAt: record.NewTime(start), NameDigest: "sha256:" + strings.Repeat("0", 64)},
		})
		require.NoError(t, err)
		return d
	}
	header.EventType = record.EventReadTool
	d, err := record.NewReadDraft(&record.Read{
		Header: header, ReadID: fmt.Sprintf("read_%d", sequence), ExecutionID: run, Source: record.Source{Kind: record.SourceAPI, ToolID: "crm.get"},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, true)
	require.NoError(t, err)
	return d
}

func (h *house) append(sequence uint64, d *record.Draft, previous string) string {
	body := d.Complete(record.Completion{
		EventID: record.EventID(fmt.Sprintf("01M4G7X2Q0%016d", sequence)), JournalID: h.id, Sequence: sequence,
		RecordedAt:  record.NewTime(start.Add(time.Duration(sequence) * time.Second)),
		Scope:       record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		CollectorID: "c1", Parts: d.Parts(),
	})
	unsigned := journal.Assemble(d.Kind(), record.SchemaVersion, body, previous, h.signer)
	hash := unsigned.RecordHash()
	line, err := unsigned.Sign(h.signer)
	require.NoError(h.t, err)
	h.lines = append(h.lines, string(line))
	sum, ok := journal.ParseHash(hash)
	require.True(h.t, ok)
	require.NoError(h.t, h.tree.Append(sum))
	f, err := os.OpenFile(filepath.Join(h.journal(), fmt.Sprintf("%020d.events", (sequence-1)/4*4+1)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(h.t, err)
	_, err = f.Write(line)
	require.NoError(h.t, err)
	require.NoError(h.t, f.Close())
	return hash
}

// checkpoint puts a checkpoint of the journal as it is into the store.
func (h *house) checkpoint(cosigned, stamped bool) {
	root, err := h.tree.Root(h.tree.Size())
	require.NoError(h.t, err)
	c := journal.Checkpoint{Origin: h.id, Size: h.tree.Size(), Root: root}
	text, err := journal.SignCheckpoint(c, h.signer)
	require.NoError(h.t, err)
	dir := filepath.Join(h.checkpoints(), h.id)
	require.NoError(h.t, os.MkdirAll(dir, 0o755))
	stem := filepath.Join(dir, fmt.Sprintf("%020d", c.Size))
	if h.policy == nil {
		h.policy = &journal.Policy{Quorum: 1, TimestampRoots: h.authority.Roots}
	}
	if cosigned {
		seed := sha256.Sum256([]byte("witness"))
		signer, err := torchwood.NewCosignatureSigner("witness.example.com", ed25519.NewKeyFromSeed(seed[:]))
		require.NoError(h.t, err)
		signed, err := note.Sign(&note.Note{Text: c.Text()}, signer)
		require.NoError(h.t, err)
		text = append(text, signed[len(c.Text())+1:]...)
		w, err := journal.ParseWitness(signer.Verifier().String())
		require.NoError(h.t, err)
		h.policy.Witnesses = []journal.Witness{w}
	}
	if stamped {
		h.authority.Now = func() time.Time { return start.Add(time.Hour) }
		require.NoError(h.t, os.WriteFile(stem+".tsa.tsr", h.stamp(c.Text()), 0o644))
	}
	require.NoError(h.t, os.WriteFile(stem+".checkpoint", text, 0o644))
}

// options are those of a bundle of everything.
func (h *house) options() Options {
	store, err := ReadStore(h.checkpoints())
	require.NoError(h.t, err)
	sources, err := journal.Open(h.journal())
	require.NoError(h.t, err)
	return Options{Sources: sources, Store: store, Registry: h.keys, Signer: h.manifest, Now: start.Add(24 * time.Hour), Scratch: h.t.TempDir()}
}

// make makes a bundle, as change has it.
func (h *house) make(change func(*Options)) []byte {
	h.t.Helper()
	o := h.options()
	if change != nil {
		change(&o)
	}
	var out bytes.Buffer
	_, err := Make(context.Background(), &out, o)
	require.NoError(h.t, err)
	return out.Bytes()
}

func (h *house) trust() Trust {
	return Trust{Keys: h.keys, ManifestKeys: h.manifests, Policy: h.policy}
}

func (h *house) verify(b []byte) *Report {
	h.t.Helper()
	r, err := Verify(context.Background(), bytes.NewReader(b), int64(len(b)), h.trust())
	require.NoError(h.t, err)
	return r
}

// member is one file of a bundle.
type member struct {
	name string
	text []byte
}

func unpack(t testing.TB, b []byte) []member {
	var files []member
	a := &archiveReader{r: bytes.NewReader(b), size: int64(len(b))}
	for {
		f, err := a.next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		text, _, err := f.all(maxFileBytes)
		require.NoError(t, err)
		files = append(files, member{f.name, text})
	}
}

func pack(t testing.TB, files []member) []byte {
	var out bytes.Buffer
	w := newArchiveWriter(&out)
	for _, f := range files {
		require.NoError(t, w.add(f.name, int64(len(f.text)), bytes.NewReader(f.text)))
	}
	require.NoError(t, w.close())
	return out.Bytes()
}

// resign makes a bundle of artifacts as a maker would who lies: index, manifest and
// signature fit.
func (h *house) resign(files []member, change func(*Manifest)) []byte {
	var out bytes.Buffer
	o := newOutput(&out, h.t.TempDir())
	defer o.discard()
	var m *Manifest
	for _, f := range files {
		switch f.name {
		case manifestName:
			var err error
			m, err = parseManifest(f.text)
			require.NoError(h.t, err)
		case indexName, sigName:
		default:
			require.NoError(h.t, o.add(f.name, f.text))
		}
	}
	if change != nil {
		change(m)
	}
	require.NoError(h.t, o.finish(m, h.manifest))
	return out.Bytes()
}

func (h *house) stamp(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return h.authority.StampDigest(crypto.SHA256, sum[:], nil)
}
