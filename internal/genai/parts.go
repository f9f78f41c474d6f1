// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/readtrail/readtrail/record"
)

// values returns what the path of a field selects, from a result as fromResult
// does. It fails if that is more than may be kept.
func (c *contents) values(f compiledField) ([]value, bool) {
	if f.in == record.FieldInArguments {
		return c.arguments.values(f.path)
	}
	if out, ok := c.result.values(f.path); !ok || len(out) > 0 {
		return out, ok
	}
	return c.result.carried().values(f.path)
}

// values returns the parts of the tree's value that a path selects, as they
// were received. It fails if there are more than 1000.
func (t *tree) values(path *jsonpath.Path) ([]value, bool) {
	nodes, places := t.selected(path)
	if len(nodes) != len(places) {
		return nil, false
	}
	return partsAt(t.value, places, 0, nil), true
}

// partsAt appends the parts of v at sorted places, of which the first level
// steps lead to v. It opens each object and array on the way once.
func partsAt(v value, places []spec.NormalizedPath, level int, out []value) []value {
	for ; len(places) > 0 && len(places[0]) == level; places = places[1:] {
		out = append(out, v)
	}
	if len(places) == 0 {
		return out
	}
	var members map[string]value
	var elements []value
	switch last := places[len(places)-1][level].(type) {
	case spec.Name:
		members, _ = v.object()
	case spec.Index: // the largest: a long array is read no further
		elements, _ = v.elements(int(last))
	}
	for len(places) > 0 {
		step := places[0][level]
		same := 1
		for same < len(places) && places[same][level] == step {
			same++
		}
		var part value
		switch s := step.(type) {
		case spec.Name:
			part = members[string(s)]
		case spec.Index:
			if int(s) < len(elements) {
				part = elements[s]
			}
		}
		out = partsAt(part, places[:same], level+1, out)
		places = places[same:]
	}
	return out
}
