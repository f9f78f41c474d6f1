// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The vectors are for verifiers in other languages. Those that are valid are
// frozen: a change here breaks evidence that exists.
const vectors = "../testdata/vectors"

var update = flag.Bool("update", false, "write the golden vectors anew")

// vectorJournal is a journal with every body that this version writes.
func vectorJournal(t *testing.T) *writer {
	w := newWriter(t)
	w.id = "jrn_vectors"
	w.event(record.EventJournalOpened, map[string]string{"writer": "readtrail/0.1.0"})
	full := exampleRead(2)
	full.Source.System = "crm-eu \U0001f600 \ufb33" // not escaped
	full.Request.ArgumentsDigest, full.Request.ArgumentsCanonicalization, full.Request.ArgumentsSize = "sha256:"+sha256Hex([]byte(`{"id":1}`)), "jcs", 8
	full.Response.AsOf = record.NewTime(epoch)
	full.Boundary = &record.Boundary{DataBoundaryRef: "boundary_eu_kyc", Purpose: "kyc-periodic-review"}
	full.Capture.Request = record.CapturedContent
	w.draft(record.NewReadDraft(full, true)).read()
	lineage := &record.Lineage{Header: exampleRead(0).Header}
	lineage.EventType = record.EventLineageSpans
	draft, err := record.NewLineageDraft(lineage, []record.Span{{
		SpanID: "b7ad6b7169203331", NameDigest: "sha256:" + sha256Hex(nil), Kind: "client", Class: "tool", Status: record.StatusOK,
		StartedAt: record.NewTime(epoch), EndedAt: record.NewTime(epoch.Add(time.Nanosecond)), EdgeType: record.EdgeProtocolCall,
	}})
	require.NoError(t, err)
	w.begin()
	c := w.completion()
	c.Parts = draft.Parts()
	w.seal(draft.Kind(), record.SchemaVersion, draft.Complete(c))
	w.draft(record.NewUnrecordableDraft(record.Header{
		ObservedBy: record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalLog},
	}, record.Unrecordable{Reason: "no_time", ItemID: "read_x", Item: record.SignalLog}))
	w.event(record.EventJournalRecovered, record.Recovered{
		Segment: segmentName(1), Offset: 812, Length: 40, Digest: "sha256:" + sha256Hex(nil), KeptAs: segmentName(1) + ".812.torn",
	})
	w.event("journal.key_rotated", map[string]string{"incoming_key_id": incoming.KeyID()})
	w.signer = incoming
	return w.event("journal.key_accepted", nil).event(record.EventJournalClosed, nil)
}

// brokenVectors are journals that a verifier must refuse, by the code that it
// must give first.
func brokenVectors(t *testing.T, valid *writer) map[journal.Code][][]byte {
	l := valid.lines
	with := func(i int, line []byte) [][]byte {
		out := slices.Clone(l)
		out[i] = line
		return out
	}
	reforged := reseal(t, l[2], trusted, entryOf(t, l[2]).Integrity.PreviousEventHash, elsewhere)
	reforged = replace(reforged, entryOf(t, reforged).Integrity.Signature.Value, entryOf(t, l[2]).Integrity.Signature.Value)
	late := newWriter(t)
	late.id, late.at = valid.id, epoch.AddDate(10, 0, 0)
	early := newWriter(t)
	early.id, early.at = valid.id, epoch.AddDate(-10, 0, 0)
	revoked := newWriter(t)
	revoked.id, revoked.signer = valid.id, revokedSigner
	unsafe := reseal(t, l[2], trusted, entryOf(t, l[2]).Integrity.PreviousEventHash, func(body []byte) []byte {
		return replace(body, `"retention_class":"kyc"}`, `"retention_class":"kyc","unknown":1}`)
	})
	return map[journal.Code][][]byte{
		journal.CodeNotCanonical:         with(2, replace(l[2], `"bank"`, `"\u0062ank"`)),
		journal.CodeSchemaInvalid:        with(2, unsafe),
		journal.CodeRecordHashMismatch:   with(2, replace(l[2], `"bank"`, `"tank"`)),
		journal.CodeSignatureInvalid:     with(2, reforged),
		journal.CodeKeyUnknown:           with(2, reseal(t, l[2], stranger, entryOf(t, l[2]).Integrity.PreviousEventHash, same)),
		journal.CodeKeyNotYetValid:       early.event(record.EventJournalOpened, nil).lines,
		journal.CodeKeyExpired:           late.event(record.EventJournalOpened, nil).lines,
		journal.CodeKeyRevoked:           revoked.event(record.EventJournalOpened, nil).lines,
		journal.CodePreviousHashMismatch: with(2, reseal(t, l[2], trusted, hashOf(t, l[0]), same)),
		journal.CodeSequenceGap:          slices.Delete(slices.Clone(l), 2, 3),
		journal.CodeSequenceDuplicate:    slices.Insert(slices.Clone(l), 3, l[2]),
		journal.CodeJournalIDMismatch: with(2, reseal(t, l[2], trusted, entryOf(t, l[2]).Integrity.PreviousEventHash, func(body []byte) []byte {
			return replace(body, `"jrn_vectors"`, `"jrn_other"`)
		})),
		journal.CodeTornTail: with(len(l)-1, l[len(l)-1][:100]),
	}
}

