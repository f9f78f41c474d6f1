// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// publishedEvent is a published example as its producer sends it.
func publishedEvent(t testing.TB, name string) object {
	text, err := os.ReadFile("../../schema/audit-event/" + name + ".json")
	require.NoError(t, err)
	var envelope object
	require.NoError(t, json.Unmarshal(text, &envelope))
	delete(envelope, "integrity")
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(envelope["audit_event"].(object), own)
	}
	return envelope
}

func textOf(t testing.TB, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

const part = `{"schema_version":"1.0.0","audit_event_part":{"action_id":"act_1","correlation":{"execution_id":"run_1"},
"occurred_at":"2026-10-09T10:12:03.5+02:00","policy":{"decision":"deny","policy_id":"p"},"execution":{"business_outcome":"achieved"}}}`

// auditTexts are an audit event of each version, and a part of one.
func auditTexts(t testing.TB) []string {
	return []string{
		textOf(t, publishedEvent(t, "1.0.0/examples/complete-execution")), textOf(t, publishedEvent(t, "1.0.0/examples/denied-action")),
		textOf(t, publishedEvent(t, "1.1.0/examples/complete-execution")), part,
	}
}

// detailOf returns the detail of a journal record.
func detailOf[T any](t *testing.T, d *record.Draft) T {
	require.NoError(t, schema.ValidateDraft(d))
	require.Equal(t, record.KindJournal, d.Kind())
	var body struct {
		Detail T `json:"detail"`
	}
	require.NoError(t, json.Unmarshal(d.Body(), &body))
	return body.Detail
}

func headerIn(t *testing.T, d *record.Draft) (h record.Header) {
	require.NoError(t, json.Unmarshal(d.Body(), &h))
	return h
}

func TestAnAuditEventComesWithWhatStandsBesideIt(t *testing.T) {
	for _, name := range []string{"1.0.0/examples/complete-execution", "1.0.0/examples/denied-action", "1.1.0/examples/complete-execution"} {
		sent := publishedEvent(t, name)
		event := sent["audit_event"].(object)
		records, p := decodeJSON(textOf(t, sent))
		require.Nil(t, p, "%v", p)
		d, err := records[0].Draft()
		require.NoError(t, err)
		require.Equal(t, sent["schema_version"], d.Version())
		require.Equal(t, "audit_event "+event["event_id"].(string), d.ID())
		require.JSONEq(t, textOf(t, event), string(d.Body()), "exactly what was sent")
		beside, err := records[0].Beside()
		require.NoError(t, err)
		require.Equal(t, record.AuditReceived{AuditEventID: event["event_id"].(string), AuditEventVersion: d.Version()}, detailOf[record.AuditReceived](t, beside))
		h := headerIn(t, beside)
		require.Equal(t, record.EventAuditReceived, h.EventType)
		require.Equal(t, event["correlation"].(object)["execution_id"], h.Correlation.ExecutionID)
		require.Equal(t, record.ObservedBy{UpstreamContextSource: authenticated.UpstreamContextSource, Signal: record.SignalAPI}, h.ObservedBy)
	}
}

// Requirement E9.
func TestAnOldSpellingIsNormalizedInTheOpen(t *testing.T) {
	sent := publishedEvent(t, "1.0.0/examples/denied-action")
	sent["audit_event"].(object)["policy"].(object)["decision"] = "deny"
	records, p := decodeJSON(textOf(t, sent))
	require.Nil(t, p, "%v", p)
	d, err := records[0].Draft()
	require.NoError(t, err)
	require.Contains(t, string(d.Body()), `"decision":"block"`)
	beside, err := records[0].Beside()
	require.NoError(t, err)
	require.Equal(t, []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}}, detailOf[record.AuditReceived](t, beside).Normalized)
}

