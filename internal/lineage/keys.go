// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"cmp"
	"maps"

	"github.com/readtrail/readtrail/record"
)

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

func (o *Observation) readKey() joinKey { return joinKey{o.Organization, "read", "", o.ReadID} }

// joinByKeys joins by read id and by tool call id. Some models number their
// calls anew with each answer: where one observer gives an id to several tools,
// the id counts together with the tool only, and where it gives it to several
// calls of one tool, not at all. Nor does a read id that an application gives to
// several calls.
func (g *Graph) joinByKeys(s *sets) {
	keys := g.callKeys()
	calls := map[joinKey]string{}
	contradicting := map[joinKey]bool{}
	for i, o := range g.observations {
		key := o.readKey()
		keys[i] = append(keys[i], key)
		if known := calls[key]; known != "" && o.ToolCallID != "" && known != o.ToolCallID {
			contradicting[key] = true
		}
		calls[key] = cmp.Or(o.ToolCallID, calls[key])
	}
	ambiguous := g.ambiguous(keys)
	maps.Copy(ambiguous, contradicting)
	first := map[joinKey]int{}
	for i := range g.observations {
		for _, key := range keys[i] {
			if ambiguous[key] {
				continue
			}
			if other, found := first[key]; found {
				s.union(other, i)
			} else {
				first[key] = i
			}
		}
	}
}

// callKeys returns the keys of each observation that come from its tool call id.
func (g *Graph) callKeys() [][]joinKey {
	type use struct {
		key joinKey
		by  observer
	}
	tools, reused := map[use]string{}, map[joinKey]bool{}
	all := make([][]joinKey, len(g.observations))
	for i, o := range g.observations {
		all[i] = o.callKeys()
		for _, key := range all[i] {
			u := use{key, g.observer(o)}
			if tool, found := tools[u]; found && tool != o.tool {
				reused[key] = true
			}
			tools[u] = o.tool
		}
	}
	for i, keys := range all {
		for j, key := range keys {
			if reused[key] {
				keys[j].kind += " " + g.observations[i].tool
			}
		}
	}
	return all
}

// maxNesting bounds how many reads around a span are looked at.
const maxNesting = 16

// ambiguous returns the keys that one observer gave to several spans of a trace
// of which none is around the others, or in several log records of a trace: to
// several calls, or to several tries.
func (g *Graph) ambiguous(keys [][]joinKey) map[joinKey]bool {
	type use struct {
		key joinKey
		by  observer
		at  spanKey
	}
	uses := map[use]bool{}
	each := func(do func(o *Observation, u use)) {
		for i, o := range g.observations {
			at, ok := g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID)
			if !ok || o.Signal != record.SignalSpan {
				continue
			}
			for _, key := range keys[i] {
				do(o, use{key, g.observer(o), at})
			}
		}
	}
	each(func(_ *Observation, u use) { uses[u] = true })
	outermost, ambiguous := map[use]spanKey{}, map[joinKey]bool{}
	each(func(o *Observation, u use) {
		for range maxNesting {
			around, found := g.readAround(o)
			if !found {
				break
			}
			if uses[use{u.key, u.by, around}] {
				return
			}
			o = g.observations[g.anchors[around][0]]
		}
		inTrace := use{u.key, u.by, spanKey{trace: u.at.trace}}
		if other, found := outermost[inTrace]; found && other != u.at {
			ambiguous[u.key] = true
		}
		outermost[inTrace] = u.at
	})
	type told struct {
		key   joinKey
		by    observer
		trace string
	}
	logged := map[told]string{}
	for i, o := range g.observations {
		if o.Signal != record.SignalLog {
			continue
		}
		for _, key := range keys[i] {
			t := told{key, g.observer(o), o.Correlation.TraceID}
			if other, found := logged[t]; found && other != o.ReadID {
				ambiguous[key] = true
			}
			logged[t] = o.ReadID
		}
	}
	return ambiguous
}
