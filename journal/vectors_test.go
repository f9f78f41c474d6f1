// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// brokenVectors are journals that a verifier must refuse: the lines of their
// segments by the first sequence in the name. A vector is named by the code that
// must be given first, and a word or two if there are several.
func brokenVectors(t *testing.T, valid *writer) map[string]map[int][][]byte {
	l := valid.lines
	with := func(i int, line []byte) map[int][][]byte {
		out := slices.Clone(l)
		out[i] = line
		return map[int][][]byte{1: out}
	}
	all := func(lines ...[]byte) map[int][][]byte { return map[int][][]byte{1: lines} }
	previous := func(i int) string { return entryOf(t, l[i]).Integrity.PreviousEventHash }
	// rotated is the place of journal.key_rotated.
	rotated := slices.IndexFunc(l, func(line []byte) bool { return entryOf(t, line).Header.EventType == "journal.key_rotated" })
	unrotated := *valid
	unrotated.lines, unrotated.previous = slices.Clone(l[:rotated+1]), hashOf(t, l[rotated])
	unrotated.sequence, unrotated.signer = uint64(rotated+1), trusted
	foreign := *valid
	foreign.lines, foreign.previous, foreign.sequence, foreign.signer = slices.Clone(l[:2]), hashOf(t, l[1]), 2, trusted
	foreign.foreign("future_record", "9.0.0")
	reforged := reseal(t, l[2], trusted, previous(2), elsewhere)
	reforged = replace(reforged, entryOf(t, reforged).Integrity.Signature.Value, entryOf(t, l[2]).Integrity.Signature.Value)
	late, early, revoked := newWriterOf(valid), newWriterOf(valid), newWriterOf(valid)
	late.at, early.at, revoked.signer = epoch.AddDate(10, 0, 0), epoch.AddDate(-10, 0, 0), revokedSigner
	unsafe := reseal(t, l[2], trusted, previous(2), func(body []byte) []byte {
		return replace(body, `"retention_class":"kyc"}`, `"retention_class":"kyc","unknown":1}`)
	})
	return map[string]map[int][][]byte{
		"not_canonical":                with(2, replace(l[2], `"bank"`, `"\u0062ank"`)),
		"schema_invalid":               with(2, unsafe),
		"schema_invalid.header":        with(2, forged(t, l[2], trusted, func(e map[string]any) { bodyOf(e)["occurred_at"] = "2026-10-09T08:12:03Z" })),
		"schema_invalid.frame":         with(2, forged(t, l[2], trusted, func(e map[string]any) { bodyOf(e)["sequence"] = "3" })),
		"schema_invalid.verification":  all(l[0], l[1], forged(t, foreign.lines[2], trusted, verifiedBefore)),
		"record_hash_mismatch":         with(2, replace(l[2], `"bank"`, `"tank"`)),
		"record_hash_mismatch.header":  with(2, retyped(l[2], "event_type")),
		"record_hash_mismatch.frame":   with(2, retyped(l[2], "sequence")),
		"signature_invalid":            with(2, reforged),
		"key_unknown":                  with(2, reseal(t, l[2], stranger, previous(2), same)),
		"key_unknown.not_accepted":     all(unrotated.read().lines...),
		"key_unknown.not_announced":    all(slices.Clone(newWriterOf(valid).event(record.EventJournalOpened, nil).event("journal.key_accepted", nil).lines)...),
		"key_not_yet_valid":            all(early.event(record.EventJournalOpened, nil).lines...),
		"key_expired":                  all(late.event(record.EventJournalOpened, nil).lines...),
		"key_revoked":                  all(revoked.event(record.EventJournalOpened, nil).lines...),
		"previous_hash_mismatch":       with(2, reseal(t, l[2], trusted, hashOf(t, l[0]), same)),
		"sequence_gap":                 all(slices.Delete(slices.Clone(l), 2, 3)...),
		"sequence_gap.name":            {1: l[:3], 5: l[3:]},
		"sequence_gap.empty":           {1: l, len(l) + 3: nil},
		"sequence_duplicate":           all(slices.Insert(slices.Clone(l), 3, l[2])...),
		"sequence_duplicate.other_key": all(slices.Insert(slices.Clone(l), 3, reseal(t, l[2], incoming, previous(2), same))...),
		"journal_id_mismatch": with(2, reseal(t, l[2], trusted, previous(2), func(body []byte) []byte {
			return replace(body, `"jrn_vectors"`, `"jrn_other"`)
		})),
		"torn_tail": with(len(l)-1, l[len(l)-1][:100]),
	}
}

// newWriterOf begins another journal with the id of one.
func newWriterOf(other *writer) *writer {
	w := newWriter(other.t)
	w.id = other.id
	return w
}

// verifiedBefore has an entry claim what only a verifier may say.
func verifiedBefore(e map[string]any) {
	e["integrity"].(map[string]any)["verification"].(map[string]any)["status"] = "valid"
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
	for _, v := range outsideVectors(t) {
		for name, text := range v.files {
			files["outside/"+v.name+"/"+name] = text
		}
	}
	for name, segments := range brokenVectors(t, valid) {
		for first, lines := range segments {
			files["broken/"+name+"/"+segmentName(first)] = bytes.Join(lines, nil)
		}
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
	readme, err := os.ReadFile(filepath.Join(vectors, "README.md"))
	require.NoError(t, err)
	broken, err := os.ReadDir(filepath.Join(vectors, "broken"))
	require.NoError(t, err)
	seen := map[journal.Code]bool{}
	for _, d := range broken {
		report := verify(t, filepath.Join(vectors, "broken", d.Name()), registry)
		require.Equal(t, 1, report.ExitCode(), d.Name())
		code, _, _ := strings.Cut(d.Name(), ".")
		require.Equal(t, journal.Code(code), report.FirstBad.Code, "%+v", report)
		seen[report.FirstBad.Code] = true
		require.Contains(t, string(readme), fmt.Sprintf("| `%s` | %s |\n", d.Name(), listed(report)), "what else a verifier finds is said")
	}
	for _, v := range outsideVectors(t) {
		code, _, _ := strings.Cut(v.name, ".")
		seen[journal.Code(code)] = seen[journal.Code(code)] || v.broken
	}
	for _, doc := range journal.CodeDocs() {
		require.Equal(t, doc.Class == journal.ClassBroken, seen[doc.Code], "%s has a vector", doc.Code)
	}
}

// listed lists the broken findings of a report with their sequences, in order.
func listed(r *journal.Report) string {
	var all []string
	for _, f := range r.Findings {
		if f.Class == journal.ClassBroken {
			all = append(all, fmt.Sprintf("`%s` %d", f.Code, f.Sequence))
		}
	}
	return strings.Join(all, ", ")
}
