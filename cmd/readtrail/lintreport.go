// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
)

// writeLintReport prints a report for people: the summary, what was recognized,
// then the places of values, those first that somebody should look at.
func writeLintReport(con *console, r *lint.Report) error {
	w := con.out
	fmt.Fprintln(w, lintSummary(&r.Summary))
	fmt.Fprintf(w, "profile: %s\n", r.Profile)
	for _, u := range r.Unreadable {
		fmt.Fprintf(w, "unreadable: %s: %s: %s: %s\n", escape(u.Input), lineNumbers(&u), u.Reason, unreadableBecause[u.Reason])
	}
	if r.Summary.MetricsLines > 0 {
		fmt.Fprintf(w, "left out: %s with metrics or profiles, which the collector does not take\n", count(int(r.Summary.MetricsLines), "line"))
	}
	if r.Summary.TooMany {
		fmt.Fprintf(w, "cut off: more different names or keys than are remembered; the rest is counted under (too many)\n")
	}
	width, _ := terminalWidth(con.outFile)
	section := func(title string, t *table) error {
		if len(t.rows) == 0 {
			return nil
		}
		fmt.Fprintf(w, "\n%s\n", title)
		return t.write(w, width)
	}
	if err := section("What it is", groupTable(r.Groups)); err != nil {
		return err
	}
	for _, s := range placeSections {
		if err := section(s.title, s.table(r)); err != nil {
			return err
		}
	}
	writeSuggestions(w, r.Keep)
	return nil
}

var unreadableBecause = map[lint.Reason]string{
	lint.NotJSON:  "is not one JSON object; a request stands on one line (jq -c .)",
	lint.NotOTLP:  "is no OTLP request with traces or logs",
	lint.TooLarge: "has more than 20 MiB or 1,048,576 objects and arrays",
}