func TestAnAuditEventIsRefusedWhereItIsWrong(t *testing.T) {
	type c struct{ code, pointer string }
	cases := map[string]struct {
		change func(item, event object)
		want   c
	}{
		"a journal":      {set("jrn", "journal_id"), c{CodeOurs, "/audit_event/journal_id"}},
		"a sequence":     {set(7, "sequence"), c{CodeOurs, "/audit_event/sequence"}},
		"a clock":        {set("2026-10-09T08:12:03Z", "recorded_at"), c{CodeOurs, "/audit_event/recorded_at"}},
		"a scope":        {set(object{"organization_ref": "x"}, "scope"), c{CodeOurs, "/audit_event/scope"}},
		"an observer":    {set(object{"signal": "api"}, "observed_by"), c{CodeOurs, "/audit_event/observed_by"}},
		"a seal":         {func(item, _ object) { item["integrity"] = object{} }, c{CodeOurs, "/integrity"}},
		"no id":          {func(_, e object) { delete(e, "event_id") }, c{CodeInvalid, "/audit_event/event_id"}},
		"no list":        {func(_, e object) { delete(e, "tool_calls") }, c{CodeInvalid, "/audit_event/tool_calls"}},
		"no rules":       {func(_, e object) { delete(e["policy"].(object), "matched_rule_ids") }, c{CodeInvalid, "/audit_event/policy/matched_rule_ids"}},
		"no result":      {func(_, e object) { delete(call(e), "result_digest") }, c{CodeInvalid, "/audit_event/tool_calls/0/result_digest"}},
		"an unknown one": {set("x", "policy", "note"), c{CodeUnknownMember, "/audit_event/policy/?"}},
		"CANARY-1":       {set("x", "CANARY-2"), c{CodeUnknownMember, "/audit_event/?"}},
		"another type":   {set("agent.action.denied", "event_type"), c{CodeEventType, "/audit_event/event_type"}},
		"a rule broken":  {set("rejected", "approval", "decision"), c{CodeInvalid, "/audit_event/execution/status"}},
		"a decision":     {set("perhaps", "policy", "decision"), c{CodeInvalid, "/audit_event/policy/decision"}},
		"a secret":       {set("Bearer CANARY3", "actors", "requester"), c{CodeInvalid, "/audit_event/actors/requester"}},
		"a call twice":   {func(_, e object) { e["tool_calls"] = []any{call(e), call(e)} }, c{"call_twice", "/audit_event/tool_calls/1/call_id"}},
		"a place twice": {func(_, e object) {
			privacy := e["privacy"].(object)
			privacy["redactions"] = append(privacy["redactions"].([]any), privacy["redactions"].([]any)...)
		}, c{"redacted_twice", "/audit_event/privacy/redactions/1/pointer"}},
		"its own parent":  {set("evt_01JZ8V4R9K2Q7M1W3D5N6P8X0A", "correlation", "parent_event_id"), c{"own_parent_audit_event", "/audit_event/correlation/parent_event_id"}},
		"a later member":  {set([]any{"act_1"}, "action_ids"), c{CodeInvalid, "/audit_event"}},
		"a later version": {func(item, _ object) { item["schema_version"] = "1.2.0" }, c{CodeVersion, "/schema_version"}},
		"an amount":       {set("1e3", "requested_action", "amount", "value"), c{CodeInvalid, "/audit_event/requested_action/amount/value"}},
		"a span of zeros": {set("0000000000000000", "correlation", "span_id"), c{CodeInvalid, "/audit_event/correlation/span_id"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			sent := publishedEvent(t, "1.0.0/examples/complete-execution")
			test.change(sent, sent["audit_event"].(object))
			_, p := decodeJSON(textOf(t, sent))
			require.NotNil(t, p)
			require.Equal(t, test.want, c{p.Code, p.Pointer}, "%v", p)
			require.NotContains(t, p.Error(), "CANARY")
		})
	}
}

func call(event object) object { return event["tool_calls"].([]any)[0].(object) }

