// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// naming writes an audit event that names entries by their event ids, and one call.
func (w *writer) naming(ids ...string) *writer {
	var event map[string]any
	require.NoError(w.t, json.Unmarshal(exampleEvent(w.t, "1.0.0").Body(), &event))
	w.begin()
	event["event_id"] = fmt.Sprintf("evt_audit_%d", w.sequence)
	event["lineage"] = map[string]any{"lineage_ref": "lineage_1", "event_ids": ids}
	event["tool_calls"] = []any{}
	event["execution"].(map[string]any)["status"] = "not_started"
	body, err := json.Marshal(event)
	require.NoError(w.t, err)
	d, err := record.NewBodyDraft(record.KindAuditEvent, "1.0.0", true, jsontext.Value(body))
	require.NoError(w.t, err)
	c := w.completion()
	c.EventID = d.EventID()
	return w.seal(d.Kind(), "1.0.0", d.Complete(c))
}

// reconcile verifies the journals at paths and resolves what they name.
func reconcile(t *testing.T, opt journal.Options, between func(), paths ...string) []*journal.Report {
	if opt.Registry == nil {
		opt.Registry = registryOf(t, trustedKey(trusted))
	}
	if opt.Reconcile == nil {
		opt.Reconcile = journal.NewReconciliation("")
	}
	var sources []*journal.Source
	for _, path := range paths {
		opened, err := journal.Open(path)
		require.NoError(t, err)
		sources = append(sources, opened...)
	}
	var reports []*journal.Report
	for _, s := range sources {
		report, err := journal.Verify(t.Context(), s, opt)
		require.NoError(t, err)
		reports = append(reports, report)
	}
	if between != nil {
		between()
	}
	opt.Reconcile.Resolve(t.Context(), opt, func(string) string { return "" })
	return reports
}

// idOf returns the event id of a line.
func idOf(t testing.TB, line []byte) string { return entryOf(t, line).Header.EventID }

// firstOf returns the first finding with a code.
func firstOf(t testing.TB, r *journal.Report, code journal.Code) journal.Finding {
	for _, f := range r.Findings {
		if f.Code == code {
			return f
		}
	}
	require.Failf(t, "no such finding", "%s in %+v", code, r.Findings)
	return journal.Finding{}
}

func TestAnAuditEventMayNameWhatStandsBehindIt(t *testing.T) {
	w := journalOf(t, 3)
	before := idOf(t, w.lines[1])
	w.naming(before, "evt_audit_5").naming(before)
	r := reconcile(t, journal.Options{}, nil, store(t, 1, w.lines...))[0]
	require.Equal(t, 0, r.ExitCode(), "%+v", r)
	require.Equal(t, &journal.Reconciled{
		AuditEvents: 2, Lineage: journal.Valid, IDs: 3, Found: 3, Journals: 1, Artifacts: journal.NotPerformed, ArtifactsNamed: 4,
	}, r.Reconciled)
}

// Each kind of id is looked for where entries are about it, and nowhere else.
func TestAnIDIsFoundInWhatIsAboutIt(t *testing.T) {
	read := exampleRead(1)
	read.ReadID, read.ToolCallID, read.Correlation.CallID, read.ActionIDs = "read_1", "call_1", "call_2", []string{"act_9"}
	header := read.Header
	header.EventType, header.Correlation.CallID = record.EventLineageSpans, ""
	span := record.Span{SpanID: "b7ad6b7169203331", Kind: "internal", Class: "tool", Status: record.StatusOK, StartedAt: header.OccurredAt, EndedAt: header.OccurredAt, Name: "execute_tool"}
	quoted, called := span, span
	quoted.ToolCallID, called.SpanID, called.ToolCallID, called.ReadID, called.ActionID = `"tool_call_id":"call_9`, "b7ad6b7169203332", "call_3", "read_9", "act_9"
	w := journalOf(t, 1).draft(record.NewReadDraft(read, true))
	lineage, err := record.NewLineageDraft(&record.Lineage{Header: header}, []record.Span{quoted, called})
	require.NoError(t, err)
	w.begin()
	c := w.completion()
	c.Parts = lineage.Parts()
	w.seal(lineage.Kind(), record.SchemaVersion, lineage.Complete(c))
	w.contextAndAction()
	for kind, c := range map[string]struct{ found, missing []string }{
		"event_ids":   {[]string{idOf(t, w.lines[1]), idOf(t, w.lines[2])}, []string{"read_1", "act_1", "ctx_1"}},
		"read_ids":    {[]string{"read_1"}, []string{"read_9", "act_1"}},
		"action_ids":  {[]string{"act_1"}, []string{"act_9", "att_1"}},
		"context_ids": {[]string{"ctx_1"}, []string{"ctx_9"}},
		"calls":       {[]string{"call_1", "call_2", "call_3", "att_1"}, []string{"call_9", "act_1", "read_1"}},
	} {
		t.Run(kind, func(t *testing.T) {
			one := *w
			one.lines = slices.Clone(w.lines)
			one.namingIn(kind, append(slices.Clone(c.found), c.missing...))
			r := reconcile(t, journal.Options{}, nil, store(t, 1, one.lines...))[0]
			require.Equal(t, 0, r.ExitCode(), "%+v", r)
			require.Equal(t, uint64(len(c.found)), r.Reconciled.Found)
			require.Equal(t, uint64(len(c.missing)), r.Counts[journal.CodeLineageUnresolved])
		})
	}
}

