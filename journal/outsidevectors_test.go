// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// outsideVector is a journal with what is known of it outside: a directory with
// journal/, and checkpoints/ and policy.json if it has them.
type outsideVector struct {
	name   string
	broken bool
	files  map[string][]byte
}

// vector lays a journal out that begins at a sequence.
func vector(name string, first int, lines [][]byte) outsideVector {
	return outsideVector{name: name, files: map[string][]byte{"journal/" + segmentName(first): bytes.Join(lines, nil)}}
}

func (v outsideVector) with(notes ...[]byte) outsideVector {
	v.files = maps.Clone(v.files)
	for _, note := range notes {
		c, err := journal.ParseCheckpoint(note)
		if err != nil {
			panic(err)
		}
		place := "a"
		name := fmt.Sprintf("checkpoints/%s/%s/%020d.checkpoint", place, c.Origin, c.Size)
		if v.files[name] != nil {
			name = strings.Replace(name, "/a/", "/b/", 1)
		}
		v.files[name] = note
	}
	return v
}

func (v outsideVector) under(policy string) outsideVector {
	v.files = maps.Clone(v.files)
	v.files["policy.json"] = []byte(policy + "\n")
	return v
}

func (v outsideVector) isBroken() outsideVector {
	v.broken = true
	return v
}

