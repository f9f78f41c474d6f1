// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

const (
	trace      = "0af7651916cd43dd8448eb211c80319c"
	otherTrace = "1af7651916cd43dd8448eb211c80319c"
)

// id makes a span id of a letter.
func id(letter string) string {
	if letter == "" {
		return ""
	}
	return strings.Repeat("0", 14) + "f" + letter[:1]
}

// seen is one span, or log record, in the form that tests write: its letter is
// also its span id. Letters are hexadecimal.
type seen struct {
	span, parent string
	tool, call   string
	rpc          string
	by           string // who observed it; "client" and "server" are those of MCP
	class        string // of a span that is no read
	edge         record.EdgeType
	log          string // the letter of a log record within span
	trace, run   string
	org          string
	effect       *record.Effect
	links        []record.Link
	readID       string
	appRequest   bool
}

func (s seen) withDefaults() seen {
	if s.trace == "" {
		s.trace = trace
	}
	if s.run == "" {
		s.run = "trace:" + s.trace
	}
	if s.org == "" {
		s.org = "bank"
	}
	return s
}

func (s seen) letter() string { return s.span + s.log }

func (s seen) read() *record.Read {
	r := &record.Read{ReadID: s.readID, ToolCallID: s.call, Source: record.Source{ToolID: s.tool}}
	if r.ReadID == "" {
		r.ReadID = "read_" + s.org + s.trace + s.letter()
	}
	r.Correlation = record.Correlation{TraceID: s.trace, ExecutionID: s.run, SpanID: id(s.span), ParentSpanID: id(s.parent), RequestID: s.rpc}
	r.ObservedBy = record.ObservedBy{Signal: record.SignalSpan, Dialect: s.by}
	if s.log != "" {
		r.ObservedBy.Signal, r.Correlation.ParentSpanID = record.SignalLog, ""
	}
	if s.appRequest {
		r.Basis = map[string]record.Basis{"correlation.request_id": record.BasisAttribute}
	}
	return r
}

// entries are what journals hold of it, one function an entry.
func (s seen) entries(g *Graph, sequence uint64) []func() {
	s = s.withDefaults()
	at := Place{Organization: s.org, JournalID: s.letter(), Sequence: sequence}
	var out []func()
	if s.tool != "" {
		out = append(out, func() { g.AddRead(NewObservation(at, s.read())) })
	}
	if s.log == "" {
		kind, class := "internal", s.class
		if s.by == "client" || s.by == "server" {
			kind = s.by
		}
		if class == "" {
			class = "tool"
		}
		out = append(out, func() {
			g.AddSpans(at, s.trace, []record.Span{{
				SpanID: id(s.span), ParentSpanID: id(s.parent), Kind: kind, Class: class, EdgeType: s.edge, Effect: s.effect, Links: s.links,
			}})
		})
	}
	return out
}

// joined adds everything in an order and returns the letters of each read, and
// of its effects behind a colon, one read a word.
func joined(in []seen, shuffle func(n int, swap func(i, j int))) string {
	g := New(1000)
	var entries []func()
	for i, s := range in {
		entries = append(entries, s.entries(g, uint64(i))...)
	}
	if shuffle != nil {
		shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	for _, add := range entries {
		add()
	}
	return words(g.Reads())
}

func words(reads []*Read) string {
	var out []string
	for _, r := range reads {
		var observations []string
		for _, o := range r.Observations {
			observations = append(observations, o.JournalID)
		}
		slices.Sort(observations)
		word := strings.Join(observations, "")
		for i, e := range r.Effects {
			if i == 0 {
				word += ":"
			}
			word += e.JournalID
			if e.Job != nil {
				word += "(" + e.Job.JournalID + ")"
			}
			if e.Linked {
				word += "!"
			}
		}
		out = append(out, word)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

var touches = &record.Effect{System: "postgresql"}

type joinCase struct {
	in   []seen
	want string
}

// check demands the same answer in every order.
func check(t *testing.T, cases map[string]joinCase) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, joined(c.in, nil))
			random := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				require.Equal(t, c.want, joined(c.in, random.Shuffle))
			}
		})
	}
}

