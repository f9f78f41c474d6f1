// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package telemetry lets internal/content read OpenTelemetry data: it adapts
// pdata values to content.Node without copying them, and remembers the digests
// of one item so that recording and stripping digest a value once.
package telemetry

import (
	"iter"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// Node views a value as content does.
func Node(v pcommon.Value) content.Node { return node{v} }

type node struct{ pcommon.Value }

func (n node) Kind() content.Kind { return kindOf(n.Value) }

// kindOf returns the kind of a value.
func kindOf(v pcommon.Value) content.Kind {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return content.KindString
	case pcommon.ValueTypeInt:
		return content.KindInt
	case pcommon.ValueTypeDouble:
		return content.KindDouble
	case pcommon.ValueTypeBool:
		return content.KindBool
	case pcommon.ValueTypeBytes:
		return content.KindBytes
	case pcommon.ValueTypeMap:
		return content.KindMap
	case pcommon.ValueTypeSlice:
		return content.KindArray
	default:
		return content.KindEmpty
	}
}

func (n node) Bytes() []byte { return n.Value.Bytes().AsRaw() }

func (n node) Len() int {
	if n.Type() == pcommon.ValueTypeMap {
		return n.Map().Len()
	}
	return n.Slice().Len()
}

func (n node) Children() iter.Seq2[string, content.Node] {
	if n.Type() == pcommon.ValueTypeMap {
		return func(yield func(string, content.Node) bool) {
			for name, v := range n.Map().All() {
				if !yield(name, node{v}) {
					return
				}
			}
		}
	}
	return func(yield func(string, content.Node) bool) {
		for _, v := range n.Slice().All() {
			if !yield("", node{v}) {
				return
			}
		}
	}
}