var revokedSigner = newSeedSigner(4)

func vectorRegistry(t *testing.T) *journal.Registry {
	keys := []journal.Key{trustedKey(trusted), trustedKey(incoming), trustedKey(revokedSigner)}
	for i := range keys {
		keys[i].ValidUntil = record.NewTime(epoch.AddDate(1, 0, 0))
	}
	keys[2].RevokedAt, keys[2].RevocationReason = record.NewTime(epoch.AddDate(0, 0, 1)), "an example"
	keys[2].InvalidFromSequence = map[string]uint64{"jrn_vectors": 1}
	return registryOf(t, keys...)
}

func TestTheGoldenVectorsAreWhatThisVersionWrites(t *testing.T) {
	valid := vectorJournal(t)
	registry, err := vectorRegistry(t).Marshal()
	require.NoError(t, err)
	files := map[string][]byte{
		"keys.json":               registry,
		"valid/" + segmentName(1): bytes.Join(valid.lines, nil),
	}
	for code, lines := range brokenVectors(t, valid) {
		files["broken/"+string(code)+"/"+segmentName(1)] = bytes.Join(lines, nil)
	}
	for name, want := range files {
		path := filepath.Join(vectors, filepath.FromSlash(name))
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, want, 0o644))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
	}
	// Not even -update may change what exists.
	require.Equal(t, frozenVectors, sha256Hex(files["valid/"+segmentName(1)]))
}

// frozenVectors is the SHA-256 of the valid journal.
const frozenVectors = "fe73205ebad67a18f58c43c3c4b65ef7ee39ee5c10371a9cbbb3ceb895000c8b"

func TestTheGoldenVectorsGetTheirVerdicts(t *testing.T) {
	registry, err := journal.ReadRegistry(filepath.Join(vectors, "keys.json"))
	require.NoError(t, err)
	report := verify(t, filepath.Join(vectors, "valid"), registry)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.Valid, report.Schema)
	broken, err := os.ReadDir(filepath.Join(vectors, "broken"))
	require.NoError(t, err)
	seen := map[journal.Code]bool{}
	for _, d := range broken {
		report := verify(t, filepath.Join(vectors, "broken", d.Name()), registry)
		require.Equal(t, 1, report.ExitCode(), d.Name())
		require.Equal(t, journal.Code(d.Name()), report.FirstBad.Code, "%+v", report)
		seen[report.FirstBad.Code] = true
	}
	for _, doc := range journal.CodeDocs() {
		require.Equal(t, doc.Class == journal.ClassBroken, seen[doc.Code], "%s has a vector", doc.Code)
	}
}
