// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/v2"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// readEntry is an entry with every member that contract 9 shows: times padded,
// digests in full, header added.
const readEntry = `{"integrity":{"canonicalization":"RFC8785","hash_algorithm":"SHA-256",
"previous_event_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000001",
"record_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000002",
"signature":{"algorithm":"Ed25519","key_id":"sUI6St7pYfmfPqj978W16oPP5w5xyRmPfKXaRQVWNHc",
"public_key":"7OPm3/grDqicr/bCy+YdoEcOO9OBiZ/akKo0RLLAcj4=",
"value":"sL0G8DjGCdqxhR2vkEJpnR12v3TYwxT5pChdjgOOZ+JptZKd45AP0ruEkOp77+cBfCwxRT3n8Bh8w0d1Vz3yCQ=="},
"verification":{"failure_codes":[],"status":"not_performed","verifier_version":"readtrail/0.1.0"}},
"read_record":{"event_id":"evt_01JZ8V4R9K2Q7M1W3D5N6P8X0A","event_type":"read.tool","journal_id":"jrn_1","sequence":2,
"occurred_at":"2026-10-09T08:12:03.418000000Z","recorded_at":"2026-10-09T08:12:04.000000001Z",
"correlation":{"execution_id":"run_syn_0193","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331"},
"scope":{"organization_ref":"bank","environment":"production","retention_class":"kyc"},
"observed_by":{"collector_id":"c1","upstream_context_source":"unverified_input","signal":"span","dialect":"otel"},
"read_id":"read_syn_0193_02","execution_id":"run_syn_0193","tool_call_id":"call_syn_0193_02",
"source":{"system":"crm-eu","kind":"api","tool_id":"crm.customer.get","tool_version":"2026-09-30"},
"request":{"arguments_digest":"sha256:3b9e00000000000000000000000000000000000000000000000000000000041d",
"arguments_canonicalization":"jcs","arguments_size":31,"record_refs":["cust_syn_55120"]},
"response":{"status":"ok","result_digest":"sha256:c07a00000000000000000000000000000000000000000000000000000000009e",
"result_canonicalization":"jcs","result_size":310,"source_record_version":"v41","as_of":"2026-10-09T08:12:03.390000000Z"},
"boundary":{"data_boundary_ref":"boundary_eu_kyc","purpose":"kyc-periodic-review"},
"retention":{"content_stored":"digest_only","content_location":"crm-eu record history","redaction_profile":"strict/1"},
"capture":{"request":"captured","response":"captured"},"basis":{"source.system":"rule","read_id":"attribute"}},
"schema_version":"1.0.0"}`

type object = map[string]any

// entry returns the example as an object that a case can change.
func entry(t *testing.T) (whole, body object) {
	require.NoError(t, json.Unmarshal([]byte(readEntry), &whole))
	return whole, whole["read_record"].(object)
}

func validate(t *testing.T, kind record.Kind, whole object) error {
	text, err := json.Marshal(whole)
	require.NoError(t, err)
	return Validate(kind, "1.0.0", text)
}

func TestTheReadSchemaTakesEveryMemberOfTheSeedExample(t *testing.T) {
	require.NoError(t, Validate(record.KindRead, "1.0.0", []byte(readEntry)))
}

