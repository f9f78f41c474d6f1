// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// aged is a journal that was written a hundred days ago, with a checkpoint.
type aged struct {
	t            *testing.T
	root, path   string
	checkpoints  string
	key, keys    string
	signer       journal.Signer
	options      ledger.Options
	segmentCount int
}

func newAged(t *testing.T) *aged {
	t.Helper()
	a := &aged{t: t, root: filepath.Join(t.TempDir(), "journal")}
	require.NoError(t, os.Mkdir(a.root, 0o755))
	base := filepath.Dir(a.root)
	a.path, a.checkpoints, a.key = filepath.Join(a.root, "bank", "kyc", "reads"), filepath.Join(base, "checkpoints"), filepath.Join(base, "signing-key.pem")
	pem, key, err := journal.NewKey(time.Now().AddDate(-1, 0, 0))
	require.NoError(t, err)
	registry := &journal.Registry{}
	require.NoError(t, registry.Add(key))
	text, err := registry.Marshal()
	require.NoError(t, err)
	a.keys = filepath.Join(base, "keys.json")
	require.NoError(t, os.WriteFile(a.keys, text, 0o644))
	require.NoError(t, os.WriteFile(a.key, pem, 0o600))
	a.signer, err = journal.NewFileSigner(a.key)
	require.NoError(t, err)
	a.options = ledger.Options{
		Dir: a.path, Signer: a.signer, CollectorID: "c", MaxSegmentBytes: 1,
		Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		Now:   func() time.Time { return time.Now().AddDate(0, 0, -100) },
	}
	l := a.open()
	for n := range 5 {
		_, err := l.Record(t.Context(), &record.Journal{Header: record.Header{EventType: record.EventJournalHeartbeat}, Detail: record.Heartbeat{}})
		require.NoError(t, err, n)
	}
	require.NoError(t, l.Close(t.Context()))
	a.options.Now = nil
	a.segmentCount = len(a.segments())
	a.checkpoint(0)
	return a
}

