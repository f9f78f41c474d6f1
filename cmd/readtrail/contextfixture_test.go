// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/record"
)

// cmdContexts writes a journal of contexts: contexts DIR.
func cmdContexts(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(writeContextFixture(dir))
}

// writeContextFixture writes the contexts of an execution: two of entries, the later of
// which has a summary of the former, and one of messages; and one of another
// execution. testdata/context.txtar has the content of the source.
func writeContextFixture(dir string) error {
	signer, err := writeFixtureKeys(dir)
	if err != nil {
		return err
	}
	drafts, err := contextDrafts()
	if err != nil {
		return err
	}
	return writeSegments(filepath.Join(dir, filepath.FromSlash(fixtureSegment)), drafts, signer)
}

func contextDrafts() ([]*record.Draft, error) {
	opened, err := record.NewJournalDraft(&record.Journal{Header: fixtureHeader(record.EventJournalOpened)})
	if err != nil {
		return nil, err
	}
	left := int64(2)
	key, err := content.NewKey("bank-2026", []byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		return nil, err
	}
	messages, err := contexts.ParseInput([]byte(`{"input_messages":[{"role":"user","content":"Review c-1"}],"system_instructions":"Cite entries."}`))
	if err != nil {
		return nil, err
	}
	ofMessages, err := messages.Digest(key)
	if err != nil {
		return nil, err
	}
	keyed := fixtureContext("ctx_3", "run-7")
	keyed.ContextDigest, keyed.ContextCanonicalization, keyed.ContextSize, keyed.ContextForm = ofMessages.Value, string(ofMessages.Form), ofMessages.Size, record.FormMessages
	first := fixtureContext("ctx_1", "run-7", "e1", "e2")
	first.Selection = &record.Selection{Ranking: "recency", LeftOut: &left}
	second := fixtureContext("ctx_2", "run-7", "s1", "e3")
	second.Entries[0].Property = "summary"
	second.Entries[0].DerivedFrom = []string{"e1", "e2"}
	second.Claims = []record.Claim{
		{ClaimID: "cl-1", EntryIDs: []string{"e3", "s1"}, Supported: true},
		{ClaimID: "cl-2", EntryIDs: []string{"e9"}},
		{ClaimID: "cl-3", EntryIDs: []string{}},
		{ClaimID: "cl-4", EntryIDs: []string{"e1"}},
	}
	other := fixtureContext("ctx_9", "run-8", "e9")
	uncaptured := fixtureContext("ctx_4", "run-8")
	uncaptured.Capture = &record.ContextCapture{Input: record.CapturedNothing, Output: record.CapturedNothing}
	drafts := []*record.Draft{opened}
	for _, c := range []*record.Context{first, second, keyed, other, uncaptured} {
		if len(c.Entries) > 0 {
			if err := digestFixture(c); err != nil {
				return nil, err
			}
		}
		d, err := record.NewBodyDraft(record.KindContext, record.SchemaVersion, false, c)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

func fixtureContext(id, executionID string, entries ...string) *record.Context {
	c := &record.Context{
		Header: record.Header{
			EventType: record.EventContextUsed, OccurredAt: record.NewTime(fixtureStart),
			Correlation: record.Correlation{ExecutionID: executionID, TraceID: trace, SpanID: "b7ad6b7169203331"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan, Dialect: "otel-genai"},
		},
		ContextID: id, Model: record.Model{Provider: "openai", Request: "gpt-5.1"}, Entries: []record.ContextEntry{},
		ToolCallsRequested: []record.RequestedCall{{ID: "call_1", ToolID: "crm.customer.get"}},
		Capture:            &record.ContextCapture{Input: record.CapturedContent, Output: record.CapturedContent},
	}
	for _, id := range entries {
		c.Entries = append(c.Entries, record.ContextEntry{
			EntryID: id, ObjectID: "c-1", ObjectType: "Customer", Property: "property_of_" + id, Side: record.SideData,
			Origin: record.Origin{Source: "crm-eu", Line: 41}, RecordTime: record.NewTime(fixtureStart),
		})
	}
	return c
}

// digestFixture writes the digest of entries whose values are "value of <id>".
func digestFixture(c *record.Context) error {
	var entries []contexts.Entry
	for i := range c.Entries {
		recorded, err := json.Marshal(&c.Entries[i])
		if err != nil {
			return err
		}
		value, err := jsontext.AppendQuote(nil, "value of "+c.Entries[i].EntryID)
		if err != nil {
			return err
		}
		entries = append(entries, contexts.Entry{Recorded: recorded, Value: bytes.Clone(value)})
	}
	d, err := contexts.EntriesDigest(content.Plain, entries)
	if err != nil {
		return err
	}
	c.ContextDigest, c.ContextCanonicalization, c.ContextSize, c.ContextForm = d.Value, string(d.Form), d.Size, record.FormEntries
	return nil
}
