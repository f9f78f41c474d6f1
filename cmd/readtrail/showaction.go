// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/record"
)

// actionOf returns the action that a row is about, nil if it is about none.
func (j *joining) actionOf(row *shownEntry) *action.Action {
	if row.about == nil {
		return nil
	}
	return j.actionNamed(row, row.about.ActionID())
}

// nameActions says in a row that names actions what became of them: the outcome of
// a tool is not that of an action (requirement D1).
func (j *joining) nameActions(row *shownEntry) {
	if row.about != nil || row.event == record.EventAuditIncomplete || row.event == record.EventAuditPart {
		return // they say no more of the action than that they are about it
	}
	for _, id := range row.actionIDs {
		row.what += ", action " + id
		if a := j.actionNamed(row, id); a != nil {
			row.what += " " + a.Standing().Text()
		} else {
			row.what += " of which nothing is recorded here"
		}
	}
}

// actionRows are the entries of one action that are shown, the plan first, each
// attempt above what came of it, and the tools that name the action.
func actionRows(a *action.Action, shown []*shownEntry, joined *joining) []tableRow {
	var rows []tableRow
	for _, e := range a.InOrder() {
		i := slices.IndexFunc(shown, func(row *shownEntry) bool { return row.journalID == e.JournalID && row.sequence == e.Sequence })
		if i < 0 {
			continue
		}
		row := shown[i]
		if row.status == "" {
			row.status = standingOf(a, e)
		}
		indent := 0
		if len(rows) > 0 {
			indent = 2
			if t := a.AttemptOf(e); t != nil && len(t.Sent) > 0 && e.Action.State.IsOutcome() {
				indent = 4
			}
		}
		rows = append(rows, row.row(indent))
		if r := e.Action; r != nil && r.LinkedSpan != nil {
			linked := &observation{event: string(r.EdgeType), what: "for span " + r.LinkedSpan.SpanID + " in trace " + r.LinkedSpan.TraceID}
			rows = append(rows, linked.row(indent+2))
		}
	}
	if len(rows) == 0 {
		return nil // they stand above
	}
	for _, call := range joined.calls[action.Name{Organization: a.Organization, ID: a.ID}] {
		tool := *call.observation
		tool.event = "tool: " + tool.event
		if call.journalID != shown[0].journalID {
			tool.sequence = 0
			tool.what += " (entry " + strconv.FormatUint(call.sequence, 10) + " of " + call.journalID + ")"
		}
		rows = append(rows, tool.row(2))
	}
	return rows
}

// standingOf says how far something is known to have gone that an entry begins.
func standingOf(a *action.Action, e *action.Entry) string {
	if p := e.Approval; p != nil {
		i := slices.IndexFunc(a.Approvals, func(known *action.Approval) bool { return known.ID == p.ApprovalID })
		if p.Kind == record.ApprovalRequested && i >= 0 && len(a.Approvals[i].Decided) == 0 {
			return "not decided"
		}
		return ""
	}
	switch t := a.AttemptOf(e); {
	case e.Action.State == record.ActionPlanned:
		return a.Standing().Text()
	case t != nil && e.Action.State == record.ActionSent && t.Standing() == action.MayHaveGoneOut:
		return t.Standing().Text()
	}
	return ""
}
