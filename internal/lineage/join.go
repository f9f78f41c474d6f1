// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"slices"

	"github.com/readtrail/readtrail/record"
)

// Read is one read as one or several observers saw it.
type Read struct {
	// Observations has the outermost span first, then the others as they were
	// added.
	Observations []*Observation
	// Effects are what was touched beneath, by the time at which they began; what
	// was done in a delegated job stands behind the job.
	Effects []*Effect
}

// Uncheckable reports whether no observation of the read can be checked later.
func (r *Read) Uncheckable() bool {
	return !slices.ContainsFunc(r.Observations, func(o *Observation) bool { return !o.Uncheckable })
}

// observer is whoever observed a read. One observer sees a call once.
type observer struct {
	signal         record.Signal
	library        [2]string
	client, server bool
}

func (g *Graph) observer(o *Observation) observer {
	s := g.own(o)
	return observer{o.Signal, o.library, s.client, s.server}
}

// join puts the observations of one read into one set.
func (g *Graph) join() *sets {
	s := newSets(g.observations, g.observer)
	g.joinByKeys(s)
	g.joinByRequest(s)
	g.joinBesides(s)
	g.joinByParentage(s)
	return s
}

// joinByRequest joins the client's and the server's span of one JSON-RPC
// request that ran side by side in one span, as they do if a library does not
// hand the client's span on. A request id is only good for one connection: if
// there are two clients or two servers, nobody knows which belong together.
func (g *Graph) joinByRequest(s *sets) {
	type request struct {
		base        spanKey
		id, subject string
	}
	type sides struct{ clients, servers []int }
	requests := map[request]*sides{}
	var order []request
	for i, o := range g.observations {
		around, ok := g.around(o)
		if own := g.own(o); !ok || o.requestID == "" || o.Signal != record.SignalSpan || own.client == own.server {
			continue
		}
		r := request{g.ancestors(around).base, o.requestID, o.subject}
		if requests[r] == nil {
			requests[r] = &sides{}
			order = append(order, r)
		}
		if g.own(o).client {
			requests[r].clients = append(requests[r].clients, i)
		} else {
			requests[r].servers = append(requests[r].servers, i)
		}
	}
	for _, r := range order {
		if both := requests[r]; len(both.clients) == 1 && len(both.servers) == 1 && !s.contradict(both.clients[0], both.servers[0]) {
			s.union(both.clients[0], both.servers[0])
		}
	}
}

// Reads joins everything that was added. The order is that of the first
// observation of each read.
func (g *Graph) Reads() []*Read {
	g.observe()
	s := g.join()
	depths := g.depths()
	reads := map[int]*Read{}
	outermost := map[int]int{}
	var out []*Read
	for i, o := range g.observations {
		root := s.find(i)
		r := reads[root]
		if r == nil {
			r = &Read{}
			reads[root] = r
			outermost[root] = i
			out = append(out, r)
		}
		r.Observations = append(r.Observations, o)
		if o.Signal == record.SignalSpan {
			o.EdgeType = g.own(o).edge
		}
		if g.leads(depths, i, outermost[root]) {
			outermost[root] = i
		}
	}
	for root, r := range reads {
		head := g.observations[outermost[root]]
		at := slices.Index(r.Observations, head)
		copy(r.Observations[1:at+1], r.Observations[:at])
		r.Observations[0] = head
	}
	oneRead := g.readsAt(s)
	g.hang(func(key spanKey) *Read {
		if !oneRead(key) {
			return nil
		}
		return reads[s.find(g.anchors[key][0])]
	})
	for _, r := range out {
		r.Effects = inOrder(r.Effects)
	}
	return out
}

// leads reports whether an observation is further out than another: that of a
// span before that of a log record, and a client's before a server's.
func (g *Graph) leads(depths []int, i, than int) bool {
	rank := func(i int) [3]int {
		rank := [3]int{0, depths[i], 0}
		if g.observations[i].Signal != record.SignalSpan {
			rank[0] = 1
		} else if g.own(g.observations[i]).server {
			rank[2] = 1
		}
		return rank
	}
	a, b := rank(i), rank(than)
	return slices.Compare(a[:], b[:]) < 0
}

// readsAt returns a function that reports whether all that was observed at a
// span is of one read, as long as no sets are joined.
func (g *Graph) readsAt(s *sets) func(spanKey) bool {
	known := map[spanKey]bool{}
	return func(key spanKey) bool {
		one, found := known[key]
		if !found {
			one = s.areOne(g.anchors[key])
			known[key] = one
		}
		return one
	}
}
