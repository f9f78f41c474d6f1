// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"iter"
	"math"

	"github.com/readtrail/readtrail/internal/content"
)

// Value is an AnyValue. The zero Value is the empty one, which OTLP does not tell
// from one that is not there.
type Value struct {
	kind content.Kind
	// text is a string or bytes, bits what a number or bool is.
	text     string
	bits     uint64
	children []Member
}

// Member is a KeyValue of a map, or an element of an array, which has no name.
type Member struct {
	Name  string
	Value Value
}

var _ content.Node = (*Value)(nil)

// Kind implements content.Node, as the methods behind it do.
func (v *Value) Kind() content.Kind { return v.kind }

// Str returns the text of a string.
func (v *Value) Str() string { return v.text }

// Int returns the number of an int.
func (v *Value) Int() int64 { return int64(v.bits) }

// Double returns the number of a double.
func (v *Value) Double() float64 { return math.Float64frombits(v.bits) }

// Bool returns the value of a bool.
func (v *Value) Bool() bool { return v.bits != 0 }

// Bytes returns the bytes of a value of bytes.
func (v *Value) Bytes() []byte { return []byte(v.text) }

// Len returns the number of members or elements.
func (v *Value) Len() int { return len(v.children) }

// Children implements content.Node.
func (v *Value) Children() iter.Seq2[string, content.Node] {
	return func(yield func(string, content.Node) bool) {
		for i := range v.children {
			if m := &v.children[i]; !yield(m.Name, &m.Value) {
				return
			}
		}
	}
}

// Members returns the members of a map or the elements of an array, which must not
// be changed.
func (v *Value) Members() []Member { return v.children }

// Without returns a map of those members for which drop says no.
func (v *Value) Without(drop func(name string) bool) *Value {
	rest := &Value{kind: content.KindMap}
	for _, m := range v.children {
		if !drop(m.Name) {
			rest.children = append(rest.children, m)
		}
	}
	return rest
}

// Get returns the member of a map with a name, or nil.
func (v *Value) Get(name string) *Value {
	for i := range v.children {
		if v.children[i].Name == name {
			return &v.children[i].Value
		}
	}
	return nil
}

// String, Int, Bool and the like make values, for requests that are made here.
func String(s string) Value { return Value{kind: content.KindString, text: s} }

// Integer makes an int.
func Integer(n int64) Value { return Value{kind: content.KindInt, bits: uint64(n)} }

// Double makes a double.
func Double(d float64) Value { return Value{kind: content.KindDouble, bits: math.Float64bits(d)} }

// Bool makes a bool.
func Bool(b bool) Value {
	v := Value{kind: content.KindBool}
	if b {
		v.bits = 1
	}
	return v
}

// Bytes makes a value of bytes.
func Bytes(b []byte) Value { return Value{kind: content.KindBytes, text: string(b)} }

// Array makes an array.
func Array(elements ...Value) Value {
	v := Value{kind: content.KindArray}
	for _, e := range elements {
		v.children = append(v.children, Member{Value: e})
	}
	return v
}

// Map makes a map.
func Map(members ...Member) Value { return Value{kind: content.KindMap, children: members} }
