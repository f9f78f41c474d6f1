// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

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
	// effect says what external system the item touched, for lineage.
	effect func(*item) *record.Effect
}

// table holds the rows in the order in which they are tried.
type table struct {
	spans, logs []compiledRow
}

type compiledRow struct {
	row
	names []nameTemplate
}

func newTable(rows []row) *table {
	t := &table{}
	for _, r := range rows {
		c := compiledRow{row: r}
		for _, name := range r.names {
			c.names = append(c.names, parseName(name))
		}
		if r.signal == record.SignalLog {
			t.logs = append(t.logs, c)
		} else {
			t.spans = append(t.spans, c)
		}
	}
	return t
}

// unknown is the row of what no row knows.
var unknown = compiledRow{row: row{class: ClassOther}}

func (t *table) match(it *item) *compiledRow {
	rows := t.spans
	if it.signal == record.SignalLog {
		rows = t.logs
	}
	i := slices.IndexFunc(rows, func(r compiledRow) bool { return r.when(it) })
	if i < 0 {
		return &unknown
	}
	return &rows[i]
}
