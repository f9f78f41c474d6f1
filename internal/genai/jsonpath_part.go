// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/readtrail/readtrail/internal/content"
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

// located returns the parts that the path selects, as they were received, at
// most maxDocuments+1.
func (v compiledValue) located(c *contents) []value {
	switch {
	case v.arguments != nil:
		return c.arguments.parts(v.arguments)
	case v.result != nil:
		if out := c.result.parts(v.result); len(out) > 0 {
			return out
		}
		return c.result.carried().parts(v.result)
	default:
		return nil
	}
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
	var out []*contents
	add := func(element value) {
		one := *c
		if side := (&tree{value: element}); v.arguments != nil {
			one.arguments = side
		} else {
			side.payload = nothing
			one.result = side
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
var nothing = &tree{parsed: true}

// parts returns what a path selects as it was received. Of more than
// maxDocuments, which are too many for a read, it returns only that they are:
// the places of millions of small values take a hundred times their memory.
func (t *tree) parts(path *jsonpath.Path) []value {
	out, known := t.located[path]
	if t.parse(); known || t.root == nil {
		return out
	}
	if t.branch == nil {
		t.branch = &branch{value: t.value}
	}
	if len(path.Select(t.root)) > maxDocuments {
		out = make([]value, maxDocuments+1)
	} else {
		for _, node := range path.SelectLocated(t.root) {
			out = append(out, t.branch.at(node.Path))
		}
	}
	if t.located == nil {
		t.located = map[*jsonpath.Path][]value{}
	}
	t.located[path] = out
	return out
}
