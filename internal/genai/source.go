// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// field is something that a row can say where to find.
type field int

// The fields. arguments and result are what was asked and what was answered,
// as a whole; query is the text of a search in an index.
const (
	toolName field = iota
	toolCallID
	toolVersion
	arguments
	result
	query
	topK
	indexID
	storeID
	memoryOperation
	entryID
	documentURI
	conversationID
	executionID
	requestID
	agentID
	agentName
	agentVersion
	model

	// The fields of a model call: what was sent, how many messages that were, what
	// was answered, and who answered.
	inputMessages
	inputLength
	systemInstructions
	toolDefinitions
	outputMessages
	modelProvider
	requestModel
	responseModel
	fieldCount
)

// fields says for each field where to look, in order.
type fields map[field][]source

// plus returns fields with others laid over them.
func (f fields) plus(others fields) fields {
	out := make(fields, len(f)+len(others))
	for _, m := range []fields{f, others} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// or returns fields that look where others look after where they look
// themselves.
func (f fields) or(others fields) fields {
	out := f.plus(nil)
	for k, v := range others {
		out[k] = first(out[k], v)
	}
	return out
}

// source is one place where a field can stand.
type source struct {
	read func(*item) value
	// keys are the attributes that are read, in the notation of the places of
	// internal/content (a segment ** stands for any number of segments).
	keys []string
	// path leads into the value: names of members of objects, which may be JSON
	// in a string.
	path []string
	// basis is set if what is read is not a value as received.
	basis record.Basis
	// unwanted says that a value is not what the source is read for.
	unwanted func(value) bool
}

// attr reads attributes, the first that has a value.
func attr(keys ...string) []source {
	out := make([]source, 0, len(keys))
	for _, key := range keys {
		out = append(out, source{keys: []string{key}, read: func(it *item) value { return it.value(key) }})
	}
	return out
}

// spanName reads the span name.
func spanName() []source { return nameTail("") }

// nameTail reads what follows a prefix in the span name. Names are free text,
// so only a single word is taken.
func nameTail(prefix string) []source {
	return []source{{read: func(it *item) value {
		tail, ok := strings.CutPrefix(it.name, prefix)
		if !ok || token(tail) == "" {
			return value{}
		}
		return valueOf(pcommon.NewValueStr(tail))
	}}}
}

// inside reads a part of what other sources read. The part is not what was
// received, and the record says so.
func inside(sources []source, path ...string) []source {
	out := make([]source, 0, len(sources))
	for _, s := range sources {
		s.path = append(append([]string{}, s.path...), path...)
		s.basis = record.BasisUnwrapped
		out = append(out, s)
	}
	return out
}

// unwrapped reads a part of what other sources read if that is a wrapper: an
// object that has all of the members which a library writes around the part.
// Other objects are what was received, even if a member has the name of the part.
func unwrapped(sources []source, part string, others ...string) []source {
	out := make([]source, 0, len(sources))
	for _, s := range sources {
		out = append(out, source{keys: s.keys, basis: record.BasisUnwrapped, read: func(it *item) value {
			members, ok := s.at(it).object()
			if !ok || slices.ContainsFunc(others, func(name string) bool { _, ok := members[name]; return !ok }) {
				return value{}
			}
			return members[part]
		}})
	}
	return out
}

// maxGathered bounds the members of an object that gathered makes.
const maxGathered = 1000

// gathered makes one object of attributes that each hold a member of it: the
// name of a member is what stands between prefix and suffix.
func gathered(prefix, suffix string) []source {
	return []source{{keys: []string{prefix + "**"}, basis: record.BasisReassembled, read: func(it *item) value {
		object := pcommon.NewValueMap()
		for key, v := range it.attrs.All() {
			name, begins := strings.CutPrefix(key, prefix)
			name, ends := strings.CutSuffix(name, suffix)
			if begins && ends && name != "" && v.Type() != pcommon.ValueTypeEmpty {
				v.CopyTo(object.Map().PutEmpty(name))
			}
			if object.Map().Len() > maxGathered {
				return value{}
			}
		}
		if object.Map().Len() == 0 {
			return value{}
		}
		return valueOf(object)
	}}}
}

// except reads sources whose value is not sometimes something else.
func except(unwanted func(value) bool, sources []source) []source {
	out := make([]source, 0, len(sources))
	for _, s := range sources {
		s.unwanted = unwanted
		out = append(out, s)
	}
	return out
}

// isObject reports whether a value is an object, where a text is looked for.
func isObject(v value) bool {
	_, ok := v.object()
	return ok
}

// provided reads sources only if a condition holds: for keys that hold
// different things at different times.
func provided(c condition, sources []source) []source {
	out := make([]source, 0, len(sources))
	for _, s := range sources {
		out = append(out, source{keys: s.keys, basis: s.basis, read: func(it *item) value {
			if !c.holds(it) {
				return value{}
			}
			return s.at(it)
		}})
	}
	return out
}

// isSchema reports whether a value is the JSON Schema of a tool's parameters, or
// the schemas of each of them by name, which libraries put where others put the
// arguments.
func isSchema(v value) bool {
	members, ok := v.object()
	if !ok {
		return false
	}
	_, hasProperties := members["properties"].object()
	return members["$schema"].ok || hasProperties && members["type"].text() == "object" || areSchemas(members)
}

// schemaTypes are the types of JSON Schema, and those that smolagents adds.
var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null", "any", "image", "audio"}

// areSchemas reports whether each member describes a parameter by its type.
func areSchemas(members map[string]value) bool {
	for _, v := range members {
		parameter, ok := v.object()
		if !ok || !parameter["description"].ok || !slices.Contains(schemaTypes, parameter["type"].text()) {
			return false
		}
	}
	return len(members) > 0
}

// first lists sources one after the other.
func first(lists ...[]source) []source {
	var out []source
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// at returns what stands at the source.
func (s *source) at(it *item) value {
	v := s.read(it)
	if len(s.path) > 0 {
		v = v.at(s.path)
	}
	if s.unwanted != nil && s.unwanted(v) {
		return value{}
	}
	return v
}

// find returns the first value that the sources of a field have. A string
// that stands for content which was left out is a value only if nothing else
// is: two libraries may trace one call, of which only one was told to leave it.
func (r *compiledRow) find(it *item, f field) (value, record.Basis) {
	var leftOut value
	for i := range r.sources[f] {
		s := &r.sources[f][i]
		v := s.at(it)
		if !v.ok {
			continue
		}
		if text, isString := v.str(); !isString || !content.IsPlaceholder(text) {
			return v, s.basis
		}
		if before, _ := leftOut.str(); before == "" {
			leftOut = v
		}
	}
	return leftOut, ""
}

// maxPattern bounds the text that a pattern of the configuration is tried on,
// in bytes.
const maxPattern = 4 << 10

// pattern returns the text of a field that the patterns of the configuration
// are tried on, whether it may enter a record or not; it never does.
func (r *compiledRow) pattern(it *item, f field) string {
	for i := range r.sources[f] {
		if text := r.sources[f][i].at(it).text(); text != "" && len(text) <= maxPattern && !content.IsPlaceholder(text) {
			return text
		}
	}
	return ""
}

// accepted returns the first text among the sources of a field that has a
// shape, or "".
func (r *compiledRow) accepted(it *item, f field, shape func(string) string) string {
	for i := range r.sources[f] {
		if text := shape(r.sources[f][i].at(it).text()); text != "" {
			return text
		}
	}
	return ""
}
