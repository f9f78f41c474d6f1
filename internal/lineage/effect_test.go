// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/record"
)

const job = record.EdgeDelegatedJob

func to(letter string) []record.Link { return []record.Link{{TraceID: trace, SpanID: id(letter)}} }

func TestAnEffectHangsUnderTheNearestRead(t *testing.T) {
	db := func(span, parent string) seen { return seen{span: span, parent: parent, class: "db", effect: touches} }
	between := func(span, parent, class string) seen { return seen{span: span, parent: parent, class: class} }
	check(t, map[string]joinCase{
		"that is its parent":      {[]seen{{span: "a", tool: "get"}, db("1", "a"), db("2", "a")}, "a:12"},
		"that is the span itself": {[]seen{{span: "a", tool: "get", effect: touches}}, "a:a"},
		"through any spans between": {
			[]seen{{span: "a", tool: "get"}, between("1", "a", "agent"), between("2", "1", "inference"), between("3", "2", "http"), between("4", "3", "db"), db("5", "4")}, "a:5",
		},
		"and not under a read further out": {[]seen{{span: "a", tool: "refresh"}, {span: "b", parent: "a", tool: "get"}, db("1", "b"), db("2", "a")}, "a:2 b:1"},
		"whichever of its observers it is": {
			[]seen{{span: "a", tool: "get", by: "f"}, {span: "b", parent: "a", tool: "get", by: "client"}, {span: "c", parent: "b", tool: "get", by: "server"}, db("1", "c"), db("2", "b"), db("3", "a")}, "abc:123",
		},
		"or under none":                       {[]seen{{span: "a", tool: "get"}, between("9", "", "agent"), db("1", "9"), db("2", ""), db("3", "8")}, "a"},
		"of several, each under its own":      {[]seen{{span: "a", tool: "get"}, {span: "b", tool: "get"}, db("1", "a"), db("2", "b")}, "a:1 b:2"},
		"once, if two journals tell the same": {[]seen{{span: "a", tool: "get"}, db("1", "a"), db("1", "a")}, "a:1"},
		"twice, if they tell of two outcomes": {[]seen{{span: "a", tool: "get"}, db("1", "a"), {span: "1", parent: "a", class: "db", effect: &record.Effect{System: "postgresql", Status: "42P01"}}}, "a:11"},
	})
}

func TestAJobIsDelegatedAndNeverPartOfTheRequest(t *testing.T) {
	send := seen{span: "1", parent: "a", class: "messaging", effect: &record.Effect{System: "kafka"}}
	tool := seen{span: "a", tool: "export"}
	db := seen{span: "7", parent: "6", class: "db", effect: touches}
	elsewhere := func(s seen) seen { s.trace = otherTrace; return s }
	check(t, map[string]joinCase{
		"a worker in the same trace": {[]seen{tool, send, {span: "6", parent: "1", class: "messaging", edge: job}, db}, "a:167(6)"},
		"a worker in a trace of its own, by its link": {
			[]seen{tool, send, elsewhere(seen{span: "6", class: "messaging", edge: job, links: to("1")}), elsewhere(db)}, "a:16!7(6)",
		},
		"a worker in a trace of its own, whose read is its own": {
			[]seen{tool, elsewhere(seen{span: "6", class: "messaging", edge: job, links: to("a")}), elsewhere(seen{span: "b", parent: "6", tool: "write"}), elsewhere(seen{span: "7", parent: "b", class: "db", effect: touches})},
			"a:6! b:7",
		},
		"a job of a job": {
			[]seen{
				tool, elsewhere(seen{span: "6", class: "messaging", edge: job, links: to("a")}),
				elsewhere(seen{span: "8", parent: "6", class: "messaging", edge: job}), elsewhere(seen{span: "7", parent: "8", class: "db", effect: touches}),
			}, "a:6!8(6)7(8)",
		},
		"one job for the messages of two reads": {
			[]seen{tool, {span: "b", tool: "export"}, elsewhere(seen{span: "6", class: "messaging", edge: job, links: append(to("a"), to("b")...)}), elsewhere(db)}, "a:6!7(6) b:6!7(6)",
		},
		"jobs that link to each other": {
			[]seen{tool, {span: "6", class: "messaging", edge: job, links: to("8")}, {span: "8", class: "messaging", edge: job, links: append(to("6"), to("a")...)}}, "a:6!8!",
		},
		"a worker without a link is nobody's": {[]seen{tool, elsewhere(seen{span: "6", class: "messaging", edge: job}), elsewhere(db)}, "a"},
	})
}

