// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"math/bits"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// row is one line of the recognition table.
type row struct {
	// dialect is the convention, as observed_by names it; "" for conventions
	// that are not about agents.
	dialect string
	// signal is what the row is about; "" means spans.
	signal record.Signal
	when   condition
	class  Class
	fields fields
	// documents says where the documents of a retrieval or the entries of a
	// memory stand, in order of preference.
	documents []documentSource
	// names are templates of span names that are harmless (see nameTemplate).
	names []string
	// noise are empty JSON values that the dialect writes where it was told to
	// leave content out.
	noise bool
	// effect says what external system a span touched, and edge how it was handed
	// over, for lineage. They hold for whatever class another row gives the span.
	effect func(*lifting) *record.Effect
	edge   func(*item, ptrace.Span) record.EdgeType
	// outcome says how the item ended where a library says it in an attribute of
	// its own. It may be nil.
	outcome func(*item) record.Status
}

// maxRows bounds the rows of one signal.
const maxRows = 64 * len(rowSet{})

// rowSet is a set of rows by their place in the table.
type rowSet [4]uint64

func (s *rowSet) add(row int) { s[row/64] |= 1 << (row % 64) }

func (s *rowSet) unite(t *rowSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *rowSet) intersect(t *rowSet) {
	for i := range s {
		s[i] &= t[i]
	}
}

// table holds the rows in the order in which they are tried.
type table struct {
	spans, logs rowIndex
}

// rowIndex finds the rows that may be an item's by its keys, their values, names
// and events.
type rowIndex struct {
	rows    []compiledRow
	byKey   [filterBits]*keyRows // by filterBit
	keys    keyFilter            // of byKey, in less memory
	byEvent map[string]*rowSet
	scopes  nameIndex
	names   nameIndex
	// always are the rows whose conditions have no triggers.
	always rowSet
	// effects are the rows that have an effect.
	effects rowSet
}

type compiledRow struct {
	row
	// event is the event type of a row whose class is a read, else "".
	event   string
	sources [fieldCount][]source
	names   []nameTemplate
}

// newTable compiles rows. It fails if there are more than a set can hold.
func newTable(rows []row) (*table, error) {
	t := &table{}
	for _, r := range rows {
		index := &t.spans
		if r.signal == record.SignalLog {
			index = &t.logs
		}
		if len(index.rows) == maxRows {
			return nil, fmt.Errorf("recognition table has more than %d rows of one signal", maxRows)
		}
		index.add(r)
	}
	return t, nil
}

func compileRow(r row) compiledRow {
	c := compiledRow{row: r, event: eventTypes[r.class]}
	known := r.fields
	if r.class == ClassInference {
		known = known.or(modelCall(r.dialect))
	}
	for f, sources := range known {
		c.sources[f] = sources
	}
	for _, name := range r.names {
		c.names = append(c.names, parseName(name))
	}
	return c
}

func (x *rowIndex) add(r row) {
	n := len(x.rows)
	x.rows = append(x.rows, compileRow(r))
	if r.effect != nil {
		x.effects.add(n)
	}
	if r.when.on.empty() {
		x.always.add(n)
		return
	}
	for _, key := range r.when.on.keys {
		x.rowsOf(key).any.add(n)
	}
	for _, on := range r.when.on.values {
		rows := x.rowsOf(on.key)
		addTo(&rows.byValue, on.value, n)
		rows.longest = max(rows.longest, len(on.value))
	}
	for _, event := range r.when.on.events {
		addTo(&x.byEvent, event, n)
	}
	for _, name := range r.when.on.scopes {
		x.scopes.add(name, n)
	}
	for _, name := range r.when.on.names {
		x.names.add(name, n)
	}
}

// unknown is the row of what no row knows.
var unknown = compiledRow{row: row{class: ClassOther}}

// index returns the rows of a signal.
func (t *table) index(signal record.Signal) *rowIndex {
	if signal == record.SignalLog {
		return &t.logs
	}
	return &t.spans
}

// match returns the row of an item, and the rows that touched looks at.
func (t *table) match(it *item) (recognized *compiledRow, candidates rowSet) {
	index := t.index(it.signal)
	candidates = index.always
	candidates.unite(it.before.rowsOfScope(index, it.scope.Name()))
	index.names.find(it.name, &candidates)
	for key, v := range it.attrs.All() {
		bit := filterBit(key)
		it.keys.add(bit)
		if !index.keys.mayHold(bit) {
			continue
		}
		if rows := index.byKey[bit].of(key); rows != nil {
			rows.find(v, &candidates)
		}
	}
	for i := range it.events {
		if set := index.byEvent[it.events[i].Name()]; set != nil {
			candidates.unite(set)
		}
	}
	it.keysKnown = true
	return index.first(&candidates, it), candidates
}

// touched returns the row of what an item touched, which is the unknown one for
// most items.
func (t *table) touched(it *item, recognized *compiledRow, candidates rowSet) *compiledRow {
	if recognized.effect != nil {
		return recognized
	}
	index := t.index(it.signal)
	candidates.intersect(&index.effects)
	return index.first(&candidates, it)
}

// first returns the first of the rows that holds for an item.
func (x *rowIndex) first(candidates *rowSet, it *item) *compiledRow {
	for i, word := range candidates {
		for ; word != 0; word &= word - 1 {
			if r := &x.rows[64*i+bits.TrailingZeros64(word)]; r.when.holds(it) {
				return r
			}
		}
	}
	return &unknown
}