func TestTheReadSchemaTakesWhatContract9Lists(t *testing.T) {
	whole, body := entry(t)
	const keyed = "hmac-sha256:tenant-1:c07a00000000000000000000000000000000000000000000000000000000009e"
	body["conflicts_with"] = "evt_01JZ8V4R9K2Q7M1W3D5N6P8X0B"
	body["action_ids"] = []any{"act_1"}
	body["retrieval"] = object{"index_id": "i", "build_version": "b", "top_k": 5, "chunks": []any{
		object{"id": "c", "score": "0.91", "content_digest": keyed, "content_canonicalization": "bytes", "content_size": 64}, object{"score": "1e-07"},
	}}
	body["documents"] = []any{object{
		"document_id": "doc_syn_771", "checksum_sha256": keyed[len(keyed)-64:], "object_version_id": "3",
		"received_at": "2026-10-09T08:12:03.390000000Z", "with_content": true,
	}}
	body["memory"] = object{"store_id": "m", "operation": "search_memory", "entries": []any{object{"id": "e", "written_at": "2026-10-09T08:12:03.390000000Z"}}}
	body["retention"] = object{
		"content_stored": "fields", "copy_ref": "evidence_store/eu",
		"fields": []any{
			object{"path": "$.address.country", "in": "result", "digest": keyed, "canonicalization": "bytes", "size": 64},
			object{"path": "$.id", "in": "arguments", "digest": keyed, "canonicalization": "bytes"},
		},
		"classification": "confidential", "access_policy_ref": "pol_1", "redaction_profile": "strict/1",
	}
	body["request"].(object)["record_refs"] = []any{"cust_syn_55120", keyed}
	body["observed_by"] = object{
		"collector_id": "c", "upstream_context_source": "authenticated:bearertokenauth", "signal": "log", "sampling": "ot=th:8",
		"received_context": object{"trace_id": "0af7651916cd43dd8448eb211c80319c"}, "id_problem": "zero_span_id",
	}
	require.NoError(t, validate(t, record.KindRead, whole))
}

func with(o object, name string, value any) object {
	o[name] = value
	return o
}

func without(o object, names ...string) object {
	for _, name := range names {
		delete(o, name)
	}
	return o
}

func keptField() object {
	return object{
		"path": "$.id", "in": "result", "canonicalization": "bytes", "size": 64,
		"digest": "hmac-sha256:tenant-1:c07a00000000000000000000000000000000000000000000000000000000009e",
	}
}

// kept is a retention of fields without some of its members.
func kept(lacking ...string) object {
	return without(object{
		"content_stored": "fields", "fields": []any{keptField()}, "copy_ref": "evidence_store",
		"classification": "confidential", "access_policy_ref": "pol_1", "redaction_profile": "strict/1/crm",
	}, lacking...)
}

func TestTheReadSchemaTakesWhatWasKept(t *testing.T) {
	for name, retention := range map[string]object{
		"fields":                       kept(),
		"a copy of everything":         with(kept("fields"), "content_stored", "evidence_copy"),
		"nothing, of a source that is": with(kept("fields", "copy_ref"), "content_stored", "digest_only"),
	} {
		whole, body := entry(t)
		body["retention"] = retention
		require.NoError(t, validate(t, record.KindRead, whole), name)
	}
}