func TestObservationsAreJoinedByKeys(t *testing.T) {
	check(t, map[string]joinCase{
		"one call id in one trace is one read": {
			[]seen{{span: "a", tool: "get", call: "1", by: "f"}, {span: "b", parent: "a", tool: "mcp get", call: "1", by: "client"}, {span: "c", log: "d", tool: "get", call: "1"}}, "abcd",
		},
		"one call id in one execution of two traces is one read": {
			[]seen{{span: "a", tool: "get", call: "1", run: "r"}, {span: "b", tool: "get", call: "1", run: "r", trace: otherTrace}}, "ab",
		},
		"one call id in another trace and execution is another read": {
			[]seen{{span: "a", tool: "get", call: "1"}, {span: "a", tool: "get", call: "1", trace: otherTrace}}, "a a",
		},
		"one call id in another organization is another read": {
			[]seen{{span: "a", tool: "get", call: "1"}, {span: "b", tool: "get", call: "1", org: "other"}}, "a b",
		},
		"a call id that one observer gives to two tools is not one call": {
			[]seen{
				{span: "a", tool: "get", call: "0", by: "f"},
				{span: "b", tool: "search", call: "0", by: "f"},
				{span: "c", parent: "b", tool: "search", call: "0", by: "client"},
			}, "a bc",
		},
		"one read id of two observers of two traces is one read": {
			[]seen{{span: "a", tool: "get", readID: "x", call: "1"}, {span: "b", tool: "crm get", readID: "x", trace: otherTrace}}, "ab",
		},
		"two accounts of one span are one read, with what is within": {
			[]seen{{span: "a", tool: "get", readID: "x"}, {span: "a", tool: "get", readID: "x"}, {span: "b", parent: "a", tool: "get", by: "client"}}, "aab",
		},
		"two reads of one span are two, and nothing is within either": {
			[]seen{{span: "a", tool: "get", readID: "x"}, {span: "a", tool: "get", readID: "y"}, {span: "b", parent: "a", tool: "get", by: "client"}}, "a a b",
		},
	})
}

func TestTheOutermostSpanLeads(t *testing.T) {
	for want, in := range map[string][]seen{
		"a": {{span: "a", log: "d", tool: "get"}, {span: "c", parent: "b", tool: "get", by: "server"}, {span: "b", parent: "a", tool: "get", by: "client"}, {span: "a", tool: "get", call: "1"}},
		"c": {{span: "9", class: "agent"}, {span: "e", parent: "9", tool: "get", by: "server", rpc: "7"}, {span: "c", parent: "9", tool: "get", by: "client", rpc: "7"}},
		"b": {{span: "b", tool: "get", call: "1"}, {span: "a", tool: "get", call: "1", by: "g"}},
	} {
		g := New(100)
		for i, s := range in {
			for _, add := range s.entries(g, uint64(i)) {
				add()
			}
		}
		reads := g.Reads()
		require.Len(t, reads, 1)
		require.Equal(t, want, reads[0].Observations[0].JournalID)
	}
}

