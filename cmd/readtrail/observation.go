// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"fmt"
	"strings"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// observation is what the table shows of one entry, as the entry claims it.
type observation struct {
	sequence    uint64
	occurredAt  string
	event       string
	what        string
	status      string
	system      string
	request     string
	result      string
	capture     string
	toolCall    string
	seenBy      string
	correlation record.Correlation
	// joins is what joins a read with others of its kind; nil for what is not a
	// read.
	joins *lineage.Observation
	// about is what an entry tells of an action; nil for what is about none.
	about *action.Entry
	// What the body names, to be found by.
	actionIDs, approvalIDs   []string
	decisionID, readID, host string
	eventID                  string
	// ofEvent is the id of the entry that a journal record stands beside, and
	// normalized what it says was spelled otherwise.
	ofEvent    string
	normalized []string
	// agent is the agent of an audit event, by its own word, which tells nothing of
	// who gave it: that stands beside it.
	agent string
}

// observe reads an entry. A body of a newer version is not interpreted
// (contract 1): only its header is shown.
func observe(e *journal.Entry) *observation {
	o := &observation{
		sequence:    e.Header.Sequence,
		occurredAt:  milliseconds(e.Header.OccurredAt),
		event:       e.Header.EventType,
		eventID:     e.Header.EventID,
		correlation: e.Header.Correlation,
	}
	if o.event == "" {
		o.event = string(e.Kind)
		o.what = "not interpreted: version " + e.SchemaVersion
		return o
	}
	var err error
	switch e.Kind {
	case record.KindRead:
		err = o.observeRead(e)
	case record.KindAction, record.KindApproval:
		err = o.observeAction(e)
	case record.KindDecision:
		err = o.observeDecision(e)
	case record.KindContext:
		err = o.observeContext(e)
	case record.KindAuditEvent:
		err = o.observeAuditEvent(e)
	case record.KindLineage:
		err = o.observeLineage(e.Body)
	case record.KindJournal:
		err = o.observeJournal(e.Body)
	}
	if err != nil {
		o.what = "not readable as " + string(e.Kind)
	}
	return o
}

func (o *observation) observeRead(e *journal.Entry) error {
	var read struct {
		record.Read   `json:",inline"`
		ConflictsWith string `json:"conflicts_with"`
	}
	if err := json.Unmarshal(e.Body, &read); err != nil {
		return err
	}
	o.joins = lineage.NewObservation(placeOf(e, read.ObservedBy), &read.Read)
	o.what = whatWasRead(&read.Read) + conflict(read.ConflictsWith)
	o.readID, o.actionIDs = read.ReadID, read.ActionIDs
	o.status = string(read.Response.Status)
	o.system = systemVersion(&read.Read)
	o.request = shortDigest(read.Request.ArgumentsDigest)
	if o.request == "" && read.Retrieval != nil {
		o.request = shortDigest(read.Retrieval.QueryDigest)
	}
	o.result = shortDigest(read.Response.ResultDigest)
	o.capture = string(read.Capture.Request)
	if read.Capture.Response != read.Capture.Request {
		o.capture += "/" + string(read.Capture.Response)
	}
	o.toolCall = read.ToolCallID
	o.seenBy = strings.TrimSpace(string(read.ObservedBy.Signal) + " " + read.ObservedBy.Dialect)
	return nil
}

func placeOf(e *journal.Entry, by record.ObservedBy) lineage.Place {
	return lineage.Place{
		Organization: e.Header.Scope.OrganizationRef, JournalID: e.Header.JournalID, Sequence: e.Header.Sequence, Upstream: by.UpstreamContextSource,
	}
}

// whatWasRead names the tool, index, store or document that was read and how
// much came of it.
func whatWasRead(read *record.Read) string {
	var named string
	var came []string
	if r := read.Retrieval; r != nil {
		named = r.IndexID
		came = append(came, count(len(r.Chunks), "chunk"))
	}
	if m := read.Memory; m != nil {
		named = strings.TrimSpace(m.StoreID + " " + m.Operation)
		came = append(came, count(len(m.Entries), "entry"))
	}
	if n := len(read.Documents); n == 1 && named == "" {
		named = read.Documents[0].DocumentID
	} else if n > 0 {
		came = append(came, count(n, "document"))
	}
	if read.Source.ToolID != "" {
		named = strings.TrimSpace(read.Source.ToolID + " " + named)
	}
	return strings.TrimPrefix(strings.Join(append([]string{named}, came...), ", "), ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, isY := strings.CutSuffix(noun, "y"); isY && !strings.HasSuffix(stem, "e") {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// systemVersion names the system and the version of the record that it gave,
// or as of when it gave it.
func systemVersion(read *record.Read) string {
	version := read.Response.SourceRecordVersion
	if version == "" {
		version = milliseconds(read.Response.AsOf)
	}
	if version == "" {
		return read.Source.System
	}
	return read.Source.System + "@" + version
}

func (o *observation) observeLineage(body []byte) error {
	var lineage struct {
		Spans []record.Span `json:"spans"`
	}
	if err := json.Unmarshal(body, &lineage); err != nil {
		return err
	}
	o.what = count(len(lineage.Spans), "span")
	return nil
}

func (o *observation) observeJournal(body []byte) error {
	var about struct {
		Detail struct {
			Reason string `json:"reason"`
			KeptAs string `json:"kept_as"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(body, &about); err != nil {
		return err
	}
	o.what = about.Detail.Reason
	if about.Detail.KeptAs != "" {
		o.what = "torn tail kept as " + about.Detail.KeptAs
	}
	return o.observeAbout(body)
}

// shortDigest shows the first digits of a digest; all of it is in the entry. A
// keyed one tells its key, without which its digits say nothing.
func shortDigest(digest string) string {
	const shown = 12
	colon := strings.LastIndexByte(digest, ':')
	if colon < 0 || len(digest)-colon-1 <= shown {
		return digest
	}
	short := digest[:colon+1+shown]
	return strings.TrimPrefix(strings.TrimPrefix(short, "sha256:"), "hmac-sha256:")
}

// milliseconds shortens a time of an entry for people.
func milliseconds(t record.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.String()[:len("2006-01-02T15:04:05.000")] + "Z"
}