func TestTheReadSchemaRefuses(t *testing.T) {
	set := func(path ...any) func(whole, body object) {
		return func(_, body object) {
			o := body
			for _, name := range path[:len(path)-2] {
				o = o[name.(string)].(object)
			}
			if path[len(path)-1] == nil {
				delete(o, path[len(path)-2].(string))
				return
			}
			o[path[len(path)-2].(string)] = path[len(path)-1]
		}
	}
	for name, change := range map[string]func(whole, body object){
		"a member that nobody knows":                     set("canary", "x"),
		"a nested member that nobody knows":              set("source", "canary", "x"),
		"an empty string for unknown":                    set("source", "system", ""),
		"null":                                           func(_, body object) { body["tool_call_id"] = nil },
		"a time with milliseconds":                       set("recorded_at", "2026-10-09T08:12:03.418Z"),
		"a time with an offset":                          set("recorded_at", "2026-10-09T08:12:03.418000000+00:00"),
		"the thirtieth of February":                      set("recorded_at", "2026-02-30T08:12:03.418000000Z"),
		"a trace id in capitals":                         set("correlation", "trace_id", "0AF7651916CD43DD8448EB211C80319C"),
		"a trace id of zeros":                            set("correlation", "trace_id", "00000000000000000000000000000000"),
		"a digest in capitals":                           set("response", "result_digest", "sha256:C07A00000000000000000000000000000000000000000000000000000000009E"),
		"a digest without the form of what was digested": set("response", "result_canonicalization", nil),
		"a form that contract 2 does not name":           set("response", "result_canonicalization", "xml"),
		"a size without a digest":                        set("request", object{"arguments_size": 3}),
		"a fraction":                                     set("response", "result_size", 1.5),
		"a negative size":                                set("response", "result_size", -1),
		"a sequence above 2^53-1":                        set("sequence", 9007199254740992),
		"sequence 1, which is that of journal.opened":    set("sequence", 1),
		"an event type of another body":                  set("event_type", "journal.opened"),
		"a read without an execution":                    set("execution_id", nil),
		"a correlation without an execution":             set("correlation", "execution_id", nil),
		"kept content without a classification":          set("retention", kept("classification")),
		"kept content without an access policy":          set("retention", kept("access_policy_ref")),
		"kept content without its store":                 set("retention", kept("copy_ref")),
		"fields without any":                             set("retention", kept("fields")),
		"a copy of everything that lists fields":         set("retention", with(kept(), "content_stored", "evidence_copy")),
		"digests only and a copy":                        set("retention", with(kept("fields"), "content_stored", "digest_only")),
		"a field of neither side":                        set("retention", with(kept(), "fields", []any{with(keptField(), "in", "status")})),
		"a field without the form of its digest":         set("retention", with(kept(), "fields", []any{without(keptField(), "canonicalization")})),
		"a field that holds its value":                   set("retention", with(kept(), "fields", []any{with(keptField(), "value", "x")})),
		"a keyed digest without the id of its key":       set("response", "result_digest", "hmac-sha256:c07a00000000000000000000000000000000000000000000000000000000009e"),
		"a keyed record ref that is no digest":           set("request", "record_refs", []any{"hmac-sha256:tenant-1:KYC-000123"}),
		"a basis that contract 9 does not name":          set("basis", object{"source.system": "guess"}),
		"content as the name of a basis":                 set("basis", object{"Jane Doe lives here": "rule"}),
		"an upstream that is neither":                    set("observed_by", "upstream_context_source", "trusted"),
		"another member beside the body":                 func(whole, _ object) { whole["note"] = "x" },
		"an entry without integrity":                     func(whole, _ object) { delete(whole, "integrity") },
		"an entry without a signature":                   func(whole, _ object) { delete(whole["integrity"].(object), "signature") },
		"an entry that no entry precedes":                func(whole, _ object) { delete(whole["integrity"].(object), "previous_event_hash") },
		"an entry that says itself that it is valid":     func(whole, _ object) { whole["integrity"].(object)["verification"].(object)["status"] = "valid" },
		"another version":                                func(whole, _ object) { whole["schema_version"] = "1.0.1" },
		"a second body":                                  func(whole, _ object) { whole["journal_record"] = object{} },
	} {
		t.Run(name, func(t *testing.T) {
			whole, body := entry(t)
			change(whole, body)
			err := validate(t, record.KindRead, whole)
			_, ok := err.(*InvalidError)
			require.True(t, ok, "%v", err)
		})
	}
}

func TestAnErrorNamesThePlaceAndNeverTheValue(t *testing.T) {
	whole, body := entry(t)
	body["source"].(object)["kind"] = "canary-4711"
	err := validate(t, record.KindRead, whole)
	require.EqualError(t, err, `"/read_record/source/kind" does not satisfy "enum"`)

	whole, body = entry(t)
	body["basis"] = object{"canary 4711": "rule"}
	require.EqualError(t, validate(t, record.KindRead, whole), `"/read_record/basis" does not satisfy "additionalProperties"`)
	whole, body = entry(t)
	body["basis"] = object{"canary 4711": "guess"}
	require.NotContains(t, validate(t, record.KindRead, whole).Error(), "canary")
	whole, body = entry(t)
	body["canary 4711"] = object{}
	require.EqualError(t, validate(t, record.KindRead, whole), `"/read_record" does not satisfy "additionalProperties"`)
}