func TestThreeObserversOfOneCallAreOneRead(t *testing.T) {
	f := seen{span: "a", parent: "9", tool: "get", by: "f"}
	c := seen{span: "c", parent: "a", tool: "get", by: "client", rpc: "7"}
	s := seen{span: "e", parent: "c", tool: "get", by: "server", rpc: "7"}
	called := func(s seen, call string) seen { s.call = call; return s }
	below := func(s seen, parent string) seen { s.parent = parent; return s }
	named := func(s seen, tool string) seen { s.tool = tool; return s }
	spans := func(letters ...string) (out []seen) {
		for i := 0; i < len(letters); i += 3 {
			out = append(out, seen{span: letters[i], parent: letters[i+1], class: letters[i+2]})
		}
		return out
	}
	check(t, map[string]joinCase{
		"with a call id on none":                    {[]seen{f, c, s}, "ace"},
		"with a call id on the framework's":         {[]seen{called(f, "1"), c, s}, "ace"},
		"with a call id on the client's":            {[]seen{f, called(c, "1"), s}, "ace"},
		"with a call id on the server's":            {[]seen{f, c, called(s, "1")}, "ace"},
		"with a call id on the outer and the inner": {[]seen{called(f, "1"), c, called(s, "1")}, "ace"},
		"with a call id on all":                     {[]seen{called(f, "1"), called(c, "1"), called(s, "1")}, "ace"},
		"with HTTP between client and server":       {append(spans("1", "c", "http", "2", "1", "http"), f, c, below(s, "2")), "ace"},
		"with the framework's own spans between": {
			append(spans("1", "a", "other", "2", "1", "other"), f, below(c, "2"), s), "ace",
		},
		"with a server that hangs below the framework": {[]seen{f, c, below(s, "a")}, "ace"},
		"with the name by which agents call a tool of MCP": {
			[]seen{named(f, "mcp__crm__get"), c, s}, "ace",
		},
		"with that name and one underscore": {
			[]seen{named(f, "mcp_crm_get"), c, s}, "ace",
		},
		"with names of their own, by call id": {
			[]seen{named(called(f, "1"), "Get customer"), called(c, "1"), s}, "ace",
		},
		"with a gateway of AWS that has a request id of its own": {
			[]seen{f, c, {span: "e", parent: "c", tool: "get", by: dialectAWS, rpc: "5f1d", class: "tool"}}, "ace",
		},
		"with names of their own, by request id": {[]seen{named(c, "crm.get"), s}, "ce"},
		"without the framework, side by side":    {[]seen{below(c, "9"), below(s, "9"), {span: "9", class: "agent"}}, "ce"},
		"without the framework, side by side with HTTP around the server": {
			append(spans("9", "", "agent", "1", "9", "http", "2", "1", "http"), below(c, "9"), below(s, "2")), "ce",
		},
		"with one library at both ends of MCP that sets no kinds": {
			append(spans("1", "c", "mcp"), f, seen{span: "c", parent: "a", tool: "get", by: "m"}, seen{span: "e", parent: "1", tool: "get", by: "m"}), "ace",
		},
		"with one library at both ends that sets no kinds, by request id": {
			[]seen{f, {span: "c", parent: "a", tool: "get", by: "m", rpc: "7"}, {span: "e", parent: "c", tool: "get", by: "m", rpc: "7"}}, "ace",
		},
		"with a log record in the span": {[]seen{f, c, s, {span: "a", log: "d", tool: "get"}, {span: "c", log: "b", tool: "get", call: "1"}}, "aadccbe"},
	})
}

