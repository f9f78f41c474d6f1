// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"cmp"
	"slices"
	"strings"

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
	s := newSets(g.observations)
	g.joinByKeys(s)
	g.joinByRequest(s)
	g.joinByParentage(s)
	return s
}

// joinKey is what observations of one read share: the read id, or the model's
// tool call id within a trace or an execution.
type joinKey struct{ organization, kind, within, id string }

func (o *Observation) callKeys() []joinKey {
	var keys []joinKey
	if o.ToolCallID == "" {
		return nil
	}
	if id := o.Correlation.TraceID; id != "" {
		keys = append(keys, joinKey{o.Organization, "trace", id, o.ToolCallID})
	}
	if id := o.Correlation.ExecutionID; id != "" {
		keys = append(keys, joinKey{o.Organization, "execution", id, o.ToolCallID})
	}
	return keys
}

// joinByKeys joins by read id and by tool call id. Some models number their
// calls anew with each answer: where one observer gives an id to several tools,
// the id counts together with the tool only.
func (g *Graph) joinByKeys(s *sets) {
	type use struct {
		key joinKey
		by  observer
	}
	tools, reused := map[use]string{}, map[joinKey]bool{}
	for _, o := range g.observations {
		for _, key := range o.callKeys() {
			u := use{key, g.observer(o)}
			if tool, found := tools[u]; found && tool != o.tool {
				reused[key] = true
			}
			tools[u] = o.tool
		}
	}
	first := map[joinKey]int{}
	for i, o := range g.observations {
		keys := []joinKey{{o.Organization, "read", "", o.ReadID}}
		for _, key := range o.callKeys() {
			if reused[key] {
				key.kind += " " + o.tool
			}
			keys = append(keys, key)
		}
		for _, key := range keys {
			if other, found := first[key]; found {
				s.union(other, i)
			} else {
				first[key] = i
			}
		}
	}
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
		if own := g.own(o); !ok || o.rpcID == "" || o.Signal != record.SignalSpan || own.client == own.server {
			continue
		}
		r := request{g.ancestors(around).base, o.rpcID, o.subject}
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

// joinByParentage joins observations with the nearest observation around them,
// if both are of the same tool and nothing but transport stands between. It
// goes from the outside in, so that what contradicts is known of the whole set
// and the order of entries makes no difference.
func (g *Graph) joinByParentage(s *sets) {
	depths := g.depths()
	inward := make([]int, len(depths))
	for i := range inward {
		inward[i] = i
	}
	slices.SortStableFunc(inward, func(a, b int) int { return cmp.Compare(depths[a], depths[b]) })
	for len(inward) > 0 {
		end := 1
		for end < len(inward) && depths[inward[end]] == depths[inward[0]] {
			end++
		}
		g.joinLevel(s, inward[:end])
		inward = inward[end:]
	}
}

// joinLevel joins the observations of one depth. Those within one span are
// judged together.
func (g *Graph) joinLevel(s *sets, level []int) {
	within := map[spanKey][]int{}
	var order []spanKey
	for _, i := range level {
		anchor, ok := g.anchorOf(s, i)
		if !ok {
			continue
		}
		if within[anchor] == nil {
			order = append(order, anchor)
		}
		within[anchor] = append(within[anchor], i)
	}
	for _, anchor := range order {
		candidates := g.onePerObserver(s, within[anchor])
		candidates = agreeing(s, candidates, s.calls)
		for _, i := range agreeing(s, candidates, s.rpcs) {
			s.union(g.anchors[anchor][0], i)
		}
	}
}

// anchorOf returns the span around an observation that observed the same call.
func (g *Graph) anchorOf(s *sets, i int) (spanKey, bool) {
	o := g.observations[i]
	around, ok := g.around(o)
	if !ok {
		return spanKey{}, false
	}
	a := g.ancestors(around)
	if !a.found || a.apart {
		return spanKey{}, false
	}
	anchors := g.anchors[a.read]
	some := func(such func(outer *Observation) bool) bool {
		return slices.ContainsFunc(anchors, func(i int) bool { return such(g.observations[i]) })
	}
	switch {
	case !g.oneRead(s, a.read), s.find(i) == s.find(anchors[0]), s.contradict(i, anchors[0]):
		return spanKey{}, false
	case !some(func(outer *Observation) bool { return g.sameCall(o, outer) }):
		return spanKey{}, false
	case a.between > 0 && some(func(outer *Observation) bool { return g.observer(o) == g.observer(outer) }):
		return spanKey{}, false // it sees a call once: this is one within the other
	}
	return a.read, true
}

// sameCall reports whether two observations, one around the other, can be of one
// call.
func (g *Graph) sameCall(inner, outer *Observation) bool {
	if inner.subject != "" && inner.subject == outer.subject || namesMCP(inner.tool, outer.tool) || namesMCP(outer.tool, inner.tool) {
		return true
	}
	a, b := g.own(inner), g.own(outer)
	return inner.rpcID != "" && inner.rpcID == outer.rpcID && (a.client && b.server || a.server && b.client)
}

// namesMCP reports whether a name is the one by which agents call a tool of an
// MCP server: mcp, the server and the tool with underscores between.
func namesMCP(name, tool string) bool {
	return tool != "" && strings.HasPrefix(name, "mcp_") && strings.HasSuffix(name, "_"+tool)
}

// onePerObserver leaves out what one observer saw several times within one
// span: these are several calls, and nobody knows which is that of the span.
func (g *Graph) onePerObserver(s *sets, candidates []int) []int {
	seen := map[observer]int{}
	repeated := map[observer]bool{}
	for _, i := range candidates {
		by := g.observer(g.observations[i])
		if other, found := seen[by]; found && s.find(other) != s.find(i) {
			repeated[by] = true
		}
		seen[by] = i
	}
	return slices.DeleteFunc(candidates, func(i int) bool { return repeated[g.observer(g.observations[i])] })
}

// agreeing leaves out those with ids if these are not the same for all.
func agreeing(s *sets, candidates []int, of []ids) []int {
	var common ids
	for _, i := range candidates {
		have := of[s.find(i)]
		if common.contradict(have) {
			return slices.DeleteFunc(candidates, func(i int) bool { return len(of[s.find(i)]) > 0 })
		}
		if len(common) == 0 {
			common = have
		}
	}
	return candidates
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
	g.hang(func(key spanKey) *Read {
		if !g.oneRead(s, key) {
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

// oneRead reports whether all that was observed at a span is of one read.
func (g *Graph) oneRead(s *sets, key spanKey) bool {
	anchors := g.anchors[key]
	return !slices.ContainsFunc(anchors, func(i int) bool { return s.find(i) != s.find(anchors[0]) })
}