// journalEntry turns the example into an entry of the journal about itself.
func journalEntry(t *testing.T, eventType string, detail any) object {
	whole, read := entry(t)
	body := object{"event_type": eventType, "observed_by": object{"collector_id": "c1"}}
	for _, name := range []string{"event_id", "journal_id", "sequence", "occurred_at", "recorded_at", "scope"} {
		body[name] = read[name]
	}
	if detail != nil {
		body["detail"] = detail
	}
	delete(whole, "read_record")
	whole["journal_record"] = body
	if eventType == record.EventJournalOpened {
		body["sequence"] = 1
		delete(whole["integrity"].(object), "previous_event_hash")
	}
	return whole
}

func TestTheJournalSchemaKnowsTheDetailOfEachType(t *testing.T) {
	const keyID = "sUI6St7pYfmfPqj978W16oPP5w5xyRmPfKXaRQVWNHc"
	recovered := object{
		"segment": "00000000000000000001.events", "offset": 812, "length": 40, "kept_as": "00000000000000000001.events.812.torn",
		"digest": "sha256:c07a00000000000000000000000000000000000000000000000000000000009e",
	}
	pruned := object{
		"first_sequence": 4711, "anchor": recovered["digest"], "tree_hashes": []any{strings.Repeat("0a", 32)}, "rule": object{"keep_days": 180},
		"segments": []any{object{"segment": "00000000000000000001.events", "size": 812, "digest": recovered["digest"]}},
	}
	for _, c := range []struct {
		name, eventType string
		detail          any
		valid           bool
	}{
		{"opened may say nothing", "journal.opened", nil, true},
		{"opened may name its writer", "journal.opened", object{"writer": "readtrail/0.1.0"}, true},
		{"opened says nothing else", "journal.opened", object{"x": "y"}, false},
		{"resumed may name its writer", "journal.resumed", object{"writer": "readtrail/0.1.0"}, true},
		{"closed says nothing", "journal.closed", nil, true},
		{"recovered says what was torn off", "journal.recovered", recovered, true},
		{"recovered needs a detail", "journal.recovered", nil, false},
		{"recovered needs all of it", "journal.recovered", without(maps.Clone(recovered), "digest"), false},
		{"unrecordable names the item", "item.unrecordable", object{"reason": "no_time", "item_id": "read_x", "item": "span"}, true},
		{"unrecordable needs a reason", "item.unrecordable", object{"item_id": "read_x", "item": "span"}, false},
		{"a rotation names the incoming key", "journal.key_rotated", object{"incoming_key_id": keyID}, true},
		{"a rotation without a key is none", "journal.key_rotated", object{}, false},
		{"a rotation says nothing else", "journal.key_rotated", object{"incoming_key_id": keyID, "reason": "x"}, false},
		{"an acceptance names the outgoing key", "journal.key_accepted", object{"outgoing_key_id": keyID}, true},
		{"a heartbeat needs no detail", "journal.heartbeat", nil, true},
		{"a gap names sink and size", "journal.gap", object{"sink": "witness/a", "state": "open", "reason": "timeout", "tree_size": 7}, true},
		{"a gap without its size", "journal.gap", object{"sink": "witness/a", "state": "open"}, false},
		{"a hold has an id", "journal.hold_set", object{"hold_id": "case-4711", "reason": "dispute"}, true},
		{"a hold without an id", "journal.hold_lifted", object{"reason": "over"}, false},
		{"a pruning says what goes and what the rest is anchored to", "journal.pruned", pruned, true},
		{"a pruning of nothing", "journal.pruned", object{"first_sequence": 1, "anchor": pruned["anchor"], "tree_hashes": []any{}, "segments": []any{}, "rule": object{"keep_days": 1}}, false},
		{"a later type takes any object", "journal.config", object{"every_seconds": 60}, true},
		{"a detail is an object", "journal.config", "x", false},
		{"a type that contract 15 does not list", "journal.repaired", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := validate(t, record.KindJournal, journalEntry(t, c.eventType, c.detail))
			assert.Equal(t, c.valid, err == nil, "%v", err)
		})
	}
}

