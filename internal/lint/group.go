// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// Group counts items of one kind.
type Group struct {
	Kind
	Items int64 `json:"items"`
	// Reads counts the items of which a read is recorded.
	Reads int64 `json:"reads"`
	// Contexts counts the items of which a context is recorded.
	Contexts int64 `json:"contexts,omitzero"`
	// Tools are the names that stand in records, sorted, at most 64.
	Tools []string `json:"tools,omitzero"`
	// WithCallID counts the items that name a tool call.
	WithCallID int64                     `json:"with_call_id"`
	Request    map[record.Captured]int64 `json:"request,omitzero"`
	Response   map[record.Captured]int64 `json:"response,omitzero"`
	Documents  int64                     `json:"documents"`
	// Kept counts the reads by what is kept of their content.
	Kept map[record.ContentStored]int64 `json:"kept,omitzero"`
	// Unrecordable counts by reason, Flags by flag.
	Unrecordable map[string]int64 `json:"unrecordable,omitzero"`
	Flags        map[string]int64 `json:"flags,omitzero"`
}

const (
	maxGroups = 1000
	maxTools  = 64
)

// groups holds at most maxGroups groups; what is of none of them when it is full
// is counted as one without a name.
type groups map[Kind]*Group

func (g groups) add(it *Item) {
	group := g[it.Kind]
	if group == nil && len(g) >= maxGroups {
		it.Kind.Scope, it.Kind.Name = tooMany, tooMany
		group = g[it.Kind]
	}
	if group == nil {
		group = &Group{Kind: it.Kind}
		g[it.Kind] = group
	}
	group.add(it)
}

// tooMany stands where there were too many different names to remember.
const tooMany = "(too many)"

func (g *Group) add(it *Item) {
	g.Items++
	if it.Read {
		g.Reads++
	}
	if it.Context {
		g.Contexts++
	}
	if it.CallID {
		g.WithCallID++
	}
	g.Documents += int64(it.Documents)
	g.tool(it.Tool)
	count(&g.Request, it.Request)
	count(&g.Response, it.Response)
	count(&g.Kept, it.Kept)
	count(&g.Unrecordable, it.Unrecordable)
	for _, f := range it.Flags {
		count(&g.Flags, f)
	}
}

func (g *Group) tool(name string) {
	if name == "" || len(g.Tools) > maxTools {
		return
	}
	if len(g.Tools) == maxTools && !slices.Contains(g.Tools, name) {
		name = tooMany
	}
	if i, found := slices.BinarySearch(g.Tools, name); !found {
		g.Tools = slices.Insert(g.Tools, i, name)
	}
}

// count counts a word of a closed set, if there is one.
func count[W ~string](counts *map[W]int64, word W) {
	if word == "" {
		return
	}
	if *counts == nil {
		*counts = make(map[W]int64)
	}
	(*counts)[word]++
}

// sorted puts what is read first, then what comes most often.
func (g groups) sorted() []*Group {
	out := make([]*Group, 0, len(g))
	for _, group := range g {
		out = append(out, group)
	}
	slices.SortFunc(out, func(a, b *Group) int {
		return cmp.Or(
			cmp.Compare(b.Reads, a.Reads), cmp.Compare(b.Items, a.Items),
			cmp.Compare(a.Signal, b.Signal), cmp.Compare(a.Dialect, b.Dialect), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name),
		)
	})
	return out
}
