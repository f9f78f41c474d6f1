// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import "github.com/readtrail/readtrail/record"

// ancestry is what stands at or above a span.
type ancestry struct {
	// read is the nearest span that a read was observed at, if found.
	read  spanKey
	found bool
	// apart says that a span stands between that is more than transport.
	apart bool
	// request says that a request of MCP stands between.
	request bool
	// job is the nearest span that a job was delegated to, if inJob.
	job   spanKey
	inJob bool
	// base is the nearest span that does more than carry requests.
	base spanKey
	// lost says that the way up leads to contradicting parents.
	lost bool
}

// observe notes at which spans reads were observed.
func (g *Graph) observe() {
	g.anchors = map[spanKey][]int{}
	g.above = map[spanKey]ancestry{}
	for i, o := range g.observations {
		if key, ok := g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID); ok && o.Signal == record.SignalSpan {
			g.anchors[key] = append(g.anchors[key], i)
		}
	}
}

// ancestors returns what stands at or above a span. Each span is looked at
// once, and a circle of parents has no ancestors.
func (g *Graph) ancestors(key spanKey) ancestry {
	var way []spanKey
	on := map[spanKey]bool{}
	var a ancestry
	for {
		if known, done := g.above[key]; done {
			a = known
			break
		}
		if g.anchors[key] != nil {
			a = ancestry{read: key, found: true, base: key}
			g.above[key] = a
			break
		}
		s, recorded := g.spans[key]
		if !recorded || on[key] {
			a.base = key
			break
		}
		way = append(way, key)
		on[key] = true
		if s.contradictory {
			a = ancestry{lost: true}
			break
		}
		if s.parent == 0 {
			break
		}
		key.id = s.parent
	}
	for i := len(way) - 1; i >= 0; i-- {
		s := g.spans[way[i]]
		a.request = a.request || s.request
		a.apart = a.apart || !s.transport || s.isJob()
		if !s.carries {
			a.base = way[i]
		}
		if s.isJob() {
			a.job, a.inJob = way[i], true
		}
		g.above[way[i]] = a
	}
	return a
}

// around returns the span in which an observation was made: the parent of a
// span, the span that carries an event or a log record.
func (g *Graph) around(o *Observation) (spanKey, bool) {
	if o.Signal != record.SignalSpan {
		return g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID)
	}
	if own, ok := g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID); ok && (g.spans[own].contradictory || g.spans[own].isJob()) {
		return spanKey{}, false
	}
	return g.key(o.Organization, o.Correlation.TraceID, o.Correlation.ParentSpanID)
}

// readAround returns the nearest span around an observation that a read was
// observed at.
func (g *Graph) readAround(o *Observation) (spanKey, bool) {
	around, ok := g.around(o)
	if !ok {
		return spanKey{}, false
	}
	a := g.ancestors(around)
	return a.read, a.found
}

// own returns what is known of the span of an observation.
func (g *Graph) own(o *Observation) span {
	key, _ := g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID)
	return g.spans[key]
}

// depths returns in how many reads observation was made, one in the other.
func (g *Graph) depths() []int {
	depths := make([]int, len(g.observations))
	state := make([]uint8, len(g.observations)) // 0 new, 1 on the way, 2 known
	for i := range g.observations {
		var way []int
		depth := 0
		for at := i; ; {
			if state[at] == 2 {
				depth = depths[at] + 1
				break
			}
			if state[at] == 1 {
				break // a circle
			}
			state[at] = 1
			way = append(way, at)
			around, found := g.readAround(g.observations[at])
			if !found {
				break
			}
			at = g.anchors[around][0]
		}
		for j := len(way) - 1; j >= 0; j-- {
			depths[way[j]], state[way[j]] = depth, 2
			depth++
		}
	}
	return depths
}
