// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import "slices"

// sets are disjoint sets of observations with what is known of each set.
type sets struct {
	parent    []int
	calls     []few[string]
	rpcs      []few[string]
	observers []few[observer]
}

// few are what the observations of a set have, mostly one or none.
type few[T comparable] []T

// most bounds few; more are of no use.
const most = 16

func (a few[T]) has(one T) bool { return slices.Contains(a, one) }

// contradict reports whether both have some but none in common.
func (a few[T]) contradict(b few[T]) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, b.has)
}

func (a few[T]) with(b few[T]) few[T] {
	for _, one := range b {
		if len(a) < most && !a.has(one) {
			a = append(a[:len(a):len(a)], one)
		}
	}
	return a
}

func newSets(observations []*Observation, by func(*Observation) observer) *sets {
	n := len(observations)
	s := &sets{parent: make([]int, n), calls: make([]few[string], n), rpcs: make([]few[string], n), observers: make([]few[observer], n)}
	for i, o := range observations {
		s.parent[i] = i
		s.observers[i] = few[observer]{by(o)}
		if o.ToolCallID != "" {
			s.calls[i] = few[string]{o.ToolCallID}
		}
		if o.rpcID != "" {
			s.rpcs[i] = few[string]{o.rpcID}
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
	s.observers[first] = s.observers[first].with(s.observers[second])
}

// areOne reports whether some observations are all of one set.
func (s *sets) areOne(observations []int) bool {
	return len(observations) > 0 && !slices.ContainsFunc(observations, func(i int) bool { return s.find(i) != s.find(observations[0]) })
}

// contradict reports whether two sets are of different calls.
func (s *sets) contradict(a, b int) bool {
	a, b = s.find(a), s.find(b)
	return s.calls[a].contradict(s.calls[b]) || s.rpcs[a].contradict(s.rpcs[b])
}
