// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// eventAttr reads an attribute of the first span event with a name.
func eventAttr(event, key string) []source {
	return []source{{keys: []string{key}, read: func(it *item) value {
		v, ok := it.event(event, key)
		if !ok {
			return value{}
		}
		return valueOf(v)
	}}}
}

// onlyEventAttr reads an attribute of the span event with a name, if there is
// exactly one: of several, none is what the span as a whole is about.
func onlyEventAttr(event, key string) []source {
	return []source{{keys: []string{key}, read: func(it *item) value {
		values := eventValues(it, event, key)
		if len(values) != 1 {
			return value{}
		}
		return valueOf(values[0])
	}}}
}

// allEventsAttr reads an attribute of several span events with a name, as one
// array.
func allEventsAttr(event, key string) []source {
	return []source{{keys: []string{key}, basis: record.BasisReassembled, read: func(it *item) value {
		values := eventValues(it, event, key)
		if len(values) < 2 || len(values) > maxGathered {
			return value{}
		}
		array := pcommon.NewValueSlice()
		for _, v := range values {
			v.CopyTo(array.Slice().AppendEmpty())
		}
		return valueOf(array)
	}}}
}

func eventValues(it *item, event, key string) []pcommon.Value {
	var out []pcommon.Value
	for _, e := range it.events {
		if e.Name() != event {
			continue
		}
		if v, ok := e.Attributes().Get(key); ok && v.Type() != pcommon.ValueTypeEmpty {
			out = append(out, v)
		}
	}
	return out
}

// wholeEvent reads the first span event with a name as one object of its
// attributes, without some that say something else. The event has to be one
// that consists of content (internal/content), so that no key of it is named
// here.
func wholeEvent(event string, without ...string) []source {
	return []source{{basis: record.BasisReassembled, read: func(it *item) value {
		i := slices.IndexFunc(it.events, func(e ptrace.SpanEvent) bool { return e.Name() == event })
		if i < 0 {
			return value{}
		}
		return attributesOf(it.events[i], without)
	}}}
}

// attributesOf makes one object of an event's attributes, without some. Of too
// many it makes none: a part would not be what was received.
func attributesOf(e ptrace.SpanEvent, without []string) value {
	object := pcommon.NewValueMap()
	if e.Attributes().Len() > maxGathered {
		return value{}
	}
	for key, v := range e.Attributes().All() {
		if v.Type() != pcommon.ValueTypeEmpty && !slices.Contains(without, key) {
			v.CopyTo(object.Map().PutEmpty(key))
		}
	}
	if object.Map().Len() == 0 {
		return value{}
	}
	return valueOf(object)
}
