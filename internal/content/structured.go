// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/readtrail/readtrail/record"
)

// OfNode digests a structured value. A scalar at the top is digested as if it
// were text: a string as OfString does, numbers and bools by their JSON
// spelling, bytes as they are. An object or array has the form jcs if JSON
// text of the same value would have it, otherwise json or, if JSON cannot hold
// the value, otlp_json. An empty AnyValue inside a structure is JSON's null.
func (k *Key) OfNode(n Node) Digest {
	switch n.Kind() {
	case KindString:
		return k.OfString(n.Str())
	case KindBytes:
		return k.OfRaw(n.Bytes())
	case KindInt, KindDouble, KindBool:
		return ofRaw(k, appendScalar(nil, n), record.CapturedContent)
	case KindMap, KindArray:
		return ofStructure(k, n)
	default:
		return Digest{State: record.CapturedNothing}
	}
}

func ofStructure(k *Key, n Node) Digest {
	w := hashWriter{hash: k.NewHash()}
	facts := writeJSON(&w, n)
	form := FormJCS
	switch {
	case !facts.notJSON && facts.leaves.onlyPlaceholders():
		return placeholder
	case facts.notJSON:
		w = hashWriter{hash: k.NewHash()}
		writeOTLP(&w, n)
		form = FormOTLPJSON
	case facts.inexact || facts.depth > MaxJSONDepth || w.size > MaxJSONBytes:
		form = FormJSON
	}
	return w.end(k, form, facts.leaves.state())
}

// facts are what decides the form and the state of a structured value.
type facts struct {
	notJSON bool // bytes, NaN, infinity, a repeated name or invalid UTF-8
	inexact bool // a number that RFC 8785 would change
	depth   int
	leaves  leaves
}

// member is a named child while its parent is written.
type member struct {
	name string
	node Node
}

// frame is a container that is being written. Frames stand on a slice and not
// on the call stack, which a hostile depth would exhaust.
type frame struct {
	children []member
	next     int
	object   bool
}

func open(n Node) frame {
	f := frame{object: n.Kind() == KindMap, children: make([]member, 0, n.Len())}
	for name, child := range n.Children() {
		f.children = append(f.children, member{name, child})
	}
	return f
}

// writeJSON writes a structured value in the form json, which is jcs if every
// number survives, and stops early when it meets what JSON cannot hold.
func writeJSON(w *hashWriter, n Node) (f facts) {
	var stack []frame
	push := func(n Node) {
		top := open(n)
		bracket := byte('[')
		if top.object {
			bracket = '{'
			slices.SortFunc(top.children, func(a, b member) int { return compareUTF16(a.name, b.name) })
			for i := range top.children {
				if !utf8.ValidString(top.children[i].name) || i > 0 && top.children[i].name == top.children[i-1].name {
					f.notJSON = true
				}
			}
		}
		w.byte(bracket)
		stack = append(stack, top)
		f.depth = max(f.depth, len(stack))
	}
	push(n)
	var scratch [32]byte
	for len(stack) > 0 && !f.notJSON {
		top := &stack[len(stack)-1]
		if top.next == len(top.children) {
			w.byte(closing(top.object))
			stack = stack[:len(stack)-1]
			continue
		}
		child := top.children[top.next]
		if top.next++; top.next > 1 {
			w.byte(',')
		}
		if top.object {
			w.quoted(child.name)
			w.byte(':')
		}
		switch child.node.Kind() {
		case KindMap, KindArray:
			push(child.node)
		case KindString:
			f.notJSON = !utf8.ValidString(child.node.Str())
			addLeaf(&f.leaves, child.node.Str())
			w.quoted(child.node.Str())
		case KindBytes:
			f.leaves.content = true
			f.notJSON = true
		case KindInt:
			f.leaves.content = true
			f.inexact = f.inexact || !integerSurvives(child.node.Int())
			w.bytes(appendScalar(scratch[:0], child.node))
		case KindDouble:
			f.leaves.content = true
			d := child.node.Double()
			f.notJSON = math.IsNaN(d) || math.IsInf(d, 0)
			f.inexact = f.inexact || d == 0 && math.Signbit(d)
			w.bytes(appendScalar(scratch[:0], child.node))
		default:
			f.leaves.content = f.leaves.content || child.node.Kind() == KindBool
			w.bytes(appendScalar(scratch[:0], child.node))
		}
	}
	return f
}

func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}