func TestEffectsStandInTheOrderOfTimeBehindTheirJobs(t *testing.T) {
	g := New(100)
	at := Place{Organization: "bank"}
	g.AddRead(NewObservation(at, seen{span: "a", tool: "get", by: "f"}.withDefaults().read()))
	start := time.Date(2026, 10, 9, 9, 0, 0, 0, time.UTC)
	for _, s := range []struct {
		span, parent string
		minutes      int
		edge         record.EdgeType
	}{{"4", "2", 40, ""}, {"3", "a", 30, ""}, {"1", "a", 1, ""}, {"2", "a", 10, job}, {"5", "2", 35, ""}} {
		g.AddSpans(at, trace, []record.Span{{
			SpanID: id(s.span), ParentSpanID: id(s.parent), Class: "db", StartedAt: record.NewTime(start.Add(time.Duration(s.minutes) * time.Minute)), EdgeType: s.edge, Effect: touches,
		}})
	}
	var order string
	for _, e := range g.Reads()[0].Effects {
		order += e.Span.SpanID[15:]
	}
	require.Equal(t, "12543", order)
}

func TestAGraphIsBoundedAndSaysSo(t *testing.T) {
	g := New(10)
	for i := range 100 {
		g.AddSpans(Place{Organization: "o"}, trace, []record.Span{{SpanID: fmt.Sprintf("%016x", i+1), Class: "db", Effect: touches}})
		g.AddRead(NewObservation(Place{Organization: "o"}, &record.Read{ReadID: fmt.Sprint(i)}))
	}
	require.True(t, g.Full())
	require.LessOrEqual(t, len(g.spans)+len(g.observations)+len(g.effects), 12)
	require.LessOrEqual(t, len(g.Reads()), 10)
	require.NotZero(t, g.Loose())
}

func TestALongWayUpIsGoneOnce(t *testing.T) {
	const n = 50_000
	g := New(10 * n)
	at := Place{Organization: "o"}
	for i := range n {
		s := record.Span{SpanID: fmt.Sprintf("%016x", i+2), ParentSpanID: fmt.Sprintf("%016x", i+1), Class: "http", Effect: touches}
		if i%2 == 0 {
			s.EdgeType = job
		}
		g.AddSpans(at, trace, []record.Span{s})
	}
	require.Zero(t, len(g.Reads()))
	require.Equal(t, n, g.Loose())
	r := &record.Read{ReadID: "r", Correlation: record.Correlation{TraceID: trace, SpanID: fmt.Sprintf("%016x", 1)}, ObservedBy: record.ObservedBy{Signal: record.SignalSpan}}
	g.AddRead(NewObservation(at, r))
	require.Len(t, g.Reads()[0].Effects, n)
}

// TestWhateverArrivesIsCountedOnce gives random graphs, with circles, in two
// orders: every observation is in one read, and the order makes no difference.
func TestWhateverArrivesIsCountedOnce(t *testing.T) {
	letter := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6", "7", "8"})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) seen {
			s := seen{
				span: letter.Draw(t, "span"), parent: rapid.SampledFrom([]string{"", "1", "2", "3", "4", "5", "6", "7", "8"}).Draw(t, "parent"),
				tool: rapid.SampledFrom([]string{"", "get", "put", "mcp_x_get"}).Draw(t, "tool"), call: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "call"),
				rpc: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "rpc"), by: rapid.SampledFrom([]string{"f", "m", "client", "server"}).Draw(t, "by"),
				class: rapid.SampledFrom([]string{"", "http", "agent", "other", "mcp"}).Draw(t, "class"), edge: rapid.SampledFrom([]record.EdgeType{"", "", "", job}).Draw(t, "edge"),
			}
			if rapid.Bool().Draw(t, "log") {
				s.log = "a"
			}
			if rapid.Bool().Draw(t, "effect") {
				s.effect = touches
			}
			if s.edge == job {
				s.links = to(letter.Draw(t, "link"))
			}
			return s
		}), 0, 12).Draw(t, "in")
		want := 0
		for i := range in {
			in[i].readID = fmt.Sprint("r", i)
			if in[i].tool != "" {
				want++
			}
		}
		g := New(1000)
		for i, s := range in {
			for _, add := range s.entries(g, uint64(i)) {
				add()
			}
		}
		reads := g.Reads()
		got := 0
		for _, r := range reads {
			got += len(r.Observations)
		}
		if got != want {
			t.Fatalf("%d observations of %d", got, want)
		}
		order := rapid.Permutation(in).Draw(t, "order")
		if again := joined(order, nil); groups(again) != groups(words(reads)) {
			t.Fatalf("%s, in another order %s", words(reads), again)
		}
	})
}

// groups forgets which of the observations of a read leads, and the order of
// effects that began at the same time.
func groups(reads string) string {
	var out []string
	for word := range strings.FieldsSeq(reads) {
		observations, _, _ := strings.Cut(word, ":")
		letters := strings.Split(observations, "")
		slices.Sort(letters)
		out = append(out, strings.Join(letters, ""))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
