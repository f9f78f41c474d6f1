// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// Effect is a span that touched another system, or began a job elsewhere.
type Effect struct {
	Place
	TraceID string
	Span    record.Span
	// Job is the delegated job that the effect happened in, nil if it happened in
	// the request itself. A job is never part of the request that asked for it.
	Job *Effect
	// Linked says that the job is known to be the read's by a link to its producer,
	// not by parentage.
	Linked bool

	key spanKey
}

// maxReads bounds the reads that one job is shown under: a job may process many
// messages at once.
const maxReads = 32

// hanging hangs effects under reads.
type hanging struct {
	*Graph
	readAt func(spanKey) *Read
	jobs   map[spanKey]*Effect
	// of holds the reads of each job, and askedBy the jobs that each job asked for.
	of      map[*Effect][]*Read
	askedBy map[*Effect][]*Effect
}

// hang hangs each effect under the read whose span is the nearest ancestor.
func (g *Graph) hang(readAt func(spanKey) *Read) {
	g.effects = slices.DeleteFunc(distinct(g.effects), func(e *Effect) bool {
		return e.Span.Effect == nil && g.anchors[e.key] != nil // the job is a read itself
	})
	h := &hanging{Graph: g, readAt: readAt, jobs: map[spanKey]*Effect{}, of: map[*Effect][]*Read{}, askedBy: map[*Effect][]*Effect{}}
	h.findJobs()
	g.loose = 0
	for _, e := range g.effects {
		reads := h.of[e]
		if h.jobs[e.key] == nil {
			var r *Read
			if r, e.Job = h.above(g.ancestors(e.key)); r != nil {
				reads = []*Read{r}
			} else if e.Job != nil {
				reads = h.of[e.Job]
			}
		}
		if len(reads) == 0 {
			g.loose++
		}
		for _, r := range reads {
			r.Effects = append(r.Effects, e)
		}
	}
}

// above returns the read and the job that something lies in.
func (h *hanging) above(a ancestry) (*Read, *Effect) {
	var r *Read
	if a.found {
		r = h.readAt(a.read)
	}
	if !a.inJob {
		return r, nil
	}
	return r, h.jobs[a.job]
}

// findJobs finds the reads that each job was done for: those that it hangs
// under, those that it is linked to, and those of jobs that asked for it.
func (h *hanging) findJobs() {
	var all []*Effect
	for _, e := range h.effects {
		if e.Span.EdgeType == record.EdgeDelegatedJob && h.anchors[e.key] == nil {
			h.jobs[e.key] = e
			all = append(all, e)
		}
	}
	for _, e := range all {
		around := ancestry{}
		if own := h.spans[e.key]; own.parent != 0 && !own.contradictory {
			around = h.ancestors(spanKey{e.key.trace, own.parent})
		}
		r, job := h.above(around)
		e.Job = job
		h.askFor(e, r, job)
		hangs := r != nil || job != nil
		for _, link := range e.Span.Links {
			if key, ok := h.key(e.Organization, link.TraceID, link.SpanID); ok {
				r, job := h.above(h.ancestors(key))
				h.askFor(e, r, job)
				e.Linked = e.Linked || !hangs && (r != nil || job != nil)
			}
		}
	}
	for len(all) > 0 {
		e := all[len(all)-1]
		all = all[:len(all)-1]
		for _, further := range h.askedBy[e] {
			if known := len(h.of[further]); h.add(further, h.of[e]) > known {
				all = append(all, further)
			}
		}
	}
}

// askFor notes that a job was asked for in a read, or else in another job.
func (h *hanging) askFor(e *Effect, r *Read, job *Effect) {
	switch {
	case r != nil:
		h.add(e, []*Read{r})
	case job != nil:
		h.askedBy[job] = append(h.askedBy[job], e)
	}
}

// add adds reads to those of a job and returns how many it has.
func (h *hanging) add(e *Effect, reads []*Read) int {
	for _, r := range reads {
		if len(h.of[e]) < maxReads && !slices.Contains(h.of[e], r) {
			h.of[e] = append(h.of[e], r)
		}
	}
	return len(h.of[e])
}

// distinct leaves out what another journal tells in the same words. Accounts of
// one span that differ stay.
func distinct(effects []*Effect) []*Effect {
	known := map[spanKey][]*Effect{}
	return slices.DeleteFunc(effects, func(e *Effect) bool {
		const most = 8 // accounts of one span that are compared
		same := func(other *Effect) bool { return reflect.DeepEqual(other.Span, e.Span) }
		if accounts := known[e.key]; slices.ContainsFunc(accounts[:min(len(accounts), most)], same) {
			return true
		}
		known[e.key] = append(known[e.key], e)
		return false
	})
}

// inOrder sorts effects by the time at which they began, and puts what was done
// in a job behind the job.
func inOrder(effects []*Effect) []*Effect {
	slices.SortStableFunc(effects, func(a, b *Effect) int {
		return cmp.Or(a.Span.StartedAt.Std().Compare(b.Span.StartedAt.Std()), cmp.Compare(a.TraceID, b.TraceID), cmp.Compare(a.Span.SpanID, b.Span.SpanID))
	})
	here := map[*Effect]bool{}
	for _, e := range effects {
		here[e] = true
	}
	within := map[*Effect][]*Effect{}
	var waiting []*Effect
	for _, e := range slices.Backward(effects) {
		if e.Job != nil && here[e.Job] {
			within[e.Job] = append(within[e.Job], e)
		} else {
			waiting = append(waiting, e)
		}
	}
	out := make([]*Effect, 0, len(effects))
	for len(waiting) > 0 {
		e := waiting[len(waiting)-1]
		waiting = append(waiting[:len(waiting)-1], within[e]...)
		delete(here, e)
		out = append(out, e)
	}
	for _, e := range effects { // jobs that lie in each other
		if here[e] {
			out = append(out, e)
		}
	}
	return out
}
