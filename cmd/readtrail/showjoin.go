// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// position is where a line stands among the sources.
type position struct {
	source, segment int
	offset          int64
}

// shownEntry is an entry that a filter let through.
type shownEntry struct {
	*observation
	position
	journalID string
	// organization is that of its scope.
	organization string
	// scope names the organization and the retention class of its journal.
	scope string
	// body is kept only if it will be printed.
	body jsontext.Value
}

// maxJoined bounds the spans and reads that are joined, of which each takes some
// 200 bytes.
const maxJoined = 1_000_000

// maxActionEntries bounds the entries about actions that are put together, of some
// KiB each.
const maxActionEntries = 100_000

// joining joins the reads that are shown with what every journal of the target
// tells of their traces. What a tool touched is recorded when its span arrives,
// minutes before the tool's own or long after it, and maybe in another journal.
type joining struct {
	graph  *lineage.Graph
	traces map[string]bool
	shown  map[position]bool
	// of gives the read of an observation.
	of map[*lineage.Observation]*lineage.Read
	// book has the actions that are shown or named, and calls the reads that name
	// each: the wrapper tools' own outcomes (requirement D1).
	book    *action.Book
	actions map[action.Name]bool
	calls   map[action.Name][]*shownEntry
	// audited are the audit events that are shown: who gave them stands beside them.
	audited map[audited]*shownEntry
	// unreadable counts lines that would have been of interest.
	unreadable int
}

// join reads the sources a second time, if reads are shown.
func join(con *console, sources []*journal.Source, rows []*shownEntry) (*joining, error) {
	j := &joining{
		graph: lineage.New(maxJoined), traces: map[string]bool{}, shown: map[position]bool{}, of: map[*lineage.Observation]*lineage.Read{},
		book: action.NewBook(maxActionEntries), actions: map[action.Name]bool{}, calls: map[action.Name][]*shownEntry{},
		audited: map[audited]*shownEntry{},
	}
	for _, row := range rows {
		for _, id := range row.actionIDs {
			j.actions[action.Name{Organization: row.organization, ID: id}] = true
		}
		if id := row.correlation.TraceID; id != "" {
			j.traces[id] = true
		}
		if row.agent != "" {
			row.seenBy = "not recorded here, by agent " + row.agent
			j.audited[audited{row.source, row.eventID}] = row
		}
		if row.joins != nil {
			j.graph.AddRead(row.joins)
			j.shown[row.position] = true
		}
	}
	if len(j.shown) == 0 {
		clear(j.traces) // nothing hangs under what is no read
	}
	if len(j.traces) > 0 || len(j.actions) > 0 || len(j.audited) > 0 {
		if err := j.readAll(con, sources); err != nil {
			return nil, err
		}
	}
	for _, r := range j.graph.Reads() {
		for _, o := range r.Observations {
			j.of[o] = r
		}
	}
	if j.book.Full() {
		con.note("more than %d entries are about these actions: some are missing; narrow the selection", maxActionEntries)
	}
	if j.graph.Full() {
		con.note("more than %d spans and reads belong to these traces: some of what was touched is missing; narrow the selection", maxJoined)
	}
	return j, nil
}

func (j *joining) readAll(con *console, sources []*journal.Source) error {
	var done, total int64
	for _, source := range sources {
		total += source.Size()
	}
	progress := newProgress(con, "joining")
	defer progress.clear()
	for i, source := range sources {
		for line, err := range source.Lines() {
			if err != nil {
				return fmt.Errorf("%s: %w", source.Path, err)
			}
			done += line.Size
			progress.report(done, total)
			ofTrace := j.concerns(line.Bytes)
			if ofTrace || len(j.actions) > 0 && bytes.Contains(line.Bytes, actionMember) ||
				len(j.audited) > 0 && bytes.Contains(line.Bytes, receivedType) {
				j.add(position{i, line.Segment, line.Offset}, line, ofTrace)
			}
		}
	}
	return nil
}

// concerns reports whether a line names a trace that is shown, without parsing
// it: as its own, or in a link of a span.
func (j *joining) concerns(line []byte) bool {
	member := []byte(`"trace_id":"`)
	const digits = 32
	for {
		_, rest, found := bytes.Cut(line, member)
		if !found || len(rest) < digits {
			return false
		}
		if j.traces[string(rest[:digits])] {
			return true
		}
		line = rest
	}
}

// actionMember begins the members that name actions.
var actionMember = []byte(`"action_id`)

// addAction adds what an entry tells of the actions that are shown or named.
func (j *joining) addAction(at position, e *journal.Entry) {
	if e.Kind != record.KindAction && e.Kind != record.KindApproval && e.Kind != record.KindRead {
		return
	}
	o := observe(e)
	for _, id := range o.actionIDs {
		name := action.Name{Organization: e.Header.Scope.OrganizationRef, ID: id}
		switch {
		case !j.actions[name]:
		case o.about != nil:
			j.book.Add(o.about)
		case len(j.calls[name]) < maxCalls:
			j.calls[name] = append(j.calls[name], newShownEntry(at, e, o))
		}
	}
}

// maxCalls bounds the reads that one action is shown to be named by.
const maxCalls = 100

// actionNamed returns an action that an entry names, nil if no entry tells of it.
func (j *joining) actionNamed(row *shownEntry, id string) *action.Action {
	return j.book.Action(action.Name{Organization: row.organization, ID: id})
}

func (j *joining) add(at position, line journal.Line, ofTrace bool) {
	e, err := journal.ParseLine(line.Bytes)
	if err != nil || line.Torn {
		j.unreadable++
		return
	}
	j.addAction(at, e)
	j.addReceived(at, e)
	switch {
	case !ofTrace, e.Header.EventType == "": // of a newer version, and not interpreted
	case e.Kind == record.KindRead && !j.shown[at]:
		if o := observe(e); o.joins != nil {
			j.graph.AddRead(o.joins)
		}
	case e.Kind == record.KindLineage:
		var l struct {
			record.Lineage `json:",inline"`
			Spans          []record.Span `json:"spans"`
		}
		if err := json.Unmarshal(e.Body, &l); err != nil {
			j.unreadable++
			return
		}
		j.graph.AddSpans(placeOf(e, l.ObservedBy), l.Correlation.TraceID, j.ofInterest(l.Correlation.TraceID, l.Spans))
	}
}

// ofInterest returns the spans of a lineage record that belong to what is shown:
// of another trace those that link to it, whatever else came with them.
func (j *joining) ofInterest(traceID string, spans []record.Span) []record.Span {
	if j.traces[traceID] {
		return spans
	}
	return slices.DeleteFunc(spans, func(s record.Span) bool {
		return !slices.ContainsFunc(s.Links, func(l record.Link) bool { return j.traces[l.TraceID] })
	})
}
