// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/record"
)

// maxEffects bounds the rows of what one read touched; a tool may ask a
// database a million times.
const maxEffects = 100

// effectRows are what a read touched, as rows beneath the one that leads it.
func effectRows(r *lineage.Read, head *shownEntry) []tableRow {
	var rows []tableRow
	for _, e := range r.Effects[:min(len(r.Effects), maxEffects)] {
		indent := 2
		for job := e.Job; job != nil && indent < 6; job = job.Job {
			indent += 2
		}
		rows = append(rows, observeEffect(e, head).row(indent))
	}
	if more := len(r.Effects) - maxEffects; more > 0 {
		rest := &observation{event: "...", what: count(more, "more effect") + ": --joined --json has all"}
		rows = append(rows, rest.row(2))
	}
	return rows
}

// observeEffect says what the table shows of an effect. Its sequence is that of
// the lineage record that tells of it, if it stands in the same journal.
func observeEffect(e *lineage.Effect, head *shownEntry) *observation {
	touched := e.Span.Effect
	if touched == nil {
		touched = &record.Effect{}
	}
	o := &observation{
		occurredAt: milliseconds(e.Span.StartedAt),
		event:      string(e.Span.EdgeType),
		what:       whatWasTouched(touched),
		status:     strings.TrimSpace(string(e.Span.Status) + " " + touched.Status),
		system:     strings.TrimSpace(touched.System + " " + touched.Target),
		request:    shortDigest(touched.QueryDigest),
		capture:    string(touched.QueryCapture),
		seenBy:     string(record.SignalSpan) + " " + e.Span.Class,
	}
	if e.JournalID == head.journalID {
		o.sequence = e.Sequence
	}
	if o.event == "" {
		o.event = "effect" // how it was handed over is not recorded
	}
	if o.what == "" {
		o.what = e.Span.Name
	}
	if id := e.Span.ActionID; id != "" {
		o.what = strings.TrimPrefix(o.what+", action "+id, ", ")
	}
	if e.Linked {
		o.what = strings.TrimPrefix(o.what+", linked", ", ")
	}
	if e.Upstream != head.joins.Upstream {
		o.what = toldBy(o.what, e.Upstream)
	}
	if o.capture == "" && o.request != "" {
		o.capture = string(record.CapturedContent)
	}
	return o
}

// toldBy says who told of something, if it is not who told of the read.
func toldBy(what, upstream string) string {
	return strings.TrimPrefix(what+", told by "+upstream, ", ")
}

// whatWasTouched names what was done, to what, and how much came of it.
func whatWasTouched(e *record.Effect) string {
	object := e.Collection
	if e.Namespace != "" {
		object = strings.TrimSuffix(e.Namespace+"."+e.Collection, ".")
	}
	what := strings.Join(strings.Fields(e.Operation+" "+object+" "+e.PathTemplate), " ")
	if e.Rows != nil {
		what = strings.TrimPrefix(what+", "+count(int(*e.Rows), "row"), ", ")
	}
	return what
}