// outsideVectors are good ones, those that are named by the code that is given first,
// and unchecked ones.
func outsideVectors(t *testing.T) []outsideVector {
	w := newWriter(t)
	w.id = "jrn_vectors"
	w.event(record.EventJournalOpened, nil)
	for len(w.lines) < 9 {
		w.read()
	}
	fork := *w
	fork.lines, fork.sequence, fork.previous = slices.Clone(w.lines[:5]), 5, hashOf(t, w.lines[4])
	fork.at = fork.at.Add(time.Hour)
	fork.read().read().read().read()
	grouped := *w
	grouped.lines = slices.Clone(w.lines[:3])
	grouped.sequence, grouped.previous = 3, hashOf(t, w.lines[2])
	grouped.group(1).group(5).read()
	pruned := *w
	pruned.lines = slices.Clone(w.lines)
	before := pruned.signed(3)
	exactly, behind := pruned.signed(5), pruned.signed(8)
	pruned.announce(6).read()
	lied := *w
	lied.lines = slices.Clone(w.lines)
	lied.event(record.EventJournalPruned, record.Pruned{
		FirstSequence: 6, Anchor: hashOf(t, w.lines[3]), TreeHashes: frontier(w.leaves(5)),
		Segments: []record.PrunedSegment{{Segment: segmentName(1), Size: 1, Digest: "sha256:" + sha256Hex(nil)}},
	})
	torn := []byte("half a line")
	kept := segmentName(1) + ".812.torn"
	recovered := *w
	recovered.lines = slices.Clone(w.lines)
	recovered.event(record.EventJournalRecovered, record.Recovered{Segment: segmentName(1), Offset: 812, Length: int64(len(torn)), Digest: "sha256:" + sha256Hex(torn), KeptAs: kept})
	elsewhere := *w
	elsewhere.lines = slices.Clone(w.lines)
	elsewhere.event(record.EventJournalRecovered, record.Recovered{Segment: segmentName(1), Offset: 812, Length: int64(len(torn)), Digest: "sha256:" + sha256Hex(torn), KeptAs: "../" + kept})
	unnamed := newWriter(t)
	unnamed.id = w.id
	unnamed.nameless().nameless().nameless().read().read()
	artifact := func(name, content string) outsideVector {
		v := vector(name, 1, recovered.lines).under(`{"demand":["artifacts"]}`)
		if content != "" {
			v.files["journal/"+kept] = []byte(content)
		}
		return v
	}
	one, two := newCosigner(t, "one.example", 11), newCosigner(t, "two.example", 12)
	cosigned := func(n int, at time.Time, by ...cosigner) []byte {
		note := w.signed(n)
		for _, c := range by {
			note = append(note, c.cosign(w.checkpoint(n).Text(), at.Unix())...)
		}
		return note
	}
	quorum := func(n int, demand string) string {
		return fmt.Sprintf(`{"demand":[%s],"quorum":%d,"witnesses":[%q,%q]}`, demand, n, one.vkey.String(), two.vkey.String())
	}
	strangers, err := journal.SignCheckpoint(w.checkpoint(9), stranger)
	require.NoError(t, err)
	anchored := func(hash string) string {
		return fmt.Sprintf(`{"demand":["first_link"],"journals":[{"first_link":%q,"first_sequence":6,"journal_id":"jrn_vectors","keys":[%q]}]}`, hash, trusted.KeyID())
	}
	oldestOf := func(size int, root []byte) string {
		return fmt.Sprintf(`{"journals":[{"journal_id":"jrn_vectors","oldest_checkpoint":{"root":%q,"size":%d}}]}`, base64.StdEncoding.EncodeToString(root), size)
	}
	oldest := func(root []byte) string { return oldestOf(7, root) }
	gone, edge := w.checkpoint(3).Root, w.checkpoint(5).Root
	root := w.checkpoint(7).Root
	all := vector("", 1, w.lines)
	named := func(name string, v outsideVector) outsideVector {
		v.name = name
		return v
	}
	otherGroup := slices.Clone(grouped.lines)
	otherGroup[4] = replace(otherGroup[4], entryOf(t, otherGroup[4]).Integrity.Signature.Value, entryOf(t, otherGroup[3]).Integrity.Signature.Value)
	misplaced := slices.Clone(grouped.lines)
	misplaced[5] = value(t, misplaced[5], func(v []byte) { v[7] = 7 })
	later := epoch.AddDate(0, 0, 2)
	audited, groupedEvent, verified := newWriterOf(w), newWriterOf(w), newWriterOf(w)
	audited.event(record.EventJournalOpened, nil).auditEvent("1.0.0").auditEvent("1.1.0").event(record.EventJournalClosed, nil)
	groupedEvent.event(record.EventJournalOpened, nil).groupedEvent("1.0.0")
	verified.event(record.EventJournalOpened, nil).auditEvent("1.0.0")
	unruly := forged(t, audited.lines[1], trusted, func(e map[string]any) {
		bodyOf(e)["policy"].(map[string]any)["decision"] = "block" // and a tool was called
	})
	return []outsideVector{
		named("valid", all.with(w.signed(4), w.signed(9)).under(`{"demand":["tail"]}`)),
		named("valid.cosigned", all.with(cosigned(9, epoch.Add(time.Minute), one, two)).under(quorum(2, `"tail","time"`))),
		vector("valid.group", 1, grouped.lines).with(grouped.signed(10)),
		vector("valid.audit_event", 1, audited.lines),
		vector("schema_invalid.audit_event", 1, [][]byte{audited.lines[0], unruly}).isBroken(),
		vector("schema_invalid.audit_event_group", 1, groupedEvent.lines).isBroken(),
		vector("schema_invalid.audit_event_verified", 1, [][]byte{verified.lines[0], forged(t, verified.lines[1], trusted, verifiedBefore)}).isBroken(),
		vector("valid.pruned", 6, pruned.lines[5:]).with(before, exactly, behind, pruned.signed(11)).under(`{"demand":["tail","first_link"]}`),
		vector("valid.interrupted", 3, pruned.lines[2:]).with(before, exactly, behind).under(`{"demand":["first_link"]}`),
		vector("valid.anchored", 6, w.lines[5:]).under(anchored(hashOf(t, w.lines[4]))),
		named("valid.oldest", all.under(oldest(root[:]))),
		vector("valid.oldest_pruned", 6, pruned.lines[5:]).under(oldestOf(5, edge[:])),
		vector("checkpoint_not_performed.oldest", 6, pruned.lines[5:]).under(oldestOf(3, gone[:])),
		vector("truncated", 1, w.lines[:6]).with(w.signed(4), w.signed(9)).isBroken(),
		vector("truncated.oldest", 1, w.lines[:6]).under(oldest(root[:])).isBroken(),
		named("fork", all.with(fork.signed(4), fork.signed(8)).isBroken()),
		named("fork.two", all.with(w.signed(8), fork.signed(8)).isBroken()),
		named("checkpoint_signature_invalid", all.with(strangers).isBroken()),
		named("checkpoint_signature_invalid.changed", all.with(bytes.Replace(w.signed(9), []byte("\n9\n"), []byte("\n8\n"), 1)).isBroken()),
		named("checkpoint_inconsistent", all.under(oldest(make([]byte, 32))).isBroken()),
		vector("signature_invalid.group", 1, otherGroup).isBroken(),
		vector("signature_invalid.group_size", 1, misplaced).isBroken(),
		vector("previous_hash_mismatch.pruned", 6, lied.lines[5:]).isBroken(),
		vector("previous_hash_mismatch.anchor", 6, w.lines[5:]).under(anchored(hashOf(t, w.lines[3]))).isBroken(),
		vector("sequence_gap.anchor", 7, w.lines[6:]).under(anchored(hashOf(t, w.lines[4]))).isBroken(),
		named("journal_id_mismatch.policy", all.under(`{"journals":[{"journal_id":"jrn_other"}]}`).isBroken()),
		named("key_unknown.policy", all.under(fmt.Sprintf(`{"journals":[{"journal_id":"jrn_vectors","keys":[%q]}]}`, incoming.KeyID())).isBroken()),
		named("key_expired.attested", all.with(cosigned(9, epoch.AddDate(1, 0, 1), one)).under(quorum(1, `"time"`)).isBroken()),
		artifact("artifact_missing", "").isBroken(),
		vector("artifact_missing.elsewhere", 1, elsewhere.lines).under(`{"demand":["artifacts"]}`).isBroken(),
		vector("fork.nameless", 1, unnamed.lines).with(w.signed(3), unnamed.signed(5)).isBroken(),
		vector("checkpoint_not_performed.pruned", 6, pruned.lines[5:]).with(before, pruned.signed(11)).under(`{"demand":["checkpoints"]}`),
		named("checkpoint_not_performed.none", all.under(`{"demand":["checkpoints"]}`)),
		vector("first_link_unanchored.unconfirmed", 6, pruned.lines[5:]).with(before).under(`{"demand":["first_link"]}`),
		vector("valid.unconfirmed", 6, pruned.lines[5:]).with(before),
		vector("time_unattested.uncompared", 6, w.lines[5:]).with(cosigned(9, epoch.Add(time.Minute), one)).under(quorum(1, `"time"`)),
		artifact("artifact_digest_mismatch", "half a lime").isBroken(),
		artifact("valid.artifact", string(torn)),
		named("tail_unattested", all.with(w.signed(7)).under(`{"demand":["tail"]}`)),
		named("tail_unattested.quorum", all.with(cosigned(9, later, one)).under(quorum(2, `"tail"`))),
		named("time_unattested", all.with(cosigned(7, epoch.Add(time.Minute), one)).under(quorum(1, `"time"`))),
		vector("first_link_unanchored", 6, w.lines[5:]).under(`{"demand":["first_link"]}`),
	}
}

