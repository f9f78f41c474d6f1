// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// branch is a part of a value, found again by its place. A container is taken
// apart once, however many parts of it are asked for.
type branch struct {
	value    value
	members  map[string]value
	elements []value
	inside   map[spec.NormalSelector]*branch
}

// at follows a normalized path to the part that stands there, as it was
// received.
func (b *branch) at(path spec.NormalizedPath) value {
	for _, step := range path {
		b = b.step(step)
	}
	return b.value
}

func (b *branch) step(step spec.NormalSelector) *branch {
	if known := b.inside[step]; known != nil {
		return known
	}
	var v value
	switch s := step.(type) {
	case spec.Name:
		if b.members == nil {
			b.members, _ = b.value.object()
		}
		v = b.members[string(s)]
	case spec.Index:
		if b.elements == nil {
			b.elements, _ = b.value.elements(maxIndexed)
		}
		if int(s) < len(b.elements) {
			v = b.elements[s]
		}
	}
	if b.inside == nil {
		b.inside = map[spec.NormalSelector]*branch{}
	}
	next := &branch{value: v}
	b.inside[step] = next
	return next
}

// maxIndexed bounds the elements of an array that are found again: a larger
// value is not looked into.
const maxIndexed = content.MaxJSONBytes

// isPlace reports whether the value is a path.
func (v compiledValue) isPlace() bool { return v.arguments != nil || v.result != nil }

// partsOfResult returns the parts that a path selects as fromResult does.
func (c *contents) partsOfResult(path *jsonpath.Path, limit int) []value {
	if out := c.result.parts(path, limit); len(out) > 0 {
		return out
	}
	return c.carried().parts(path, limit)
}

// located returns the parts that the path selects, at most maxDocuments+1.
func (v compiledValue) located(c *contents) []value {
	switch {
	case v.arguments != nil:
		return c.arguments.parts(v.arguments, maxDocuments)
	case v.result != nil:
		return c.partsOfResult(v.result, maxDocuments)
	default:
		return nil
	}
}

// located returns the parts that the path selects, at most maxFields+1.
func (f compiledField) located(c *contents) []value {
	if f.in == record.FieldInArguments {
		return c.arguments.parts(f.path, maxFields)
	}
	return c.partsOfResult(f.path, maxFields)
}

// part returns the part that the path selects if there is exactly one.
func (v compiledValue) part(c *contents) value {
	if parts := v.located(c); len(parts) == 1 {
		return parts[0]
	}
	return value{}
}

// each returns the contents of a read once for each element of the list to which
// the path leads, with the element in place of the side on which it stands.
// Elements are those of the arrays that it selects, and whatever else it
// selects. It is not ok if it selects nothing.
func (v compiledValue) each(c *contents) ([]*contents, bool) {
	parts := v.located(c)
	if v.arguments != nil {
		c.carried() // once, and not for each element
	}
	var out []*contents
	add := func(element value) {
		one := *c
		if side := (&tree{value: element, element: true}); v.arguments != nil {
			one.arguments = side
		} else {
			one.result, one.payload = side, nothing
		}
		out = append(out, &one)
	}
	for _, p := range parts {
		elements, isArray := p.elements(maxDocuments)
		if !isArray {
			add(p)
			continue
		}
		for _, e := range elements {
			if len(out) > maxDocuments {
				break
			}
			add(e)
		}
	}
	return out, len(parts) > 0
}

// nothing is a tree of which no path selects anything.
var nothing = &tree{parsed: true, element: true}

// parts returns what a path selects as it was received, in the order of
// selected. If that is more than limit, it returns limit+1 values that say
// nothing but that.
func (t *tree) parts(path *jsonpath.Path, limit int) []value {
	return remembered(t, &t.found, path, func() []value { return t.partsAt(path, limit) })
}

func (t *tree) partsAt(path *jsonpath.Path, limit int) []value {
	nodes, places := t.selected(path, limit)
	switch {
	case len(nodes) == 0:
		return nil
	case len(nodes) > limit:
		return make([]value, limit+1)
	}
	if t.branch == nil {
		t.branch = &branch{value: t.value}
	}
	out := make([]value, 0, len(places))
	for _, place := range places {
		out = append(out, t.branch.at(place))
	}
	return out
}