func TestTwoCallsStayTwo(t *testing.T) {
	agent := seen{span: "9", class: "agent"}
	check(t, map[string]joinCase{
		"of one tool by one agent": {[]seen{agent, {span: "a", parent: "9", tool: "get"}, {span: "b", parent: "9", tool: "get"}}, "a b"},
		"of one tool by one tool":  {[]seen{{span: "9", tool: "refresh"}, {span: "a", parent: "9", tool: "get"}, {span: "b", parent: "9", tool: "get"}}, "9 a b"},
		"with request ids, each with its server": {
			[]seen{
				agent,
				{span: "a", parent: "9", tool: "get", by: "client", rpc: "1"},
				{span: "b", parent: "9", tool: "get", by: "client", rpc: "2"},
				{span: "c", parent: "9", tool: "get", by: "server", rpc: "1"},
				{span: "d", parent: "9", tool: "get", by: "server", rpc: "2"},
			}, "ac bd",
		},
		"with one request id on two connections": {
			[]seen{
				agent,
				{span: "a", parent: "9", tool: "get", by: "client", rpc: "1"},
				{span: "b", parent: "9", tool: "get", by: "client", rpc: "1"},
				{span: "c", parent: "9", tool: "get", by: "server", rpc: "1"},
				{span: "d", parent: "9", tool: "get", by: "server", rpc: "1"},
			}, "a b c d",
		},
		"by a client within one call of the framework": {
			[]seen{{span: "9", tool: "get", by: "f"}, {span: "a", parent: "9", tool: "get", by: "client", rpc: "1"}, {span: "b", parent: "9", tool: "get", by: "client", rpc: "2"}}, "9 a b",
		},
		"by a client within one call of the framework, without request ids": {
			[]seen{{span: "9", tool: "get", by: "f", call: "1"}, {span: "a", parent: "9", tool: "get", by: "client"}, {span: "b", parent: "9", tool: "get", by: "client"}}, "9 a b",
		},
		"with other call ids, one within the other": {
			[]seen{{span: "a", tool: "get", call: "1"}, {span: "b", parent: "a", tool: "get", call: "2", by: "client"}}, "a b",
		},
		"with other request ids, one within the other": {
			[]seen{
				{span: "a", tool: "get", by: "client", rpc: "1"},
				{span: "b", parent: "a", tool: "get", by: "server", rpc: "1"},
				{span: "c", parent: "b", tool: "get", by: "client", rpc: "9"},
				{span: "d", parent: "c", tool: "get", by: "server", rpc: "9"},
			}, "ab cd",
		},
		"of two tools of which one's name ends as the other's": {
			[]seen{{span: "a", tool: "mcp__crm__get_customer", by: "f"}, {span: "b", parent: "a", tool: "customer", by: "client"}}, "a b",
		},
		"of two tools, one within the other": {[]seen{{span: "a", tool: "get", call: "1"}, {span: "b", parent: "a", tool: "search", by: "client"}}, "a b"},
		"of one tool that calls itself through an agent": {
			[]seen{{span: "a", tool: "ask", by: "f"}, {span: "1", parent: "a", class: "agent"}, {span: "b", parent: "1", tool: "ask", by: "g"}}, "a b",
		},
		"of one tool that calls itself, as one observer saw": {
			[]seen{{span: "a", tool: "ask", by: "f"}, {span: "1", parent: "a", class: "other"}, {span: "b", parent: "1", tool: "ask", by: "f"}}, "a b",
		},
		"of one tool that calls itself, as one observer saw, with nothing between": {
			[]seen{{span: "a", tool: "ask", by: "f"}, {span: "b", parent: "a", tool: "ask", by: "f"}, {span: "c", parent: "b", tool: "ask", by: "f"}}, "a b c",
		},
		"of one tool that calls itself, as several observers saw": {
			[]seen{
				{span: "a", tool: "ask", by: "f"},
				{span: "b", parent: "a", tool: "ask", by: "client"},
				{span: "c", parent: "b", tool: "ask", by: "f"},
				{span: "d", parent: "c", tool: "ask", by: "client"},
			}, "ab cd",
		},
		"of one tool, the second through a proxy without request ids": {
			[]seen{
				{span: "a", tool: "get", by: "client"},
				{span: "b", parent: "a", tool: "get", by: "server"},
				{span: "c", parent: "b", tool: "get", by: "client"},
				{span: "d", parent: "c", tool: "get", by: "server"},
			}, "ab cd",
		},
		"of two observers that one observer saw within each of them": {
			[]seen{
				{span: "a", tool: "get", call: "1", by: "f"},
				{span: "b", tool: "get", call: "1", by: "g", trace: otherTrace, run: "trace:" + trace},
				{span: "c", parent: "a", tool: "get", by: "client"},
				{span: "d", parent: "b", tool: "get", by: "client", trace: otherTrace},
			}, "ab c d",
		},
		"of one tool with one call id, as models give that number their calls anew": {
			[]seen{
				agent,
				{span: "a", parent: "9", tool: "get", call: "0", by: "f"},
				{span: "b", parent: "9", tool: "get", call: "0", by: "f"},
				{span: "c", parent: "b", tool: "get", call: "0", by: "client"},
				{span: "d", parent: "a", tool: "get", by: "client"},
				{span: "9", log: "e", tool: "get", call: "0"},
			}, "9e ad bc",
		},
		"of one tool with one call id, as log records tell alone": {
			[]seen{agent, {span: "9", log: "a", tool: "get", call: "0"}, {span: "9", log: "b", tool: "get", call: "0"}}, "9a 9b",
		},
		"that a client tried within one call of the framework under one call id": {
			[]seen{
				{span: "9", tool: "get", call: "1", by: "f"},
				{span: "a", parent: "9", tool: "get", call: "1", by: "client", rpc: "1"},
				{span: "b", parent: "9", tool: "get", call: "1", by: "client", rpc: "2"},
			}, "9 a b",
		},
		"of one tool, the second as a job of a worker": {
			[]seen{{span: "a", tool: "export", by: "f"}, {span: "1", parent: "a", class: "messaging", edge: record.EdgeDelegatedJob}, {span: "b", parent: "1", tool: "export", by: "g"}}, "a:1 b",
		},
		"of one tool, the second said to be a job": {
			[]seen{{span: "a", tool: "export", by: "f"}, {span: "b", parent: "a", tool: "export", by: "g", edge: record.EdgeDelegatedJob}}, "a b",
		},
		"to which an application gives one read id": {
			[]seen{agent, {span: "a", parent: "9", tool: "get", readID: "x", by: "f"}, {span: "b", parent: "9", tool: "put", readID: "x", by: "f"}}, "a b",
		},
		"to which an application gives one read id, in two traces": {
			[]seen{{span: "a", tool: "get", readID: "x", call: "1"}, {span: "b", tool: "get", readID: "x", call: "2", trace: otherTrace}}, "a b",
		},
		"in log records of one span with their own call ids": {
			[]seen{{span: "a", tool: "get"}, {span: "a", log: "1", tool: "get", call: "1"}, {span: "a", log: "2", tool: "get", call: "2"}}, "a a1 a2",
		},
		"with the request ids of an application, which are no ids of JSON-RPC": {
			[]seen{{span: "9", class: "agent"}, {span: "a", parent: "9", tool: "x", by: "client", rpc: "1", appRequest: true}, {span: "b", parent: "9", tool: "x", by: "server", rpc: "1", appRequest: true}}, "a b",
		},
	})
}