// contextAndAction writes a context ctx_1 and an attempt att_1 of an action act_1.
func (w *writer) contextAndAction() {
	header := func(eventType string) record.Header {
		return record.Header{
			EventType: eventType, OccurredAt: record.NewTime(epoch), Correlation: record.Correlation{ExecutionID: "run_1"},
			ObservedBy: record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalAPI},
		}
	}
	w.draft(record.NewBodyDraft(record.KindContext, record.SchemaVersion, true, &record.Context{
		Header: header(record.EventContextUsed), ContextID: "ctx_1", Model: record.Model{Request: "m"}, Entries: []record.ContextEntry{},
		ContextDigest: "sha256:" + strings.Repeat("0", 64), ContextCanonicalization: "jcs", ContextForm: record.FormMessages,
		ToolCallsRequested: []record.RequestedCall{},
	}))
	w.draft(record.NewBodyDraft(record.KindAction, record.SchemaVersion, true, &record.Action{
		Header: header(record.ActionSent.EventType()), ActionID: "act_1", AttemptID: "att_1", Attempt: 1, State: record.ActionSent, EdgeType: record.EdgeExternalAction,
		Actor: record.Actor{Kind: "agent_process", Identity: "executor"}, IdempotencyToken: record.IdempotencyToken("act_1"),
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "h", Port: 443, Protocol: "https", Method: "POST", CredentialRef: record.NoCredential, Redaction: record.RedactionNone,
		},
	}))
}

// namingIn writes an audit event 1.1.0, evt_audit, that names ids in one list.
func (w *writer) namingIn(list string, ids []string) {
	var event map[string]any
	require.NoError(w.t, json.Unmarshal(exampleEvent(w.t, "1.1.0").Body(), &event))
	call := event["tool_calls"].([]any)[0].(map[string]any)
	for _, own := range []string{"read_ids", "action_ids", "context_ids", "field_provenance"} {
		delete(event, own)
	}
	event["event_id"], event["tool_calls"], event["lineage"] = "evt_audit", []any{}, map[string]any{"lineage_ref": "lineage_1", "event_ids": []string{"evt_audit"}}
	switch list {
	case "event_ids":
		event["lineage"] = map[string]any{"lineage_ref": "lineage_1", "event_ids": ids}
	case "calls":
		var calls []any
		for _, id := range ids {
			one := maps.Clone(call)
			one["call_id"] = id
			calls = append(calls, one)
		}
		event["tool_calls"] = calls
	default:
		event[list] = ids
	}
	body, err := json.Marshal(event)
	require.NoError(w.t, err)
	d, err := record.NewBodyDraft(record.KindAuditEvent, "1.1.0", true, jsontext.Value(body))
	require.NoError(w.t, err)
	w.begin()
	c := w.completion()
	c.EventID = d.EventID()
	w.seal(d.Kind(), "1.1.0", d.Complete(c))
}

// What was written when the journals were opened is what is looked through.
func TestWhatIsWrittenMeanwhileIsNotLookedThrough(t *testing.T) {
	w := journalOf(t, 2)
	w.naming("evt_audit_4").naming("evt_audit_3")
	dir := store(t, 1, w.lines[:3]...)
	grown := func() {
		require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(1)), bytes.Join(w.lines, nil), 0o600))
	}
	r := reconcile(t, journal.Options{}, grown, dir)[0]
	require.Equal(t, uint64(0), r.Reconciled.Found)
	require.Equal(t, uint64(1), r.Counts[journal.CodeLineageUnresolved])
	r = reconcile(t, journal.Options{}, nil, dir)[0]
	require.Equal(t, journal.Valid, r.Reconciled.Lineage)
}

func TestWhatIsRemovedMeanwhileWasNotLookedThrough(t *testing.T) {
	w := journalOf(t, 2)
	w.naming("evt_gone")
	dir := store(t, 1, w.lines...)
	r := reconcile(t, journal.Options{}, func() { require.NoError(t, os.Remove(filepath.Join(dir, segmentName(1)))) }, dir)[0]
	require.NotContains(t, r.Counts, journal.CodeLineageUnresolved)
	require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, "segments of journal "+w.id+" that were removed meanwhile")
}