// What the code writes as a detail fits the schema, whole and with as little as it
// may have, and reads back as what was written.
func TestEveryDetailThatIsWrittenFitsTheSchemaAndReadsBack(t *testing.T) {
	const digest = "sha256:c07a00000000000000000000000000000000000000000000000000000000009e"
	const keyID = "sUI6St7pYfmfPqj978W16oPP5w5xyRmPfKXaRQVWNHc"
	removed := record.PrunedSegment{Segment: "00000000000000000001.events", Size: 812, Digest: digest}
	locked := removed
	locked.ArchivedAs = "s3://evidence/readtrail/bank/kyc/reads/jrn_1/segments/00000000000000000001.events?versionId=1"
	for eventType, details := range map[string][]any{
		record.EventJournalOpened:  {nil},
		record.EventJournalResumed: {nil},
		record.EventJournalClosed:  {nil},
		record.EventJournalRecovered: {
			record.Recovered{Segment: removed.Segment, Offset: 812, Length: 40, Digest: digest, KeptAs: removed.Segment + ".812.torn"},
			record.Recovered{Segment: removed.Segment, Offset: 0, Length: 1, Digest: digest, KeptAs: removed.Segment + ".0.2.torn"},
		},
		record.EventKeyRotated:  {record.KeyRotated{IncomingKeyID: keyID}},
		record.EventKeyAccepted: {record.KeyAccepted{OutgoingKeyID: keyID}},
		record.EventJournalHeartbeat: {
			record.Heartbeat{}, record.Heartbeat{SilentSince: record.TimeFromUnixNano(1791533523418000000)},
		},
		record.EventJournalGap: {
			record.Gap{Sink: "witness/a", State: record.GapOpen, Reason: "timeout", TreeSize: 7},
			record.Gap{Sink: "witness/a", State: record.GapClosed, TreeSize: record.MaxInteger},
		},
		record.EventHoldSet:    {record.Hold{HoldID: "case-7", Reason: "dispute", RequestedBy: "counsel"}, record.Hold{HoldID: "case-7"}},
		record.EventHoldLifted: {record.Hold{HoldID: "case-7", Reason: "over", RequestedBy: "counsel"}, record.Hold{HoldID: "case-7"}},
		record.EventJournalPruned: {
			record.Pruned{
				FirstSequence: 4712, Anchor: digest, TreeHashes: []string{strings.Repeat("0a", 32), strings.Repeat("0b", 32)},
				Segments: []record.PrunedSegment{removed, locked}, Rule: record.PruneRule{KeepDays: 180, RequestedBy: "records office"},
			},
			record.Pruned{FirstSequence: 2, Anchor: digest, TreeHashes: []string{strings.Repeat("0a", 32)}, Segments: []record.PrunedSegment{removed}},
		},
		record.EventItemUnrecordable: {record.Unrecordable{Reason: record.ReasonNoTime, ItemID: "read_x", Item: record.SignalSpan}},
	} {
		for _, detail := range details {
			require.NoError(t, validate(t, record.KindJournal, journalEntry(t, eventType, detail)), "%s: %+v", eventType, detail)
			if detail == nil {
				continue
			}
			written, err := json.Marshal(detail)
			require.NoError(t, err)
			back := reflect.New(reflect.TypeOf(detail))
			require.NoError(t, json.Unmarshal(written, back.Interface(), json.RejectUnknownMembers(true)), eventType)
			require.Equal(t, detail, back.Elem().Interface(), eventType)
		}
	}
}

func TestOnlyAnOpenedJournalHasNoPredecessor(t *testing.T) {
	opened := journalEntry(t, "journal.opened", nil)
	opened["integrity"].(object)["previous_event_hash"] = "sha256:c07a00000000000000000000000000000000000000000000000000000000009e"
	require.Error(t, validate(t, record.KindJournal, opened))
	opened = journalEntry(t, "journal.opened", nil)
	opened["journal_record"].(object)["sequence"] = 2
	require.Error(t, validate(t, record.KindJournal, opened))
	resumed := journalEntry(t, "journal.resumed", nil)
	delete(resumed["integrity"].(object), "previous_event_hash")
	require.Error(t, validate(t, record.KindJournal, resumed))
}

