// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// joinBesides joins a log record with the span beside it: a library that logs a
// call when it is done often does so in the span around that of the tool. They
// are of one call if the library tells there of one call of the tool only.
func (g *Graph) joinBesides(s *sets) {
	type place struct {
		around  spanKey
		library [2]string
		subject string
	}
	type told struct{ logs, spans []int }
	places := map[place]*told{}
	var order []place
	for i, o := range g.observations {
		around, ok := g.around(o)
		if !ok || o.subject == "" || g.anchors[around] != nil {
			continue
		}
		p := place{around, o.library, o.subject}
		if places[p] == nil {
			places[p] = &told{}
			order = append(order, p)
		}
		switch o.Signal {
		case record.SignalLog:
			places[p].logs = append(places[p].logs, i)
		case record.SignalSpan:
			places[p].spans = append(places[p].spans, i)
		}
	}
	for _, p := range order {
		if here := places[p]; s.areOne(here.logs) && s.areOne(here.spans) && !s.contradict(here.logs[0], here.spans[0]) {
			s.union(here.logs[0], here.spans[0])
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

// joinLevel joins the observations of one depth. Those within one read are
// judged together, and all are before any is joined.
func (g *Graph) joinLevel(s *sets, level []int) {
	within := map[int][]int{}
	var order []int
	oneRead := g.readsAt(s)
	for _, i := range level {
		anchor, ok := g.anchorOf(s, i, oneRead)
		if !ok {
			continue
		}
		outer := s.find(anchor)
		if within[outer] == nil {
			order = append(order, outer)
		}
		within[outer] = append(within[outer], i)
	}
	for outer, candidates := range within {
		candidates = g.onePerObserver(s, candidates)
		candidates = agreeing(s, candidates, s.calls)
		within[outer] = agreeing(s, candidates, s.rpcs)
	}
	for _, outer := range order {
		for _, i := range within[outer] {
			s.union(outer, i)
		}
	}
}

// maxAccounts bounds the accounts of one span that are compared.
const maxAccounts = 16

// anchorOf returns an observation around another one that is of the same call.
func (g *Graph) anchorOf(s *sets, i int, oneRead func(spanKey) bool) (int, bool) {
	o := g.observations[i]
	around, ok := g.around(o)
	if !ok {
		return 0, false
	}
	a := g.ancestors(around)
	if !a.found || a.apart || !oneRead(a.read) {
		return 0, false
	}
	anchors := g.anchors[a.read]
	outer := anchors[0]
	if s.find(i) == s.find(outer) || s.contradict(i, outer) || g.sawItAlready(s, i, outer, a) {
		return 0, false
	}
	return outer, slices.ContainsFunc(anchors[:min(len(anchors), maxAccounts)], func(outer int) bool {
		return g.sameCall(o, g.observations[outer])
	})
}

// sawItAlready reports whether the observer of i observed the call around it. It
// sees a call once: this is another one within it. A library that sets no kinds
// may be at both ends of a request, if a span of MCP stands between or if the
// request's id says so.
func (g *Graph) sawItAlready(s *sets, i, outer int, between ancestry) bool {
	o := g.observations[i]
	by := g.observer(o)
	if !s.observers[s.find(outer)].has(by) {
		return false
	}
	bothEnds := between.request || o.rpcID != "" && s.rpcs[s.find(outer)].has(o.rpcID)
	return by.client || by.server || !bothEnds
}

// sameCall reports whether two observations, one around the other, can be of one
// call.
func (g *Graph) sameCall(inner, outer *Observation) bool {
	if inner.subject != "" && inner.subject == outer.subject || namesMCP(inner.tool, outer.tool) || namesMCP(outer.tool, inner.tool) {
		return true
	}
	a, b := g.own(inner), g.own(outer)
	return inner.requestID != "" && inner.requestID == outer.requestID && (a.client && b.server || a.server && b.client)
}

// namesMCP reports whether a name is the one by which agents call a tool of an
// MCP server: mcp, the server and the tool, with two underscores between, or
// with one, of which nobody knows where the tool begins.
func namesMCP(name, tool string) bool {
	separator := "_"
	if strings.HasPrefix(name, "mcp__") {
		separator = "__"
	}
	return tool != "" && strings.HasPrefix(name, "mcp_") && strings.HasSuffix(name, separator+tool)
}

// onePerObserver leaves out what one observer saw several times within one
// read: these are several calls, and nobody knows which is that of the read.
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
func agreeing(s *sets, candidates []int, of []few[string]) []int {
	var common few[string]
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
