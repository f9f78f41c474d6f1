// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import "slices"

// sets are disjoint sets of observations with what is known of each set.
type sets struct {
	parent []int
	calls  []ids
	rpcs   []ids
}

// ids are the ids that the observations of a set have, mostly one or none.
type ids []string

// contradict reports whether both have ids but none in common.
func (a ids) contradict(b ids) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(id string) bool { return slices.Contains(b, id) })
}

// maxIDs bounds the ids of a set; more are of no use.
const maxIDs = 16

func (a ids) with(b ids) ids {
	for _, id := range b {
		if len(a) < maxIDs && !slices.Contains(a, id) {
			a = append(a[:len(a):len(a)], id)
		}
	}
	return a
}

func newSets(observations []*Observation) *sets {
	s := &sets{parent: make([]int, len(observations)), calls: make([]ids, len(observations)), rpcs: make([]ids, len(observations))}
	for i, o := range observations {
		s.parent[i] = i
		if o.ToolCallID != "" {
			s.calls[i] = ids{o.ToolCallID}
		}
		if o.rpcID != "" {
			s.rpcs[i] = ids{o.rpcID}
		}
	}
	return s
}

// find returns the smallest index of the set of i.
func (s *sets) find(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

func (s *sets) union(a, b int) {
	a, b = s.find(a), s.find(b)
	if a == b {
		return
	}
	first, second := min(a, b), max(a, b)
	s.parent[second] = first
	s.calls[first] = s.calls[first].with(s.calls[second])
	s.rpcs[first] = s.rpcs[first].with(s.rpcs[second])
}

// contradict reports whether two sets are of different calls.
func (s *sets) contradict(a, b int) bool {
	a, b = s.find(a), s.find(b)
	return s.calls[a].contradict(s.calls[b]) || s.rpcs[a].contradict(s.rpcs[b])
}