func TestTheLineageSchemaTakesSkeletonsOnly(t *testing.T) {
	skeleton := func() object {
		return object{
			"span_id": "b7ad6b7169203331", "name_digest": "sha256:c07a00000000000000000000000000000000000000000000000000000000009e",
			"kind": "client", "class": "tool", "status": "ok", "started_at": "2026-10-09T08:12:03.390000000Z", "ended_at": "2026-10-09T08:12:03.391000000Z",
			"edge_type": "protocol_call", "links": []any{object{"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203332"}},
			"tool_call_id": "call_1", "read_id": "read_x", "agent": object{"name": "a"}, "model": "m", "effect": object{
				"system": "postgresql", "operation": "SELECT", "namespace": "bank", "collection": "customers", "path_template": "/a/{id}", "target": "h",
				"status": "200", "rows": 0, "query_capture": "truncated", "query_canonicalization": "bytes", "query_size": 8,
				"query_digest": "hmac-sha256:k1:c07a00000000000000000000000000000000000000000000000000000000009e",
			},
		}
	}
	lineage := func(spans ...any) object {
		whole, body := entry(t)
		for _, name := range []string{"read_id", "execution_id", "tool_call_id", "source", "request", "response", "boundary", "retention", "capture", "basis"} {
			delete(body, name)
		}
		delete(whole, "read_record")
		body["event_type"], body["spans"] = "lineage.spans", spans
		whole["lineage_record"] = body
		return whole
	}
	require.NoError(t, validate(t, record.KindLineage, lineage(skeleton())))
	named := skeleton()
	named["name"] = "execute_tool x"
	require.Error(t, validate(t, record.KindLineage, lineage(named)), "a name and its digest")
	content := skeleton()
	content["arguments"] = "x"
	require.Error(t, validate(t, record.KindLineage, lineage(content)))
	require.Error(t, validate(t, record.KindLineage, lineage()), "no span")
	for _, unknown := range []object{
		{"query": "SELECT 1"},
		{"rows": -1},
		{"rows": "7"},
		{"query_capture": "captured"},
		{"query_digest": "sha256:c07a00000000000000000000000000000000000000000000000000000000009e"},
		{"query_size": 8},
	} {
		wrong := skeleton()
		wrong["effect"] = unknown
		require.Error(t, validate(t, record.KindLineage, lineage(wrong)), unknown)
	}
	many := make([]any, record.MaxLineageSpans+1)
	for i := range many {
		many[i] = skeleton()
	}
	require.Error(t, validate(t, record.KindLineage, lineage(many...)))
}

// The schemas stand alone so that anyone can use one file; what they share must
// not drift apart.
func TestSharedDefinitionsAreTheSameInEverySchema(t *testing.T) {
	shared := map[string]any{}
	for k := range schemas {
		var document object
		require.NoError(t, json.Unmarshal(Text(k.kind, k.version), &document))
		for name, definition := range document["$defs"].(object) {
			if earlier, found := shared[name]; found {
				require.Equal(t, earlier, definition, name)
			}
			shared[name] = definition
		}
	}
}

func TestABodyOrVersionWithoutASchemaIsUnsupported(t *testing.T) {
	require.ErrorIs(t, Validate("read_record", "1.1.0", []byte(`{}`)), ErrUnsupported)
	require.ErrorIs(t, Validate("audit_event", "9.0.0", []byte(`{}`)), ErrUnsupported)
	require.Nil(t, Text("audit_event", "9.0.0"))
	require.True(t, Supports(record.KindJournal, "1.0.0"))
}

func BenchmarkValidate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := Validate(record.KindRead, "1.0.0", []byte(readEntry)); err != nil {
			b.Fatal(err)
		}
	}
}
