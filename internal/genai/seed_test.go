// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// crmRule is what telemetry does not know about the CRM of testdata/kyc.
var crmRule = SourceRule{
	Match:               SourceMatch{Tool: "crm.*"},
	System:              "crm-eu",
	Kind:                record.SourceAPI,
	ToolVersion:         Literal("2026-09-30"),
	RecordRefs:          []Value{{Arguments: "$.customer_id"}},
	SourceRecordVersion: Value{Result: "$.version"},
	AsOf:                Value{Result: "$.as_of"},
	Boundary:            Boundary{DataBoundaryRef: "boundary_eu_kyc", Purpose: "kyc-periodic-review"},
	ContentLocation:     "crm-eu record history",
}

// assertContains checks that every member of want is in got under the same
// name, at the same place and with the same value.
func assertContains(t *testing.T, path string, want, got any) {
	t.Helper()
	members, ok := want.(map[string]any)
	if !ok {
		assert.Equal(t, want, got, path)
		return
	}
	object, ok := got.(map[string]any)
	require.True(t, ok, path)
	for name, member := range members {
		assertContains(t, path+"."+name, member, object[name])
	}
}

func TestTheExampleOfTheSeedComesOutMemberByMember(t *testing.T) {
	var want any
	file, err := os.ReadFile("../../testdata/kyc/read_syn_0193_02.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(file, &want))
	l := newTestLifter(t, crmRule)
	found := false
	spans(t, "../../testdata/kyc/kyc.traces.jsonl", func(in SpanInput) {
		o := l.Span(in)
		if o.Read == nil || o.Read.ReadID != "read_syn_0193_02" {
			return
		}
		found = true
		assert.True(t, o.Given)
		var got any
		require.NoError(t, json.Unmarshal(draft(t, o), &got))
		assertContains(t, "$", want, got)
		assert.Equal(t, record.StatusOK, o.Read.Response.Status)
		assert.Equal(t, map[string]record.Basis{
			"read_id": "attribute", "execution_id": "attribute",
			"source.system": "rule", "source.kind": "rule", "source.tool_version": "rule",
			"request.record_refs": "rule", "response.source_record_version": "rule", "response.as_of": "rule",
			"boundary.data_boundary_ref": "rule", "boundary.purpose": "rule", "retention.content_location": "rule",
		}, o.Read.Basis)
	})
	assert.True(t, found)
}

func TestTheKYCRunHasOneReadOfEachKindAndNoOther(t *testing.T) {
	l := newTestLifter(t, crmRule)
	events := map[string]int{}
	spans(t, "../../testdata/kyc/kyc.traces.jsonl", func(in SpanInput) {
		o := l.Span(in)
		assert.NotEmpty(t, o.ExecutionID)
		if o.Read == nil {
			return
		}
		events[o.Read.EventType]++
		if o.Read.EventType == record.EventReadDocument {
			assert.Equal(t, "doc_syn_771", o.Read.Documents[0].DocumentID)
			assert.Len(t, o.Read.Documents[0].ChecksumSHA256, 64)
			assert.Equal(t, "ov_syn_3", o.Read.Documents[0].ObjectVersionID)
			assert.Equal(t, "2026-09-28T14:03:11.000000000Z", o.Read.Documents[0].ReceivedAt.String())
			assert.True(t, o.Read.Documents[0].WithContent)
		}
		draft(t, o)
	})
	assert.Equal(t, map[string]int{"read.tool": 4, "read.document": 1, "read.retrieval": 1, "read.memory": 1}, events)
}

// Every member of the seed's example can also be said by the application.
func TestTheExampleOfTheSeedComesOutOfAttributesAlone(t *testing.T) {
	in := testSpan{name: "execute_tool crm.customer.get", attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "crm.customer.get",
		"gen_ai.tool.call.id": "call_syn_0193_02", "gen_ai.tool.call.arguments": `{"a":1}`, "gen_ai.tool.call.result": `{}`,
		"readtrail.read_id": "read_syn_0193_02", "readtrail.execution.id": "run_syn_0193",
		"readtrail.source.system": "crm-eu", "readtrail.source.kind": "api", "readtrail.tool.version": "2026-09-30",
		"readtrail.record_refs": []any{"cust_syn_55120", "", "not an identifier", "cust_syn_55120"}, "readtrail.source.record_version": "v41",
		"readtrail.source.as_of": "2026-10-09T10:12:03.39+02:00", "readtrail.data_boundary": "boundary_eu_kyc",
		"readtrail.purpose": "kyc-periodic-review", "readtrail.content_location": "crm-eu record history",
	}}.input(t)
	// The rule says something else and loses.
	rule := crmRule
	rule.System, rule.ContentLocation, rule.ToolVersion = "other", "elsewhere", Literal("1")
	o := newTestLifter(t, rule).Span(in)
	r := o.Read
	assert.Equal(t, record.Source{System: "crm-eu", Kind: "api", ToolID: "crm.customer.get", ToolVersion: "2026-09-30"}, r.Source)
	assert.Equal(t, []string{"cust_syn_55120"}, r.Request.RecordRefs)
	assert.Equal(t, "v41", r.Response.SourceRecordVersion)
	assert.Equal(t, "2026-10-09T08:12:03.390000000Z", r.Response.AsOf.String())
	assert.Equal(t, &record.Boundary{DataBoundaryRef: "boundary_eu_kyc", Purpose: "kyc-periodic-review"}, r.Boundary)
	assert.Equal(t, "crm-eu record history", r.Retention.ContentLocation)
	for member, basis := range r.Basis {
		assert.Equal(t, record.BasisAttribute, basis, member)
	}
	draft(t, o)
}
