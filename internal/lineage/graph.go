// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"cmp"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// Place says in which entry something stands.
type Place struct {
	// Organization is the organization_ref of the entry's scope. Nothing is joined
	// across organizations, whatever ids they send.
	Organization string
	JournalID    string
	Sequence     uint64
	// Upstream is the upstream_context_source of the entry.
	Upstream string
}

// Observation is what one entry tells of a read.
type Observation struct {
	Place
	ReadID      string
	ToolCallID  string
	Correlation record.Correlation
	Signal      record.Signal
	// Uncheckable is that of the record.
	Uncheckable bool
	// EdgeType is that of the observation's span, once Reads has found it.
	EdgeType record.EdgeType

	tool    string
	subject string
	// requestID is the id of a request by which a client's and a server's span are
	// known to be of one; rpcID is the same if it is one of JSON-RPC.
	requestID, rpcID string
	// library is what observed the read.
	library [2]string
}

// dialectAWS is the dialect whose request ids are those of AWS: that of a gateway
// differs from the JSON-RPC id of the client's request, and both are of one call.
const dialectAWS = "bedrock-agentcore"

// NewObservation returns what of a read record joining needs.
func NewObservation(at Place, r *record.Read) *Observation {
	o := &Observation{
		Place: at, ReadID: r.ReadID, ToolCallID: r.ToolCallID, Correlation: r.Correlation, Signal: r.ObservedBy.Signal,
		Uncheckable: r.Uncheckable(), tool: r.Source.ToolID, library: [2]string{r.ObservedBy.Dialect, r.ObservedBy.ScopeName},
	}
	// An id without a basis is the convention's. An application's request id says
	// nothing about it.
	if _, given := r.Basis["correlation.request_id"]; !given {
		o.requestID = r.Correlation.RequestID
	}
	if o.library[0] != dialectAWS {
		o.rpcID = o.requestID
	}
	switch {
	case o.tool != "":
		o.subject = "tool " + o.tool
	case r.Retrieval != nil && r.Retrieval.IndexID != "":
		o.subject = "index " + r.Retrieval.IndexID
	case r.Memory != nil && r.Memory.StoreID != "":
		o.subject = "memory " + r.Memory.Operation + " " + r.Memory.StoreID
	case len(r.Documents) == 1:
		o.subject = "document " + r.Documents[0].DocumentID
	}
	return o
}

// spanKey names a span: the trace by its number in the graph, and its id.
type spanKey struct {
	trace int32
	id    uint64
}

// span is what is known of a span besides its effect.
type span struct {
	parent uint64 // 0 is none
	// contradictory says that entries name different parents.
	contradictory bool
	client        bool
	server        bool
	// transport says that a call may pass through the span and still be the same
	// call.
	transport bool
	// carries says that the span only carries requests.
	carries bool
	// request says that it is one of MCP.
	request bool
	edge    record.EdgeType
}

func (s span) isJob() bool { return s.edge == record.EdgeDelegatedJob }

type traceName struct{ organization, id string }

// Graph holds the observations and spans of some traces. It is for one
// goroutine.
type Graph struct {
	limit        int
	full         bool
	traces       map[traceName]int32
	spans        map[spanKey]span
	observations []*Observation
	effects      []*Effect

	// What Reads finds out: the observations at each span, what is above a span,
	// and how many effects hang under no read.
	anchors map[spanKey][]int
	above   map[spanKey]ancestry
	loose   int
}

// New returns an empty graph that takes at most so many spans and observations
// together, some 200 bytes each.
func New(limit int) *Graph {
	return &Graph{limit: limit, traces: map[traceName]int32{}, spans: map[spanKey]span{}}
}

// Full reports whether the graph had to leave something out.
func (g *Graph) Full() bool { return g.full }

// Loose returns how many effects Reads found no read for: what the agent did
// outside its tools, and what hangs below spans that are not recorded, or not
// yet, or whose parents contradict each other.
func (g *Graph) Loose() int { return g.loose }

func (g *Graph) takes() bool {
	if len(g.spans)+len(g.observations)+len(g.effects) >= g.limit {
		g.full = true
		return false
	}
	return true
}

// AddRead adds an observation.
func (g *Graph) AddRead(o *Observation) {
	if !g.takes() {
		return
	}
	g.observations = append(g.observations, o)
	if key, ok := g.key(o.Organization, o.Correlation.TraceID, o.Correlation.SpanID); ok && o.Signal == record.SignalSpan {
		g.addSpan(key, span{parent: spanID(o.Correlation.ParentSpanID)})
	}
}

// AddSpans adds the spans of a lineage record.
func (g *Graph) AddSpans(at Place, traceID string, spans []record.Span) {
	for i := range spans {
		s := &spans[i]
		key, ok := g.key(at.Organization, traceID, s.SpanID)
		if !ok || !g.takes() {
			continue
		}
		node := span{
			parent: spanID(s.ParentSpanID), client: s.Kind == "client" || s.EdgeType == record.EdgeProtocolCall, server: s.Kind == "server",
			transport: transports[s.Class], carries: s.Class == "http" || s.Class == "rpc", request: s.Class == "mcp", edge: s.EdgeType,
		}
		g.addSpan(key, node)
		if s.Effect != nil || node.isJob() {
			g.effects = append(g.effects, &Effect{Place: at, TraceID: traceID, Span: *s, key: key})
		}
	}
}

// transports are the classes of spans that can stand between two observations
// of one call. A call that an agent or a model makes within another is none.
var transports = map[string]bool{"http": true, "rpc": true, "mcp": true, "process": true, "other": true}

// addSpan adds what an entry says of a span to what others said.
func (g *Graph) addSpan(key spanKey, s span) {
	known, found := g.spans[key]
	if found {
		s.contradictory = known.contradictory || known.parent != s.parent
		s.client, s.server = s.client || known.client, s.server || known.server
		s.transport, s.carries = s.transport || known.transport, s.carries || known.carries
		s.request = s.request || known.request
		s.edge = cmp.Or(known.edge, s.edge)
	}
	g.spans[key] = s
}

func (g *Graph) key(organization, traceID, id string) (spanKey, bool) {
	n := spanID(id)
	if traceID == "" || n == 0 {
		return spanKey{}, false
	}
	name := traceName{organization, traceID}
	trace, found := g.traces[name]
	if !found {
		trace = int32(len(g.traces))
		g.traces[name] = trace
	}
	return spanKey{trace, n}, true
}

// spanID reads a span id; 0 is none.
func spanID(hex string) uint64 {
	n, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return 0
	}
	return n
}