// Each member that the dictionary demands of a producer is missed by its name.
func TestAProducerIsToldWhatAnAuditEventLacks(t *testing.T) {
	text, err := os.ReadFile("../../testdata/audit-event-optional.txt")
	require.NoError(t, err)
	optional, n := append(strings.Fields(string(text)), "/audit_event/event_type"), 0
	sent := publishedEvent(t, "1.0.0/examples/complete-execution")
	var visit func(v any, at string)
	visit = func(v any, at string) {
		switch v := v.(type) {
		case object:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				value, pointer := v[name], at+"/"+name
				if !slices.Contains(optional, strings.ReplaceAll(pointer, "/1", "/0")) && pointer != "/audit_event" {
					delete(v, name)
					_, p := decodeJSON(textOf(t, sent))
					require.NotNil(t, p, pointer)
					require.Equal(t, pointer, p.Pointer, "%v", p)
					v[name] = value
					n++
				}
				visit(value, pointer)
			}
		case []any:
			for i, value := range v {
				visit(value, at+"/"+strconv.Itoa(i))
			}
		}
	}
	visit(sent["audit_event"], "/audit_event")
	require.Greater(t, n, 60)
}

func TestAPartHoldsWhatWasSaidAndNoMore(t *testing.T) {
	records, p := decodeJSON(part)
	require.Nil(t, p, "%v", p)
	d, err := records[0].Draft()
	require.NoError(t, err)
	beside, err := records[0].Beside()
	require.NoError(t, err)
	require.Nil(t, beside)
	require.True(t, d.OfActions())
	detail := detailOf[record.AuditPart](t, d)
	require.Equal(t, "act_1", detail.ActionID)
	require.Equal(t, jsontext.Value(`{"correlation":{"execution_id":"run_1"},"execution":{"business_outcome":"achieved"},"occurred_at":"2026-10-09T08:12:03.500000000Z","policy":{"decision":"block","policy_id":"p"}}`), detail.Members)
	require.Equal(t, []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}}, detail.Normalized)
	h := headerIn(t, d)
	require.Equal(t, "run_1", h.Correlation.ExecutionID)
	require.Equal(t, authenticated.UpstreamContextSource, h.ObservedBy.UpstreamContextSource)
}

func TestAPartIsRefusedWhereItIsWrong(t *testing.T) {
	with := func(do func(body object)) string {
		var item object
		require.NoError(t, json.Unmarshal([]byte(part), &item))
		do(item["audit_event_part"].(object))
		return textOf(t, item)
	}
	for name, c := range map[string]struct {
		do            func(body object)
		code, pointer string
	}{
		"no action":         {func(b object) { delete(b, "action_id") }, CodeInvalid, "/audit_event_part/action_id"},
		"no execution":      {func(b object) { delete(b, "correlation") }, CodeInvalid, "/audit_event_part/correlation/execution_id"},
		"an event id":       {func(b object) { b["event_id"] = "evt_1" }, CodeOurs, "/audit_event_part/event_id"},
		"action ids":        {func(b object) { b["action_ids"] = []any{"a"} }, CodeOurs, "/audit_event_part/action_ids"},
		"a journal":         {func(b object) { b["journal_id"] = "j" }, CodeOurs, "/audit_event_part/journal_id"},
		"an unknown member": {func(b object) { b["policy"].(object)["note"] = "x" }, CodeUnknownMember, "/audit_event_part/policy/?"},
		"another type":      {func(b object) { b["policy"] = "block" }, CodeInvalid, "/audit_event_part/policy"},
		"a bad value":       {func(b object) { b["policy"].(object)["decision"] = "perhaps" }, CodeInvalid, "/audit_event_part/policy/decision"},
		"a bad time":        {func(b object) { b["occurred_at"] = "yesterday" }, CodeTime, "/audit_event_part/occurred_at"},
		"a call without id": {func(b object) { b["tool_calls"] = []any{object{"tool_id": "t"}} }, CodeInvalid, "/audit_event_part/tool_calls/0/call_id"},
		"half an amount":    {func(b object) { b["requested_action"] = object{"amount": object{"value": "1"}} }, CodeInvalid, "/audit_event_part/requested_action/amount/currency"},
		"a claim of who":    {func(b object) { b["observed_by"] = object{"upstream_context_source": "authenticated:root"} }, CodeOurs, "/audit_event_part/observed_by/upstream_context_source"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := decodeJSON(with(c.do))
			require.NotNil(t, p)
			require.Equal(t, []string{c.code, c.pointer}, []string{p.Code, p.Pointer}, "%v", p)
		})
	}
	_, p := decodeJSON(`{"schema_version":"2.0.0","audit_event_part":{}}`)
	require.Equal(t, CodeVersion, p.Code)
}
