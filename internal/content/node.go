// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "iter"

// Kind is the kind of a structured value.
type Kind uint8

// The kinds of an OTLP AnyValue.
const (
	KindEmpty Kind = iota
	KindString
	KindInt
	KindDouble
	KindBool
	KindBytes
	KindMap
	KindArray
)

// Node is a read-only view of a value that telemetry carries as a structure.
// Each accessor is called only for its kind.
type Node interface {
	Kind() Kind
	Str() string
	Int() int64
	Double() float64
	Bool() bool
	Bytes() []byte
	// Len is the number of members of a map or elements of an array.
	Len() int
	// Children are the members of a map in the order received, which may
	// repeat a name, or the elements of an array under the name "".
	Children() iter.Seq2[string, Node]
}