func (a *aged) open() *ledger.Ledger {
	a.t.Helper()
	l, err := ledger.Open(a.t.Context(), a.options)
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

func (a *aged) segments() []string {
	a.t.Helper()
	names, err := filepath.Glob(filepath.Join(a.path, "*.events"))
	require.NoError(a.t, err)
	return names
}

// checkpoint keeps one of the first entries, all if size is 0, of a journal of which
// nothing was pruned.
func (a *aged) checkpoint(size uint64) journal.Checkpoint {
	a.t.Helper()
	sources, err := journal.Open(a.path)
	require.NoError(a.t, err)
	trees := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	tree := trees.NewEmptyRange(0)
	c := journal.Checkpoint{}
	for line, err := range sources[0].Lines() {
		require.NoError(a.t, err)
		e, err := journal.ParseLine(line.Bytes)
		require.NoError(a.t, err)
		leaf := journal.LeafHash(e.PayloadDigest())
		require.NoError(a.t, tree.Append(leaf[:], nil))
		c.Origin, c.Size = e.Header.JournalID, e.Header.Sequence
		if c.Size == size {
			break
		}
	}
	root, err := tree.GetRootHash(nil)
	require.NoError(a.t, err)
	copy(c.Root[:], root)
	note, err := journal.SignCheckpoint(c, a.signer)
	require.NoError(a.t, err)
	path := filepath.Join(a.checkpoints, filepath.FromSlash(checkpoint.CheckpointName(c.Origin, c.Size)))
	require.NoError(a.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(a.t, os.WriteFile(path, note, 0o644))
	return c
}

func (a *aged) origin() string {
	a.t.Helper()
	e, err := ledger.LastEntry(durable.OS{}, a.path)
	require.NoError(a.t, err)
	return e.Header.JournalID
}

func (a *aged) readtrail(want int, args ...string) string {
	a.t.Helper()
	out, code := runForTest(a.t, args)
	require.Equal(a.t, want, code, out)
	return out
}

func (a *aged) retention(want int, what string, more ...string) string {
	a.t.Helper()
	return a.readtrail(want, append([]string{"retention", what, a.root, "--keep", "kyc=90", "--checkpoints", a.checkpoints}, more...)...)
}

func TestAPlanSaysWhatWouldGoAndWhyTheRestStays(t *testing.T) {
	a := newAged(t)
	before := a.segments()
	out := a.retention(0, "plan")
	require.Contains(t, out, "retention_class: kyc\nkeep_days: 90\ncheckpoint_size: 7\ngoes: 00000000000000000001.events, sequence 1-1, ")
	require.Contains(t, out, "stays: 00000000000000000007.events, sequence 7-7: active_segment\n")
	require.Equal(t, before, a.segments())

	var document struct {
		Journals []plannedJournal `json:"journals"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.retention(0, "plan", "--json")), &document))
	require.Len(t, document.Journals, 1)
	require.Len(t, document.Journals[0].Goes, 6)
	require.Equal(t, uint64(7), document.Journals[0].FirstSequence)

	out = a.readtrail(0, "retention", "plan", a.root, "--keep", "kyc=101")
	require.Contains(t, out, "stays: 00000000000000000001.events to 00000000000000000006.events (6 segments), sequence 1-6: too_young\n")
	require.Contains(t, out, "goes: nothing\n")
	out = a.readtrail(0, "retention", "plan", a.root, "--keep", "kyc=1")
	require.Contains(t, out, "(6 segments), sequence 1-6: no_checkpoint\n")
	out = a.readtrail(0, "retention", "plan", a.root, "--keep", "other=1")
	require.Contains(t, out, ": no_rule\n")
	out = a.readtrail(0, "retention", "plan", a.root, "--keep", "kyc=101", "--checkpoints", a.checkpoints)
	require.Contains(t, out, "sequence 1-6: too_young\n", "the checkpoint covers them")
	for _, none := range []string{filepath.Join(t.TempDir(), "nonexistent"), a.key} {
		for _, what := range []string{"plan", "apply"} {
			out = a.readtrail(2, "retention", what, a.root, "--keep", "kyc=1", "--checkpoints", none)
			require.Contains(t, out, "--checkpoints "+none+": ")
			require.Contains(t, out, "name the directory of a sink, and mount it if it is elsewhere")
		}
	}
}

func TestRulesMayComeFromAFile(t *testing.T) {
	a := newAged(t)
	file := filepath.Join(t.TempDir(), "rules")
	require.NoError(t, os.WriteFile(file, []byte("# how long\nkyc=90\n"), 0o600))
	require.Contains(t, a.readtrail(0, "retention", "plan", a.root, "--keep-file", file, "--checkpoints", a.checkpoints), "\ngoes: 0000")
	require.NoError(t, os.WriteFile(file, []byte("kyc\n"), 0o600))
	require.Contains(t, a.readtrail(2, "retention", "plan", a.root, "--keep-file", file), "line 1 is not CLASS=DAYS")
	a.readtrail(64, "retention", "plan", a.root)
	a.readtrail(64, "retention", "plan", a.root, "--keep", "kyc=ten")
	a.readtrail(64, "retention", "plan", a.root, "--keep", "kyc=1", "--keep", "kyc=2")
}

func TestApplyOpensAJournalThatNobodyWrites(t *testing.T) {
	a := newAged(t)
	require.Contains(t, a.retention(2, "apply"), "start it, which is the only way if its key is in a token or in the environment, or give --signing-key FILE")
	require.Len(t, a.segments(), a.segmentCount)
	out := a.retention(0, "apply", "--signing-key", a.key, "--requested-by", "records office")
	require.Contains(t, out, "announced_segments: 6\nremoved_segments: 6\nfirst_sequence: 7\n")
	require.Equal(t, "00000000000000000007.events", filepath.Base(a.segments()[0]))
	// What was the active segment is sealed now.
	require.Contains(t, a.retention(0, "apply", "--signing-key", a.key), "announced_segments: 1\nremoved_segments: 1\nfirst_sequence: 8\n")
	require.Contains(t, a.retention(0, "apply"), "goes: nothing", "there is nothing more to do, and no key is needed for that")
	text, err := os.ReadFile(a.segments()[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"rule":{"keep_days":90,"requested_by":"records office"}`)
}

func TestWhatIsLeftVerifiesAgainstOldCheckpoints(t *testing.T) {
	a := newAged(t)
	a.checkpoint(3)
	a.checkpoint(6)
	verify := []string{"verify", a.root, "--keys", a.keys, "--checkpoints", a.checkpoints}
	require.Contains(t, a.readtrail(0, verify...), "first_sequence: 1\n")
	a.retention(0, "apply", "--signing-key", a.key)
	out := a.readtrail(0, verify...)
	require.Contains(t, out, "first_sequence: 7\n")
	require.Contains(t, out, "first_link: valid\n")
	require.Contains(t, out, "checkpoints_verified: 2\ncheckpoints_not_checked: 1\ntail_attested_to: 7\n", "one ends before what is left")

	// A checkpoint of another history that ends where the pruned entries end.
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: a.origin(), Size: 6, Root: [32]byte{1}}, a.signer)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other.checkpoint")
	require.NoError(t, os.WriteFile(other, note, 0o644))
	require.Contains(t, a.readtrail(1, "verify", a.root, "--keys", a.keys, "--checkpoints", other), "code: fork\n")
}

