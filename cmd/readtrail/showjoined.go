// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// joinedLines prints one object a read or action.
type joinedLines struct {
	gathered
	lines *entryLines
}

func newJoinedLines(con *console) *joinedLines {
	return &joinedLines{gathered: gathered{con: con, bodies: true}, lines: newEntryLines(con)}
}

// joinedRead is a read as show --joined prints it.
type joinedRead struct {
	// Read is the body, as stored, of the outermost observation that was selected.
	Read         jsontext.Value      `json:"read"`
	Uncheckable  bool                `json:"uncheckable"`
	Observations []joinedObservation `json:"observations"`
	Effects      []joinedEffect      `json:"effects"`
}

type joinedObservation struct {
	JournalID string          `json:"journal_id"`
	Sequence  uint64          `json:"sequence"`
	Upstream  string          `json:"upstream_context_source"`
	ReadID    string          `json:"read_id"`
	Signal    record.Signal   `json:"signal"`
	EdgeType  record.EdgeType `json:"edge_type,omitzero"`
}

type joinedEffect struct {
	JournalID string `json:"journal_id"`
	Sequence  uint64 `json:"sequence"`
	Upstream  string `json:"upstream_context_source"`
	TraceID   string `json:"trace_id"`
	// Job is the span of the delegated job that it happened in.
	Job    *record.Link `json:"job,omitzero"`
	Linked bool         `json:"linked,omitzero"`
	Span   record.Span  `json:"span"`
}

func (p *joinedLines) end(sources []*journal.Source) (int, error) {
	joined, err := join(p.con, sources, p.rows)
	if err != nil {
		return 0, err
	}
	bodies := map[*lineage.Observation]jsontext.Value{}
	for _, row := range p.rows {
		if row.joins != nil {
			bodies[row.joins] = row.body
		}
	}
	printed, done := map[*lineage.Read]bool{}, map[*action.Action]bool{}
	for _, row := range p.rows {
		if a := joined.actionOf(row); a != nil && !done[a] {
			done[a] = true
			if err := p.print(describeAction(a, joined.calls[action.Name{Organization: a.Organization, ID: a.ID}])); err != nil {
				return 0, err
			}
		}
		r := joined.of[row.joins]
		switch {
		case row.joins == nil || printed[r]:
			continue
		case r == nil: // there was no room to join it
			r = &lineage.Read{Observations: []*lineage.Observation{row.joins}}
		}
		printed[r] = true
		if err := p.print(describe(r, bodies)); err != nil {
			return 0, err
		}
	}
	return joined.unreadable, nil
}

// print prints one object.
func (p *joinedLines) print(object any) error {
	line, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return err
	}
	return p.lines.write(line)
}

func describe(r *lineage.Read, bodies map[*lineage.Observation]jsontext.Value) joinedRead {
	out := joinedRead{Uncheckable: r.Uncheckable(), Observations: []joinedObservation{}, Effects: []joinedEffect{}}
	for _, o := range r.Observations {
		if out.Read == nil {
			out.Read = bodies[o]
		}
		out.Observations = append(out.Observations, joinedObservation{o.JournalID, o.Sequence, o.Upstream, o.ReadID, o.Signal, o.EdgeType})
	}
	for _, e := range r.Effects {
		effect := joinedEffect{JournalID: e.JournalID, Sequence: e.Sequence, Upstream: e.Upstream, TraceID: e.TraceID, Linked: e.Linked, Span: e.Span}
		if e.Job != nil {
			effect.Job = &record.Link{TraceID: e.Job.TraceID, SpanID: e.Job.Span.SpanID}
		}
		out.Effects = append(out.Effects, effect)
	}
	return out
}
