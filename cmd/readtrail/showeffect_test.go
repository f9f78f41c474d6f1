// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/record"
)

func TestATableSaysWhatWasTouched(t *testing.T) {
	none, one := int64(0), int64(1)
	for want, e := range map[string]record.Effect{
		"SELECT bank.customers, 1 row": {Operation: "SELECT", Namespace: "bank", Collection: "customers", Rows: &one},
		"SELECT customers, 0 rows":     {Operation: "SELECT", Collection: "customers", Rows: &none},
		"SET 2":                        {Operation: "SET", Namespace: "2"},
		"GET /customers/{id}":          {Operation: "GET", PathTemplate: "/customers/{id}"},
		"1 row":                        {Rows: &one},
		"":                             {System: "http"},
	} {
		require.Equal(t, want, whatWasTouched(&e))
	}
}

func exampleHead() *shownEntry {
	o := &observation{sequence: 2, event: "read.tool", what: "crm.customer.get", status: "ok" + uncheckable, system: "crm-eu@v41", toolCall: "call_syn_0193_02", occurredAt: "2026-10-09T09:12:03.418Z"}
	o.joins = lineage.NewObservation(lineage.Place{JournalID: "jrn_1", Upstream: "authenticated:agents"}, &record.Read{})
	return &shownEntry{observation: o, journalID: "jrn_1"}
}

func TestAnEffectSaysWhoToldOfItAndWhereIfNotWhoToldOfTheRead(t *testing.T) {
	e := &lineage.Effect{
		Place: lineage.Place{JournalID: "jrn_1", Sequence: 7, Upstream: "authenticated:agents"},
		Span:  record.Span{Class: "db", Status: record.StatusError, Effect: &record.Effect{System: "redis", Operation: "GET", Status: "MOVED", QueryCapture: record.CapturedPlaceholder}},
	}
	o := observeEffect(e, exampleHead())
	require.Equal(t, &observation{
		sequence: 7, event: "effect", what: "GET", status: "error MOVED", system: "redis", capture: "placeholder", seenBy: "span db",
	}, o)
	e.JournalID, e.Upstream = "jrn_2", record.UnverifiedInput
	o = observeEffect(e, exampleHead())
	require.Zero(t, o.sequence)
	require.Equal(t, "GET, told by unverified_input", o.what)
}

func TestAnObservationSaysWhoToldOfItIfNotWhoToldOfTheRead(t *testing.T) {
	head, same, other := exampleHead(), exampleHead(), exampleHead()
	other.joins.Upstream = record.UnverifiedInput
	r := &lineage.Read{Observations: []*lineage.Observation{head.joins, same.joins, other.joins}}
	p, rows := &entryTable{leads: map[*lineage.Read]*shownEntry{r: head}}, &table{}
	p.writeRead(rows, r, []*shownEntry{head, same, other})
	require.Equal(t, "crm.customer.get", rows.rows[0].cells[whatColumn])
	require.Equal(t, "crm.customer.get", rows.rows[1].cells[whatColumn])
	require.Equal(t, "crm.customer.get, told by unverified_input", rows.rows[2].cells[whatColumn])
}

func TestAToolThatAsksAThousandTimesHasAHundredRows(t *testing.T) {
	r := &lineage.Read{}
	for range 1000 {
		r.Effects = append(r.Effects, &lineage.Effect{Span: record.Span{Effect: &record.Effect{System: "redis"}}})
	}
	rows := effectRows(r, exampleHead())
	require.Len(t, rows, maxEffects+1)
	require.Equal(t, "900 more effects: --joined --json has all", rows[maxEffects].cells[whatColumn])
}

func TestAHundredColumnsShowWhatMatters(t *testing.T) {
	rows := int64(3)
	head := exampleHead()
	at := head.joins.Place
	at.Sequence = 9
	job := &lineage.Effect{Place: at, Span: record.Span{Class: "messaging", Status: record.StatusOK, EdgeType: record.EdgeDelegatedJob, Effect: &record.Effect{System: "kafka", Operation: "process", Collection: "exports"}}}
	db := &lineage.Effect{Place: at, Job: job, Span: record.Span{Class: "db", Status: record.StatusError, EdgeType: record.EdgeExternalAction, Effect: &record.Effect{
		System: "postgresql", Operation: "SELECT", Namespace: "bank", Collection: "customers", Target: "db1.bank.example", Rows: &rows, Status: "42P01",
	}}}
	table := &table{columns: entryColumns, rows: append([]tableRow{head.row(0)}, effectRows(&lineage.Read{Effects: []*lineage.Effect{job, db}}, head)...)}
	var out strings.Builder
	require.NoError(t, table.write(&out, 100))
	require.Equal(t, strings.TrimPrefix(`
SEQUENCE  EVENT                WHAT                           STATUS       SYSTEM       CALL
2         read.tool            crm.customer.get               ok *         crm-eu@v41   call_syn_01…
9           delegated_job      process exports                ok           kafka        -
9             external_action  SELECT bank.customers, 3 rows  error 42P01  postgresql…  -
`, "\n"), out.String())
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 101)
	}
}