// lineNumbers names the lines of a problem, as far as they are remembered.
func lineNumbers(u *lint.Unreadable) string {
	numbers := make([]string, len(u.Lines))
	for i, n := range u.Lines {
		numbers[i] = strconv.FormatInt(n, 10)
	}
	text := "line " + strings.Join(numbers, ", ")
	if more := u.Count - int64(len(u.Lines)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// lintSummary is the first line: what there was, and what to look at.
func lintSummary(s *lint.Summary) string {
	was := []string{count(int(s.Spans), "span"), count(int(s.LogRecords), "log record"), count(int(s.Reads), "read") + " recorded", count(len(s.Dialects), "dialect")}
	if s.Contexts > 0 {
		was = slices.Insert(was, len(was)-1, count(int(s.Contexts), "context")+" recorded")
	}
	var look []string
	add := func(n int64, noun, what string) {
		if n > 0 {
			look = append(look, count(int(n), noun)+what)
		}
	}
	add(int64(s.UnknownKeys), "key", " no rule knows")
	add(s.UnknownTexts, "other text", " no rule knows")
	add(s.Misshapen, "value", " without the shape that the key has")
	add(s.Credentials, "credential", "")
	add(s.Unrecordable, "item", " that can't be recorded")
	add(s.UnreadableLines, "line", " that can't be read")
	if len(look) == 0 {
		return strings.Join(was, ", ")
	}
	return strings.Join(was, ", ") + "; " + strings.Join(look, ", ")
}

var groupColumns = []column{
	{title: "ITEMS"},
	{title: "READS"},
	{title: "SIGNAL", rank: 3},
	{title: "CLASS"},
	{title: "DIALECT", least: 8},
	{title: "NAME", least: 12},
	{title: "SCOPE", least: 8, rank: 7},
	{title: "TOOLS", least: 10},
	{title: "CALL ID", rank: 5},
	{title: "REQUEST", least: 8, rank: 2},
	{title: "RESPONSE", least: 8, rank: 1},
	{title: "DOCUMENTS", rank: 6},
	{title: "KEPT", least: 8, rank: 4},
	{title: "FLAGS", least: 8, rank: 8},
}

func groupTable(groups []*lint.Group) *table {
	t := &table{columns: groupColumns}
	for _, g := range groups {
		var callID, documents string
		if isRead := g.Reads > 0 || len(g.Request) > 0; isRead {
			callID = ofAll(g.WithCallID, g.Items)
			documents = strconv.FormatInt(g.Documents, 10)
		}
		flags := counted(g.Flags, g.Items)
		if len(g.Unrecordable) > 0 {
			flags = strings.TrimPrefix(flags+", not recorded: "+counted(g.Unrecordable, g.Items), ", ")
		}
		t.rows = append(t.rows, tableRow{cells: []string{
			strconv.FormatInt(g.Items, 10), strconv.FormatInt(g.Reads, 10), string(g.Signal), string(g.Class), g.Dialect, g.Name, g.Scope,
			someOf(g.Tools), callID, counted(g.Request, g.Items), counted(g.Response, g.Items), documents,
			counted(g.Kept, g.Items), flags,
		}})
	}
	return t
}

// ofAll says how many of all have something.
func ofAll(n, all int64) string {
	switch n {
	case 0:
		return "no"
	case all:
		return "yes"
	default:
		return fmt.Sprintf("%d of %d", n, all)
	}
}

// counted names words and how often each occurred, unless it did in every item.
func counted[W ~string](counts map[W]int64, all int64) string {
	var out []string
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		text := string(word)
		if counts[word] != all {
			text += " " + strconv.FormatInt(counts[word], 10)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// someOf names the first of a list and how many more there are.
func someOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// placeSection shows the places with some of the outcomes.
type placeSection struct {
	title    string
	outcomes []strip.Outcome
}

var placeSections = []placeSection{
	{"Look at these", []strip.Outcome{
		strip.StaysUnknown, strip.RemovedUnknown, strip.StaysMisshapen, strip.RemovedMisshapen, strip.RemovedCredential, strip.Replaced,
	}},
	{"Holds content", []strip.Outcome{strip.Digest, strip.RemovedFreeKey}},
	{"Leaves in clear", []strip.Outcome{strip.Stays, strip.StaysPlaceholder, strip.Redacted}},
}

var placeColumns = []column{
	{title: "PLACE"},
	{title: "KEY", least: 24},
	{title: "WHAT HAPPENS", least: 20},
	{title: "VALUES"},
	{title: "LENGTH", rank: 2},
	{title: "FIRST SEEN", least: 12, rank: 1},
}

func (s placeSection) table(r *lint.Report) *table {
	t := &table{columns: placeColumns}
	for i := range r.Places {
		p := &r.Places[i]
		if !slices.ContainsFunc(s.outcomes, func(o strip.Outcome) bool { return o.String() == p.Outcome }) {
			continue
		}
		key := p.Key
		if p.Field != "" {
			key = "(" + string(p.Field) + ")"
		}
		t.rows = append(t.rows, tableRow{cells: []string{
			p.Place, key, whatHappens(p), strconv.FormatInt(p.Values, 10), lengthRange(p.Length), firstSeen(r, p.First),
		}})
	}
	return t
}

func whatHappens(p *lint.Place) string {
	switch p.Outcome {
	case strip.Stays.String():
		if p.Shape == "" {
			return "stays"
		}
		return "stays as " + p.Shape
	case strip.StaysPlaceholder.String():
		return "stays: a placeholder"
	case strip.Redacted.String():
		return "[REDACTED]: a placeholder in JSON"
	case strip.StaysUnknown.String():
		return "stays: no rule knows it"
	case strip.StaysMisshapen.String():
		return "stays: " + misshapen(p)
	case strip.RemovedUnknown.String():
		return "removed: no rule knows it"
	case strip.RemovedMisshapen.String():
		return "removed: " + misshapen(p)
	case strip.RemovedFreeKey.String():
		return "removed: the key is text"
	case strip.RemovedCredential.String():
		return "removed: a credential"
	case strip.Replaced.String():
		return "replaced by redacted: no rule knows it"
	default:
		return p.Outcome
	}
}

func misshapen(p *lint.Place) string {
	if p.Shape == "" {
		return "the name of a credential"
	}
	return "is no " + p.Shape
}

func lengthRange(l *lint.Length) string {
	switch {
	case l == nil:
		return ""
	case l.Min == l.Max:
		return strconv.FormatInt(l.Min, 10)
	default:
		return fmt.Sprintf("%d-%d", l.Min, l.Max)
	}
}

func firstSeen(r *lint.Report, at lint.Position) string {
	line := strconv.FormatInt(at.Line, 10)
	if len(r.Inputs) == 1 {
		return "line " + line
	}
	return at.Input + ":" + line
}

// writeSuggestions prints entries to paste into the configuration.
func writeSuggestions(w io.Writer, keep []lint.Suggestion) {
	if len(keep) == 0 {
		return
	}
	fmt.Fprint(w, "\nSuggested for processors::read_record. A shape tells what values look like, not what they mean: a\n"+
		"customer's number or name is an identifier too. Somebody who knows the key has to confirm each line.\n\nkeep:\n")
	width := 0
	for _, s := range keep {
		width = max(width, len(keepEntry(s)))
	}
	for _, s := range keep {
		fmt.Fprintf(w, "  - %-*s  # %s, to be confirmed\n", width, keepEntry(s), count(int(s.Values), "value"))
	}
}

func keepEntry(s lint.Suggestion) string {
	return fmt.Sprintf("{key: %s, shape: %s}", strconv.Quote(s.Key), s.Shape)
}