func TestTheVectorsWithAnOutsideGetTheirVerdicts(t *testing.T) {
	registry, err := journal.ReadRegistry(filepath.Join(vectors, "keys.json"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(vectors, "README.md"))
	require.NoError(t, err)
	var rows strings.Builder
	for _, v := range outsideVectors(t) {
		directory := filepath.Join(vectors, "outside", v.name)
		var policy *journal.Policy
		if _, err := os.Stat(filepath.Join(directory, "policy.json")); !errors.Is(err, fs.ErrNotExist) {
			policy, err = journal.ReadPolicy(filepath.Join(directory, "policy.json"))
			require.NoError(t, err)
		}
		var places []string
		if _, err := os.Stat(filepath.Join(directory, "checkpoints")); err == nil {
			places = append(places, filepath.Join(directory, "checkpoints"))
		}
		report := judge(t, filepath.Join(directory, "journal"), registry, policy, places...)
		code, _, _ := strings.Cut(v.name, ".")
		want := 2
		switch {
		case v.broken:
			want = 1
			require.Equal(t, journal.Code(code), report.FirstBad.Code, "%s: %+v", v.name, report)
		case code == "valid":
			want = 0
		default:
			require.Contains(t, report.Counts, journal.Code(code))
		}
		require.Equal(t, want, report.ExitCode(), "%s: %+v", v.name, report)
		fmt.Fprintf(&rows, "| `%s` | %d | %s |\n", v.name, want, demanded(report))
	}
	if !strings.Contains(string(readme), rows.String()) {
		t.Logf("the rows are:\n%s", rows.String())
		t.Fail()
	}
}

// demanded lists the findings that are no notes.
func demanded(r *journal.Report) string {
	var all []string
	for _, f := range r.Findings {
		if f.Class != journal.ClassNote {
			text := fmt.Sprintf("`%s`", f.Code)
			if f.Sequence > 0 {
				text += fmt.Sprintf(" %d", f.Sequence)
			}
			all = append(all, text)
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}
