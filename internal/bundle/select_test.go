// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// appendBody appends an entry with a body of any kind.
func (h *house) appendBody(kind record.Kind, more string) { h.appendBodyIn("run_0", kind, more) }

// appendBodyIn is appendBody for any execution.
func (h *house) appendBodyIn(execution string, kind record.Kind, more string) {
	sequence := uint64(len(h.lines) + 1)
	last, err := journal.ParseLine([]byte(strings.TrimSuffix(h.lines[len(h.lines)-1], "\n")))
	require.NoError(h.t, err)
	at := record.NewTime(start.Add(time.Duration(sequence) * time.Second))
	body := fmt.Sprintf(`{"correlation":{"execution_id":%q},%s"journal_id":%q,"recorded_at":%q,"sequence":%d}`, execution, more, journalID, at, sequence)
	value := jsontext.Value(body)
	require.NoError(h.t, value.Canonicalize())
	line, err := journal.Assemble(kind, "1.9.0", value, last.Integrity.RecordHash, h.signer).Sign(h.signer)
	require.NoError(h.t, err)
	e, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
	require.NoError(h.t, err)
	h.lines = append(h.lines, string(line))
	require.NoError(h.t, h.tree.Append(e.PayloadDigest()))
	name := filepath.Join(h.journal(), fmt.Sprintf("%020d.events", (sequence-1)/4*4+1))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(h.t, err)
	_, err = f.Write(line)
	require.NoError(h.t, err)
	require.NoError(h.t, f.Close())
}

// sequences are those of the entries in a bundle.
func sequences(t *testing.T, b []byte) (found []uint64) {
	for _, f := range unpack(t, b) {
		if n := parseName(f.name); n.kind == kindEntry {
			found = append(found, n.first)
		}
	}
	return found
}

func TestADecisionBringsItsExecutionWithBodiesThatAreNewerThanTheMaker(t *testing.T) {
	h := newHouse(t, 9)
	h.appendBody("decision_record", `"decision_id":"dec_1",`)
	h.appendBody("approval_record", "")
	h.appendBody("decision_record", `"decision_id":"dec_2",`)
	h.checkpoint(true, true)
	// run_0 has the even sequences, and the lineage of its trace stands in none.
	want := []uint64{2, 4, 6, 8, 10, 11, 12}
	b := h.make(func(o *Options) { o.Selection.DecisionID = "dec_1" })
	assert.Equal(t, want, sequences(t, b))
	r := h.verify(b)
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	assert.Equal(t, journal.Valid, r.Inclusion)
	assert.Equal(t, journal.NotPerformed, r.Schema)
	assert.Equal(t, journal.NotPerformed, r.Completeness, "nobody but the maker knows what else there was")
	assert.EqualValues(t, 3, r.Counts[journal.CodeUnsupportedSchemaVersion])
	assert.Equal(t, map[string]uint64{"read_record": 4, "decision_record": 2, "approval_record": 1}, r.Manifest.Journals[0].Kinds)

	b = h.make(func(o *Options) {
		o.Selection.ExecutionID = "run_0"
		o.Matches = func(e *journal.Entry) bool { return e.Header.Correlation.ExecutionID == "run_0" }
	})
	assert.Equal(t, want, sequences(t, b))

	o := h.options()
	o.Selection.DecisionID = "dec_3"
	_, err := Make(t.Context(), &bytes.Buffer{}, o)
	require.ErrorIs(t, err, ErrNothing)
}

func TestAnExecutionBringsTheLineageOfItsTraces(t *testing.T) {
	h := newHouse(t, 12)
	b := h.make(func(o *Options) {
		o.Selection.Kind = "read_record"
		o.Matches = func(e *journal.Entry) bool { return e.Kind == record.KindRead && e.Header.Sequence == 7 }
	})
	assert.Equal(t, []uint64{5, 7}, sequences(t, b))
	require.Nil(t, h.verify(b).FirstBad)
}

