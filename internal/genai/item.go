// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// item is a span or a log record as the table sees it.
type item struct {
	signal record.Signal
	scope  pcommon.InstrumentationScope
	// name is the span name, or the event name of a log record.
	name  string
	kind  ptrace.SpanKind
	attrs pcommon.Map
	// resource are the attributes of what the item is from.
	resource pcommon.Map
	index    map[string]pcommon.Value
	events   []ptrace.SpanEvent
	// dropped is how many attributes and events the SDK left out.
	dropped uint64
	// body is that of a log record; a span's is empty.
	body  value
	cache *telemetry.Cache
	// keys are those of the attributes, once the item has been recognized.
	keys      *keyFilter
	keysKnown bool
	// lifting is where the item's record is built, and paper where it is written.
	lifting *lifting
	paper   *paper
	// before is what was found of the item before.
	before *before
}

// before is what items that follow each other mostly have in common.
type before struct {
	// scoped are the rows of a scope's name, in a table.
	table  *rowIndex
	scope  string
	scoped rowSet
	// clear are the texts that may stand in clear in the places of a name.
	clear [4]clearText
	// execution is an id that an application gave.
	execution string
}

// clearText is a text that may stand in clear in the place of a segment.
type clearText struct {
	segment *nameSegment
	text    string
}

// paper is where the record of an item is written.
type paper struct {
	written           bool
	read              record.Read
	context           record.Context
	skeleton          record.Span
	contents          contents
	arguments, result tree
	basis             map[string]record.Basis
}

// indexFrom is the number of attributes from which looking keys up one by one
// costs more than indexing them once.
const indexFrom = 48

// maxEvents bounds the span events that are looked at.
const maxEvents = 10_000

// items are used again, since most spans have nothing else that costs memory.
var items = sync.Pool{New: func() any { return &item{keys: &keyFilter{}, lifting: &lifting{}, paper: &paper{}, before: &before{}} }}

// release gives the item back. Nothing of it may be used any more.
func (it *item) release() {
	it.reset()
	items.Put(it)
}

// reset forgets what the item was, but keeps the memory of its lists.
func (it *item) reset() {
	it.lifting.reset()
	if it.paper.written {
		clear(it.paper.basis)
		*it.paper = paper{basis: it.paper.basis}
	}
	clear(it.events)
	*it.keys = keyFilter{}
	events, k, l, p, b := it.events[:0], it.keys, it.lifting, it.paper, it.before
	*it = item{} // in place: with the five it would be made elsewhere and copied
	it.events, it.keys, it.lifting, it.paper, it.before = events, k, l, p, b
}

func (l *lifting) reset() {
	if l.item != nil {
		noted := l.noted[:0]
		*l = lifting{}
		l.noted = noted
	}
}

// lift returns where the item's record is built.
func (it *item) lift(row *compiledRow) *lifting {
	it.lifting.reset()
	it.lifting.item, it.lifting.row = it, row
	return it.lifting
}

func spanItem(in SpanInput) *item {
	it := items.Get().(*item)
	it.signal = record.SignalSpan
	it.scope = in.Scope
	it.name = in.Span.Name()
	it.kind = in.Span.Kind()
	it.attrs = in.Span.Attributes()
	it.dropped = uint64(in.Span.DroppedAttributesCount()) + uint64(in.Span.DroppedEventsCount())
	it.resource = in.Resource.Attributes()
	it.cache = in.Cache
	for i := range min(in.Span.Events().Len(), maxEvents) {
		it.events = append(it.events, in.Span.Events().At(i))
	}
	it.prepare()
	return it
}

func logItem(in LogInput) *item {
	it := items.Get().(*item)
	it.signal = record.SignalLog
	it.scope = in.Scope
	it.name = in.Log.EventName()
	it.attrs = in.Log.Attributes()
	it.dropped = uint64(in.Log.DroppedAttributesCount())
	it.body = valueOf(in.Log.Body())
	it.resource = in.Resource.Attributes()
	it.cache = in.Cache
	it.prepare()
	// Until OpenTelemetry 1.5 of the log data model an event's name was an
	// attribute, and some libraries put the place in their source into the
	// newer field, so the attribute wins.
	if name := it.text("event.name"); name != "" {
		it.name = name
	}
	return it
}

func (it *item) prepare() {
	if it.cache == nil {
		it.cache = &telemetry.Cache{}
	}
	if n := it.attrs.Len(); n >= indexFrom {
		it.index = make(map[string]pcommon.Value, n)
		for key, v := range it.attrs.All() {
			if _, repeated := it.index[key]; !repeated {
				it.index[key] = v
			}
		}
	}
}

// get returns an attribute. One without a value is absent, and of a repeated
// key the first counts.
func (it *item) get(key string) (pcommon.Value, bool) {
	if it.keysKnown && !it.keys.mayHold(filterBit(key)) {
		return pcommon.Value{}, false
	}
	var v pcommon.Value
	var ok bool
	if it.index != nil {
		v, ok = it.index[key]
	} else {
		v, ok = it.attrs.Get(key)
	}
	return v, ok && v.Type() != pcommon.ValueTypeEmpty
}

// value returns an attribute, as one that can be absent.
func (it *item) value(key string) value {
	v, ok := it.get(key)
	if !ok {
		return value{}
	}
	return valueOf(v)
}

// text returns an attribute that is a string or an integer, or "".
func (it *item) text(key string) string {
	v, ok := it.get(key)
	if !ok {
		return ""
	}
	return scalar(v)
}

// isOneOf reports whether the text of an attribute is one of the values, of
// which none is empty.
func (it *item) isOneOf(key string, values []string) bool {
	v, ok := it.get(key)
	if !ok {
		return false
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return slices.Contains(values, v.Str())
	case pcommon.ValueTypeInt:
		var buf [20]byte
		digits := strconv.AppendInt(buf[:0], v.Int(), 10)
		return slices.ContainsFunc(values, func(s string) bool { return s == string(digits) })
	default:
		return false
	}
}

// event returns an attribute of the first span event with a name.
func (it *item) event(name, key string) (pcommon.Value, bool) {
	for _, e := range it.events {
		if e.Name() != name {
			continue
		}
		if v, ok := e.Attributes().Get(key); ok && v.Type() != pcommon.ValueTypeEmpty {
			return v, true
		}
	}
	return pcommon.Value{}, false
}

func scalar(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return v.Str()
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(v.Int(), 10)
	default:
		return ""
	}
}
