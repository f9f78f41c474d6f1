// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// writeOTLP writes a structured value in the form otlp_json: the OTLP/JSON
// encoding of the AnyValue in RFC 8785, members of maps in the order received.
//
// Two things that OTLP/JSON or RFC 8785 would lose are spelled so that
// different values stay different: a double of negative zero is the string
// "-0", and a string or name that is not UTF-8 stands in base64 under
// invalidUtf8Value or invalidUtf8Key.
func writeOTLP(w *hashWriter, n Node) {
	stack := []frame{openOTLP(w, n)}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.children) {
			closeOTLP(w, top)
			if stack = stack[:len(stack)-1]; len(stack) > 0 && stack[len(stack)-1].object {
				w.byte('}')
			}
			continue
		}
		child := top.children[top.next]
		if top.next++; top.next > 1 {
			w.byte(',')
		}
		object := top.object
		if object {
			writeOTLPName(w, child.name)
		}
		switch child.node.Kind() {
		case KindMap, KindArray:
			stack = append(stack, openOTLP(w, child.node))
			continue
		default:
			writeOTLPScalar(w, child.node)
		}
		if object {
			w.byte('}')
		}
	}
}

func openOTLP(w *hashWriter, n Node) frame {
	f := open(n)
	if f.object {
		w.string(`{"kvlistValue":{`)
	} else {
		w.string(`{"arrayValue":{`)
	}
	if len(f.children) > 0 {
		w.string(`"values":[`)
	}
	return f
}

func closeOTLP(w *hashWriter, f *frame) {
	if len(f.children) > 0 {
		w.byte(']')
	}
	w.string("}}")
}

// writeOTLPName opens a KeyValue. Protobuf's JSON mapping leaves out an empty
// key.
func writeOTLPName(w *hashWriter, name string) {
	w.byte('{')
	switch {
	case name == "":
	case utf8.ValidString(name):
		w.string(`"key":`)
		w.quoted(name)
		w.byte(',')
	default:
		w.string(`"invalidUtf8Key":`)
		w.quoted(base64.StdEncoding.EncodeToString([]byte(name)))
		w.byte(',')
	}
	w.string(`"value":`)
}

func writeOTLPScalar(w *hashWriter, n Node) {
	w.byte('{')
	switch n.Kind() {
	case KindString:
		if s := n.Str(); utf8.ValidString(s) {
			w.string(`"stringValue":`)
			w.quoted(s)
		} else {
			w.string(`"invalidUtf8Value":`)
			w.quoted(base64.StdEncoding.EncodeToString([]byte(s)))
		}
	case KindBytes:
		w.string(`"bytesValue":`)
		w.quoted(base64.StdEncoding.EncodeToString(n.Bytes()))
	case KindInt: // 64-bit integers are strings in protobuf's JSON mapping
		w.string(`"intValue":`)
		w.quoted(strconv.FormatInt(n.Int(), 10))
	case KindDouble:
		w.string(`"doubleValue":`)
		spelling := string(appendScalar(nil, n))
		if d := n.Double(); math.IsNaN(d) || math.IsInf(d, 0) || d == 0 && math.Signbit(d) {
			w.quoted(spelling)
		} else {
			w.string(spelling)
		}
	case KindBool:
		w.string(`"boolValue":`)
		w.string(strconv.FormatBool(n.Bool()))
	}
	w.byte('}')
}