func TestAPolicyHoldsForAJournalThatWasPruned(t *testing.T) {
	a := newAged(t)
	below, edge := a.checkpoint(3), a.checkpoint(6)
	lines, err := os.ReadFile(a.segments()[5])
	require.NoError(t, err)
	last, err := journal.ParseLine(bytes.TrimSuffix(lines, []byte("\n")))
	require.NoError(t, err)
	a.retention(0, "apply", "--signing-key", a.key)
	oldest := func(c journal.Checkpoint) string {
		return fmt.Sprintf(`"oldest_checkpoint":{"size":%d,"root":%q}`, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
	}
	changed := edge
	changed.Root[0] ^= 1
	for name, c := range map[string]struct {
		members string
		want    int
		says    string
	}{
		"it may begin there":                {`"first_sequence":7`, 0, "first_link: valid\n"},
		"it should begin before":            {`"first_sequence":6`, 1, "code: sequence_gap\n"},
		"its first link":                    {fmt.Sprintf(`"first_sequence":7,"first_link":%q`, last.Integrity.RecordHash), 0, "first_link: valid\n"},
		"another first link":                {fmt.Sprintf(`"first_sequence":7,"first_link":%q`, last.Integrity.PreviousEventHash), 1, "code: previous_hash_mismatch\n"},
		"the tree of what was pruned":       {oldest(edge), 0, "chain: valid\n"},
		"another tree":                      {oldest(changed), 1, "code: checkpoint_inconsistent\n"},
		"a tree of which a part was pruned": {oldest(below), 2, "checkpoint_not_performed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "policy.json")
			require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `{"journals":[{"journal_id":%q,%s}],"demand":["first_link"]}`, edge.Origin, c.members), 0o600))
			require.Contains(t, a.readtrail(c.want, "verify", a.root, "--keys", a.keys, "--policy", path), c.says)
		})
	}
}

func TestAHoldIsSetListedAndLifted(t *testing.T) {
	a := newAged(t)
	key := []string{"--signing-key", a.key}
	require.Contains(t, a.readtrail(0, "hold", "list", a.root), "no legal hold is set")
	out := a.readtrail(0, append([]string{"hold", "set", a.path, "--id", "case-7", "--reason", "litigation", "--requested-by", "counsel"}, key...)...)
	require.Contains(t, out, "hold_id: case-7\nsequence: 9\n")
	require.Contains(t, a.readtrail(2, append([]string{"hold", "set", a.path, "--id", "case-7"}, key...)...), "is set already")
	require.Contains(t, a.readtrail(0, "hold", "list", a.root), "case-7  counsel       litigation  ")
	require.Contains(t, a.readtrail(0, "hold", "list", a.root, "--json"), `"hold_id": "case-7"`)
	out = a.retention(0, "apply")
	require.Contains(t, out, "hold: case-7\n")
	require.Contains(t, out, "(7 segments), sequence 1-7: hold\n")
	require.Equal(t, "00000000000000000001.events", filepath.Base(a.segments()[0]))
	a.readtrail(0, append([]string{"hold", "lift", a.path, "--id", "case-7"}, key...)...)
	require.Contains(t, a.readtrail(2, append([]string{"hold", "lift", a.path, "--id", "case-7"}, key...)...), "no legal hold of this id")
	a.readtrail(64, "hold", "set", a.path)
	a.readtrail(64, "hold", "set", a.path, "--id", "a b")
	require.Contains(t, a.readtrail(2, "hold", "set", a.segments()[0], "--id", "x"), "is not the directory of one journal")
	require.Contains(t, a.retention(0, "apply", key...), "removed_segments: 7")
}

func TestARunningCollectorIsAskedThroughItsSocket(t *testing.T) {
	a := newAged(t)
	l := a.open()
	out := a.readtrail(2, "hold", "set", a.path, "--id", "case-7", "--signing-key", a.key)
	require.Contains(t, out, "locked", "nobody opens a journal that somebody writes")
	server, err := control.Start(a.root, control.Journals{Ledger: func(id string) *ledger.Ledger {
		if id == l.JournalID() {
			return l
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	a.readtrail(0, "hold", "set", a.path, "--id", "case-7")
	require.Contains(t, a.readtrail(2, "hold", "set", a.path, "--id", "case-7"), "is set already")
	require.Contains(t, a.retention(0, "apply"), "sequence 1-7: hold\n")
	a.readtrail(0, "hold", "lift", a.path, "--id", "case-7")
	require.Contains(t, a.retention(0, "apply"), "removed_segments: 7\nfirst_sequence: 8\n")
	_, err = l.Record(t.Context(), &record.Journal{Header: record.Header{EventType: record.EventJournalHeartbeat}, Detail: record.Heartbeat{}})
	require.NoError(t, err)
}

func TestACheckpointThatIsNotWhatItsNameSaysStopsThePlan(t *testing.T) {
	a := newAged(t)
	notes, err := filepath.Glob(filepath.Join(a.checkpoints, "*", "*"))
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.NoError(t, os.Rename(notes[0], filepath.Join(filepath.Dir(notes[0]), fmt.Sprintf("%020d.checkpoint", 6))))
	require.Contains(t, a.retention(2, "plan"), "is not the checkpoint that its name says")
}