func TestASelectionByTimeShowsWhereItEnds(t *testing.T) {
	h := newHouse(t, 12)
	at := func(seconds int) record.Time { return record.NewTime(start.Add(time.Duration(seconds) * time.Second)) }
	for what, test := range map[string]struct {
		from, until record.Time
		want        []uint64
	}{
		"in the middle":      {at(4), at(7), []uint64{3, 4, 5, 6, 7}},
		"from the beginning": {at(1), at(3), []uint64{1, 2, 3}},
		"before all":         {at(-9), at(1), []uint64{1}},
		"to the end":         {at(11), at(99), []uint64{10, 11, 12}},
		"behind all":         {at(50), at(99), []uint64{12}},
		"between two":        {record.NewTime(start.Add(4500 * time.Millisecond)), record.NewTime(start.Add(4600 * time.Millisecond)), []uint64{4, 5}},
		"no beginning":       {record.Time{}, at(2), []uint64{1, 2}},
		"no end":             {at(12), record.Time{}, []uint64{11, 12}},
	} {
		b := h.make(func(o *Options) { o.Selection.RecordedFrom, o.Selection.RecordedUntil = test.from, test.until })
		got := sequences(t, b)
		// Lineage of the same traces may stand anywhere.
		assert.Subset(t, got, test.want, what)
		for _, sequence := range got {
			assert.True(t, sequence%5 == 0 || len(test.want) > 0 && sequence >= test.want[0] && sequence <= test.want[len(test.want)-1], "%s: %d", what, sequence)
		}
		r := h.verify(b)
		require.Nil(t, r.FirstBad, "%s: %+v", what, r.FirstBad)
		assert.Equal(t, journal.Valid, r.Completeness, "%s: %+v", what, r.Findings)
	}
	// A maker who makes the range smaller leaves an end that is inside.
	files := unpack(t, h.make(func(o *Options) { o.Selection.RecordedFrom, o.Selection.RecordedUntil = at(4), at(9) }))
	r := h.verify(h.resign(files, func(m *Manifest) { m.Journals[0].Range.LastSequence = 7 }))
	require.NotNil(t, r.FirstBad)
	assert.Equal(t, journal.CodeSequenceGap, r.FirstBad.Code)
	assert.Equal(t, journal.Failed, r.Completeness)
}

func TestWhatAJournalContradictsIsNotBundled(t *testing.T) {
	h := newHouse(t, 8)
	other := newHouse(t, 12)
	for what, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"checkpoints of a longer journal": {func(o *Options) { o.Store, _ = ReadStore(other.checkpoints()) }, "it is cut off"},
		"the same journal twice":          {func(o *Options) { o.Sources = append(o.Sources, o.Sources[0]) }, "are the same journal"},
		"nobody trusts it":                {func(o *Options) { o.Registry = trusting(t, signerOf(t, "stranger")) }, "no trusted key signed the checkpoint"},
	} {
		o := h.options()
		test.change(&o)
		_, err := Make(t.Context(), &bytes.Buffer{}, o)
		require.ErrorContains(t, err, test.want, what)
	}
}

func TestSeveralJournalsStandInOneBundle(t *testing.T) {
	h, other, quiet := newHouse(t, 8), newHouseOf(t, "jrn_0", 9), newHouseOf(t, "jrn_2", 6)
	for _, of := range []*house{other, quiet} {
		require.NoError(t, os.CopyFS(h.checkpoints(), os.DirFS(of.checkpoints())))
	}
	o := h.options()
	o.Sources = append(append(o.Sources, other.options().Sources...), quiet.options().Sources...)
	o.Selection.FirstSequence, o.Selection.LastSequence = 7, 8
	var out bytes.Buffer
	m, err := Make(t.Context(), &out, o)
	require.NoError(t, err)
	require.Len(t, m.Journals, 3, "one that holds nothing of the selection was looked at too")
	// The time stamps of the others are by other authorities.
	r, err := Verify(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), Trust{Keys: h.keys, ManifestKeys: h.manifests})
	require.NoError(t, err)
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	assert.Equal(t, journal.Valid, r.Completeness)
	assert.EqualValues(t, 7, r.EntriesChecked, "with the lineage of the traces, in whatever journal it stands")
	files := unpack(t, out.Bytes())
	for _, id := range []string{"jrn_0", journalID} {
		name := entryName(id, 7, entrySuffix)
		r, err := Verify(t.Context(), bytes.NewReader(pack(t, without(files, name))), int64(len(pack(t, without(files, name)))), Trust{Keys: h.keys, ManifestKeys: h.manifests})
		require.NoError(t, err)
		assert.Equal(t, name, r.FirstBad.Name)
	}
}

func TestASelectionBringsWhatWasDoneAndApprovedOfTheActionsThatItNames(t *testing.T) {
	h := newHouse(t, 9)
	of := func(organization, more string) string {
		return `"scope":{"organization_ref":"` + organization + `"},` + more
	}
	h.appendBody("decision_record", of("bank", `"action_ids":["act_1"],"decision_id":"dec_1",`))
	for _, more := range []string{
		of("bank", `"action_id":"act_1",`), of("bank", `"action_id":"act_2",`), of("other", `"action_id":"act_1",`),
	} {
		h.appendBodyIn("run_of_the_worker", "action_record", more)
	}
	h.appendBodyIn("run_of_the_reviewer", "approval_record", of("bank", `"binds":{"action_id":"act_1"},`))
	h.checkpoint(true, true)
	b := h.make(func(o *Options) { o.Selection.DecisionID = "dec_1" })
	assert.Equal(t, []uint64{2, 4, 6, 8, 10, 11, 14}, sequences(t, b))
	require.Nil(t, h.verify(b).FirstBad)
	b = h.make(func(o *Options) {
		o.Selection.Kind = "decision_record"
		o.Matches = func(e *journal.Entry) bool { return e.Kind == record.KindDecision }
	})
	assert.Equal(t, []uint64{10, 11, 14}, sequences(t, b))
}