// Whoever changes a line between the two readings makes nothing found.
func TestWhatIsChangedMeanwhileDoesNotCount(t *testing.T) {
	w := journalOf(t, 3)
	id := idOf(t, w.lines[1])
	gone := strings.Repeat("x", len(id))
	w.naming(gone)
	dir := store(t, 1, w.lines...)
	r := reconcile(t, journal.Options{}, func() {
		text := bytes.Join(w.lines, nil)
		require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(1)), bytes.Replace(text, []byte(id), []byte(gone), 1), 0o600))
	}, dir)[0]
	require.Equal(t, uint64(0), r.Reconciled.Found)
}

// An event that is its own lineage is recorded, and proves nothing by it.
func TestAnAuditEventDoesNotConfirmItself(t *testing.T) {
	w := journalOf(t, 2)
	w.naming("evt_audit_3")
	require.Equal(t, "evt_audit_3", idOf(t, w.lines[len(w.lines)-1]))
	opt := journal.Options{Policy: &journal.Policy{Demand: []journal.Demand{journal.DemandLineage}}}
	r := reconcile(t, opt, nil, store(t, 1, w.lines...))[0]
	require.Equal(t, journal.NotPerformed, r.Reconciled.Lineage)
	require.Zero(t, r.Reconciled.IDs)
	require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, "1 name no event but themselves")
	require.Equal(t, 2, r.ExitCode())
}

// Of entries of which no journal is known it is not known either whether their key still
// was good there.
func TestEntriesWhoseKeysCannotBeJudgedDoNotCount(t *testing.T) {
	nameless, w := newWriter(t).naming("evt_gone"), journalOf(t, 2)
	w.naming("evt_audit_1")
	for bounded, found := range map[bool]uint64{false: 1, true: 0} {
		key := trustedKey(trusted)
		if bounded {
			key.RevokedAt, key.InvalidFromSequence = record.NewTime(epoch.AddDate(1, 0, 0)), map[string]uint64{"jrn_other": 1}
		}
		reports := reconcile(t, journal.Options{Registry: registryOf(t, key)}, nil, store(t, 1, nameless.lines...), store(t, 1, w.lines...))
		require.Equal(t, found, reports[1].Reconciled.Found, "%+v", reports[0])
	}
}

// A file that was not given says nothing of the entries: what contradicts them is a fork
// as before.
func TestAMissingArtifactHidesNoFork(t *testing.T) {
	w := journalOf(t, 3)
	w.naming(idOf(t, w.lines[1]))
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: w.id, Size: 4, Root: [32]byte{1}}, trusted)
	require.NoError(t, err)
	path, registry := filepath.Join(t.TempDir(), "4.checkpoint"), registryOf(t, trustedKey(trusted))
	require.NoError(t, os.WriteFile(path, note, 0o600))
	opt := journal.Options{Registry: registry, Checkpoints: journal.ReadCheckpoints([]string{path}, registry, nil), Reconcile: journal.NewReconciliation(t.TempDir())}
	r := reconcile(t, opt, nil, store(t, 1, w.lines...))[0]
	require.Positive(t, r.Counts[journal.CodeArtifactMissing])
	require.Positive(t, r.Counts[journal.CodeFork], "%+v", r.Counts)
	require.Zero(t, r.Counts[journal.CodeCheckpointInconsistent])
}

func TestEntriesOfAnUnknownVersionAreNotLookedThrough(t *testing.T) {
	w := journalOf(t, 2)
	w.naming("evt_gone")
	d, err := record.NewReadDraft(exampleRead(9), true)
	require.NoError(t, err)
	w.begin()
	w.seal(record.KindRead, "9.0.0", d.Complete(w.completion()))
	r := reconcile(t, journal.Options{}, nil, store(t, 1, w.lines...))[0]
	require.NotContains(t, r.Counts, journal.CodeLineageUnresolved)
	require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, "entries of a version that this verifier does not know in journal "+w.id)
}

// What a checkpoint of the caller covers is found, if the journal gives its root.
func TestWhatWasVerifiedBeforeIsLookedThroughOnlyIfItIsTheSame(t *testing.T) {
	w := journalOf(t, 3)
	w.naming(idOf(t, w.lines[1]))
	registry := registryOf(t, trustedKey(trusted))
	dir := store(t, 1, w.lines...)
	root := w.checkpoint(4).Root
	for _, c := range []struct {
		root    [32]byte
		lineage journal.Check
	}{{root, journal.Valid}, {[32]byte{1}, journal.NotPerformed}} {
		note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: w.id, Size: 4, Root: c.root}, trusted)
		require.NoError(t, err)
		since, err := journal.ParseCheckpoint(note)
		require.NoError(t, err)
		r := reconcile(t, journal.Options{Registry: registry, Since: since}, nil, dir)[0]
		require.Equal(t, c.lineage, r.Reconciled.Lineage, "%+v", r)
		if c.lineage == journal.NotPerformed {
			require.Zero(t, r.Reconciled.IDs)
			require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, "of 1 that were not found valid themselves nothing was looked up")
		}
	}
}

