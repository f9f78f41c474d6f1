// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/readtrail/readtrail/record"

// joined is one read as one or several observers saw it, or any other entry.
type joined struct {
	// head is the outermost observation, else the first.
	head   *observation
	others []*observation
}

// join puts the observations of one read together (contract 3): those that
// share the model's tool call id within a trace or an execution, those with one
// read_id (conflicting accounts of one telemetry item), and an observation
// without a call id with the span it ran in, if that span observed the same
// tool. Neither count nor time ever joins. The order is that of the journal.
func join(all []*observation) []*joined {
	sets := newSets(len(all))
	byKey := map[[3]string]int{}
	spans := map[[2]string][]int{}
	for i, o := range all {
		for _, key := range o.keys() {
			if first, found := byKey[key]; found {
				sets.union(first, i)
			} else {
				byKey[key] = i
			}
		}
		if o.readID != "" && o.signal == record.SignalSpan && o.correlation.SpanID != "" {
			id := [2]string{o.correlation.TraceID, o.correlation.SpanID}
			spans[id] = append(spans[id], i)
		}
	}
	for i, o := range all {
		if around := spans[o.around()]; o.toolCall == "" && o.toolID != "" && len(around) == 1 && all[around[0]].toolID == o.toolID {
			sets.union(around[0], i)
		}
	}
	return collect(all, sets)
}

// keys are what an observation shares with others of the same read.
func (o *observation) keys() [][3]string {
	if o.readID == "" {
		return nil
	}
	keys := [][3]string{{"read", o.readID}}
	if o.toolCall == "" {
		return keys
	}
	if id := o.correlation.TraceID; id != "" {
		keys = append(keys, [3]string{"trace", id, o.toolCall})
	}
	if id := o.correlation.ExecutionID; id != "" {
		keys = append(keys, [3]string{"execution", id, o.toolCall})
	}
	return keys
}

// around is the span in which the observation was made: the parent of a span,
// the span that carries an event or a log record.
func (o *observation) around() [2]string {
	if o.readID == "" || o.correlation.TraceID == "" {
		return [2]string{}
	}
	if o.signal == record.SignalSpan {
		return [2]string{o.correlation.TraceID, o.correlation.ParentSpanID}
	}
	return [2]string{o.correlation.TraceID, o.correlation.SpanID}
}

func collect(all []*observation, sets sets) []*joined {
	var out []*joined
	at := map[int]int{}
	for i, o := range all {
		root := sets.find(i)
		if n, found := at[root]; found {
			out[n].others = append(out[n].others, o)
			continue
		}
		at[root] = len(out)
		out = append(out, &joined{head: o})
	}
	for _, j := range out {
		j.putOutermostFirst()
	}
	return out
}

// putOutermostFirst makes the first span that ran in none of the others the head.
func (j *joined) putOutermostFirst() {
	members := append([]*observation{j.head}, j.others...)
	own := map[[2]string]bool{}
	for _, o := range members {
		if o.signal == record.SignalSpan && o.correlation.SpanID != "" {
			own[[2]string{o.correlation.TraceID, o.correlation.SpanID}] = true
		}
	}
	for i, o := range members {
		if o.signal == record.SignalSpan && !own[o.around()] {
			j.head = o
			j.others = append(members[:i:i], members[i+1:]...)
			return
		}
	}
}

// sets are disjoint sets of indices.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// find returns the smallest index of the set of i.
func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) union(a, b int) {
	a, b = s.find(a), s.find(b)
	s[max(a, b)] = min(a, b)
}