// A library that logs a call when it is done often does so in the span around
// that of the tool, as Gemini CLI does.
func TestALogRecordBesideTheSpanOfItsCallIsOfTheSameRead(t *testing.T) {
	scheduler := seen{span: "9", class: "other"}
	span := func(letter, tool string) seen {
		return seen{span: letter, parent: "9", tool: tool, by: "cli", call: letter}
	}
	log := func(letter, tool string) seen { return seen{span: "9", log: letter, tool: tool, by: "cli"} }
	by := func(s seen, library string) seen { s.by = library; return s }
	check(t, map[string]joinCase{
		"one call":                        {[]seen{scheduler, span("a", "get"), log("1", "get")}, "91a"},
		"several tools":                   {[]seen{scheduler, span("a", "get"), span("b", "put"), log("1", "get"), log("2", "put")}, "91a 92b"},
		"but not two calls of a tool":     {[]seen{scheduler, span("a", "get"), span("b", "get"), log("1", "get"), log("2", "get")}, "91 92 a b"},
		"nor one of two":                  {[]seen{scheduler, span("a", "get"), span("b", "get"), log("1", "get")}, "91 a b"},
		"nor one and one that failed":     {[]seen{scheduler, span("a", "get"), log("1", "get"), log("2", "get")}, "91 92 a"},
		"nor another tool's":              {[]seen{scheduler, span("a", "get"), log("1", "put")}, "91 a"},
		"nor another library's":           {[]seen{scheduler, span("a", "get"), by(log("1", "get"), "other")}, "91 a"},
		"nor with another call id":        {[]seen{scheduler, span("a", "get"), {span: "9", log: "1", tool: "get", by: "cli", call: "x"}}, "91 a"},
		"nor of another organization":     {[]seen{scheduler, span("a", "get"), {span: "9", log: "1", tool: "get", by: "cli", org: "evil"}}, "91 a"},
		"nor if the span has two parents": {[]seen{scheduler, span("a", "get"), log("1", "get"), {span: "a", parent: "8", class: "tool"}}, "91 a"},
	})
}

func TestForgedParentsLeadNowhere(t *testing.T) {
	check(t, map[string]joinCase{
		"a span that is its own parent":     {[]seen{{span: "a", parent: "a", tool: "get"}, {span: "b", parent: "b", class: "db", effect: touches}}, "a"},
		"spans that name each other":        {[]seen{{span: "a", parent: "b", tool: "get"}, {span: "b", parent: "a", tool: "put"}}, "a b"},
		"spans around that name each other": {[]seen{{span: "1", parent: "2", class: "other"}, {span: "2", parent: "1", class: "other"}, {span: "a", parent: "1", tool: "get"}, {span: "c", parent: "2", class: "db", effect: touches}}, "a"},
		"one span with two parents":         {[]seen{{span: "a", tool: "get"}, {span: "b", tool: "put"}, {span: "1", parent: "a", class: "other"}, {span: "1", parent: "b", class: "other"}, {span: "c", parent: "1", class: "db", effect: touches}}, "a b"},
		"a parent in another trace":         {[]seen{{span: "a", tool: "get"}, {span: "b", parent: "a", class: "db", effect: touches, trace: otherTrace}}, "a"},
		"a parent of another organization":  {[]seen{{span: "a", tool: "get"}, {span: "b", parent: "a", class: "db", effect: touches, org: "evil"}}, "a"},
		"a link to another organization":    {[]seen{{span: "a", tool: "get"}, {span: "b", class: "messaging", edge: record.EdgeDelegatedJob, trace: otherTrace, org: "evil", links: []record.Link{{TraceID: trace, SpanID: id("a")}}}}, "a"},
		"a parent that is not a span id":    {[]seen{{span: "a", tool: "get"}, {span: "b", parent: "x", class: "db", effect: touches}}, "a"},
	})
}