// A verification that came to no end leaves nothing behind.
func TestAJournalIsReconciledOnceThoughItIsReadTwice(t *testing.T) {
	w := journalOf(t, 2)
	w.naming("evt_gone")
	dir := store(t, 1, w.lines...)
	sources, err := journal.Open(dir)
	require.NoError(t, err)
	opt := journal.Options{Registry: registryOf(t, trustedKey(trusted)), Reconcile: journal.NewReconciliation("")}
	broken := *sources[0]
	broken.Segments = append(broken.Segments[:1:1], journal.Segment{Path: filepath.Join(dir, segmentName(4)), FirstSequence: 4, Size: 1})
	_, err = journal.Verify(t.Context(), &broken, opt)
	require.ErrorIs(t, err, os.ErrNotExist)
	r, err := journal.Verify(t.Context(), sources[0], opt)
	require.NoError(t, err)
	_, err = journal.Verify(t.Context(), &broken, opt)
	require.ErrorIs(t, err, os.ErrNotExist)
	opt.Reconcile.Resolve(t.Context(), opt, func(string) string { return "" })
	require.Equal(t, uint64(1), r.Counts[journal.CodeLineageUnresolved])
	require.Equal(t, uint64(1), r.Reconciled.IDs)
}

// However much is named, no more than is bounded is kept at a time, and all is looked up.
func TestWhatIsNamedIsLookedUpInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 12 MiB")
	}
	const largest, each, events = 64 << 20, 60_000, 20
	w := journalOf(t, 2)
	ids := make([]string, each)
	for i := range ids {
		ids[i] = fmt.Sprintf("evt_%x", i)
	}
	ids[each-1] = idOf(t, w.lines[1])
	for range events - 1 {
		w.naming(ids...)
	}
	// The last one is found alone, in the last reading.
	w.naming(ids[each-1], "evt_audit_3")
	w.naming(slices.Insert(slices.Clone(ids), 0, slices.Collect(func(yield func(string) bool) {
		for i := range 1 << 13 {
			if !yield(fmt.Sprintf("more_%x", i)) {
				return
			}
		}
	})...)...)
	dir := store(t, 1, w.lines...)
	w.lines, ids = nil, nil
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	opt := journal.Options{SkipSchema: true, Policy: &journal.Policy{Demand: []journal.Demand{journal.DemandLineage}}, Progress: func(_, _ int64) {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapInuse+now.StackInuse)
	}}
	r := reconcile(t, opt, func() { opt.Progress(0, 0) }, dir)[0]
	opt.Progress(0, 0)
	require.Less(t, most, before.HeapInuse+largest, "%d MiB were in use before", before.HeapInuse>>20)
	t.Logf("%d MiB of memory", (most-min(most, before.HeapInuse))>>20)
	require.Equal(t, uint64((events-1)*each+2), r.Reconciled.IDs)
	require.Equal(t, uint64(events-1+2), r.Reconciled.Found)
	require.Equal(t, uint64((events-1)*(each-1)+1), r.Counts[journal.CodeLineageUnresolved], "and the read has no lineage")
	require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, "21 audit events; of 1 nothing was looked up, because they name more than is looked up of one, or are of one organization too many; ")

	r = reconcile(t, opt, func() { require.NoError(t, os.Remove(filepath.Join(dir, segmentName(1)))) }, dir)[0]
	const waiting = events - 1<<19/each
	require.Contains(t, firstOf(t, r, journal.CodeReconcileNotPerformed).Detail, fmt.Sprintf("of %d nothing was looked up, because they could not be read again; ", waiting))
	require.Equal(t, journal.NotPerformed, r.Reconciled.Lineage)
	require.Equal(t, 2, r.ExitCode())
}

// Whatever a line is, nothing more is found in it than is named.
func FuzzWhatAnEntryCarries(f *testing.F) {
	w := journalOf(f, 3)
	w.naming(idOf(f, w.lines[1]), "evt_gone")
	w.contextAndAction()
	for _, line := range w.lines {
		f.Add(line[:len(line)-1], w.lines[3][:len(w.lines[3])-1])
	}
	f.Fuzz(func(t *testing.T, line, event []byte) {
		e := journal.NewEntryReconciliation()
		e.Collect(event)
		e.Find(line)
		e.FindArtifact("sha256:" + strings.Repeat("0", 64))
		r := e.Reconciled()
		if r == nil {
			require.Zero(t, e.AuditEvents())
			return
		}
		require.LessOrEqual(t, r.Found, r.IDs)
		require.LessOrEqual(t, r.ArtifactsCompared, r.ArtifactsNamed)
	})
}
