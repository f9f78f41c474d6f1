// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/record"
)

const uuid = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"

// exampleForm is the canonical form of the draft's example, written by hand.
const exampleForm = `{"Attributes":{"audit.action":{"stringValue":"LOGIN"},"audit.actor.id":{"stringValue":"u8472"},"audit.actor.type":{"stringValue":"user"},` +
	`"audit.outcome":{"stringValue":"success"},"audit.record.id":{"stringValue":"` + uuid + `"},"audit.schema.version":{"stringValue":"1.0.0"},` +
	`"audit.source.id":{"stringValue":"203.0.113.42"},"audit.source.type":{"stringValue":"ipv4"},"audit.target.id":{"stringValue":"/api/auth/session"},` +
	`"audit.target.type":{"stringValue":"http.endpoint"},"session.id":{"stringValue":"sess-abc123"}},"EventName":"user.login.success",` +
	`"ObservedTimestamp":"1799999990001000000","Timestamp":"1799999990000000000"}`

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestARecordIsAcknowledgedAsTheDraftSaysOnceItIsDurable(t *testing.T) {
	r := newRig(t)
	answer := r.post(auditRecord(uuid))
	require.Equal(t, 200, answer.http, answer.text)
	assert.Equal(t, uuid, answer.object["record_id"])
	assert.Equal(t, "delivered_all_sinks", answer.object["status"])
	assert.Equal(t, hashOf(exampleForm), answer.object["integrity_hash"], "the client computes the same hash")
	assert.Equal(t, "deferred", answer.object["verify_status"], "a proof that is not there never passes")
	assert.Equal(t, "unsigned", answer.object["verify_reason"])

	entries := r.entries()
	require.Len(t, entries, 1)
	e := entries[0]
	ns, err := strconv.ParseInt(answer.object["sink_timestamp"].(string), 10, 64)
	require.NoError(t, err)
	assert.Equal(t, e.Header.RecordedAt.Std().UnixNano(), ns)
	sink := answer.object["sink_status_map"].(object)["audit_journal"].(object)
	assert.Equal(t, "success", sink["delivery_status"])
	assert.Equal(t, e.Header.EventID, sink["sink_ack_id"])
	assert.Equal(t, e.Integrity.RecordHash, answer.object["receipt"].(object)["record_hash"])

	log := r.details()[0]
	assert.Equal(t, record.EventAuditLogReceived, e.Header.EventType)
	assert.Equal(t, "2027-01-15T07:59:50.000000000Z", e.Header.OccurredAt.String())
	assert.Equal(t, record.Text{Value: uuid}, log.RecordID)
	assert.Equal(t, "/api/auth/session", log.Target.ID.Value)
	assert.Equal(t, "sha256:"+hashOf(exampleForm), log.PayloadDigest)
	assert.EqualValues(t, len(exampleForm), log.PayloadSize)
	assert.EqualValues(t, 1, log.Attributes.Count, "what the draft does not name is content")
	assert.NotContains(t, string(e.Body), "sess-abc123")
	assert.NotContains(t, string(e.Body), "auth-service")
}

func TestProtobufAndJSONOfOneRecordAreOneRecord(t *testing.T) {
	r := newRig(t)
	text := request(auditRecord(uuid))
	decoded := plogotlp.NewExportRequest()
	require.NoError(t, decoded.UnmarshalJSON(text))
	binary, err := decoded.MarshalProto()
	require.NoError(t, err)
	first, second := r.send(auditlog.Protobuf, binary), r.send(auditlog.JSON, text)
	require.Equal(t, 200, first.http, first.text)
	require.Equal(t, 200, second.http, second.text)
	assert.Equal(t, first.object["integrity_hash"], second.object["integrity_hash"])
	assert.Equal(t, true, second.object["receipt"].(object)["repeat"])
	assert.Len(t, r.entries(), 1)
}

func TestARetryGetsTheSameSuccessAlsoAfterARestart(t *testing.T) {
	r := newRig(t)
	first := r.post(auditRecord(uuid), auditRecord("second"))
	require.Equal(t, 200, first.http, first.text)
	r.reopen()
	second := r.post(auditRecord(uuid), auditRecord("second"))
	require.Equal(t, 200, second.http, second.text)
	assert.Equal(t, first.text, strings.ReplaceAll(second.text, `,"repeat":true`, ""))
	assert.Len(t, r.entries(), 2)
}

func TestTheSameIDWithAnotherPayloadIsAConflictAndTakesNothingOfItsBatch(t *testing.T) {
	r := newRig(t)
	require.Equal(t, 200, r.post(auditRecord(uuid)).http)
	answer := r.post(auditRecord("another"), auditRecord(uuid, object{"audit.outcome": "failure"}))
	require.Equal(t, 409, answer.http, answer.text)
	assert.Zero(t, answer.retryAfter, "it is not to be retried")
	assert.NotContains(t, answer.text, "retry_after")
	byID := answer.object["record_status_map"].(object)
	assert.Equal(t, "conflict", byID[uuid].(object)["code"])
	assert.Equal(t, r.entries()[0].Header.EventID, byID[uuid].(object)["event_id"])
	assert.Equal(t, "batch_refused", byID["another"].(object)["code"])
	assert.Len(t, r.entries(), 1)

	answer = r.post(auditRecord("twice"), auditRecord("twice", object{"audit.outcome": "failure"}))
	require.Equal(t, 409, answer.http, "also within one request")
	assert.Len(t, r.entries(), 1)
}

func TestABatchIsAnsweredByRecord(t *testing.T) {
	r := newRig(t)
	answer := r.post(auditRecord("a"), auditRecord("b"), auditRecord("a"))
	require.Equal(t, 200, answer.http, answer.text)
	assert.Equal(t, "delivered_all_sinks", answer.object["status"])
	assert.Equal(t, "success", answer.object["sink_status_aggregate"])
	assert.NotEmpty(t, answer.object["batch_id"])
	byID := answer.object["record_status_map"].(object)
	require.Len(t, byID, 2)
	assert.Equal(t, "a", byID["a"].(object)["record_id"])
	assert.NotContains(t, byID["a"].(object)["receipt"], "repeat", "the first of the two was written")
	assert.Len(t, r.entries(), 2)
}

func TestEachRuleOfTheDataModelIsHeld(t *testing.T) {
	deep := object{"stringValue": "x"}
	for range 80 {
		deep = object{"arrayValue": object{"values": []any{deep}}}
	}
	valid := auditRecord(uuid)
	twice := with(valid, object{"attributes": append(attributes(object{"x": "1"}), append(attributes(object{"x": "2"}), valid["attributes"].([]any)...)...)})
	cases := map[string]struct {
		body []byte
		code string
		in   string
	}{
		"no audit.record.id":            {request(auditRecord(uuid, object{"audit.record.id": nil})), "attribute_missing", "audit.record.id"},
		"no audit.actor.id":             {request(auditRecord(uuid, object{"audit.actor.id": nil})), "attribute_missing", "audit.actor.id"},
		"no audit.actor.type":           {request(auditRecord(uuid, object{"audit.actor.type": nil})), "attribute_missing", "audit.actor.type"},
		"no audit.action":               {request(auditRecord(uuid, object{"audit.action": nil})), "attribute_missing", "audit.action"},
		"no audit.outcome":              {request(auditRecord(uuid, object{"audit.outcome": nil})), "attribute_missing", "audit.outcome"},
		"an empty actor":                {request(auditRecord(uuid, object{"audit.actor.id": ""})), "attribute_empty", "audit.actor.id"},
		"an actor type of its own":      {request(auditRecord(uuid, object{"audit.actor.type": "robot"})), "attribute_invalid", "user, service, system"},
		"an outcome of its own":         {request(auditRecord(uuid, object{"audit.outcome": "SUCCESS"})), "attribute_invalid", "success, failure, unknown"},
		"an id that is a number":        {request(auditRecord(uuid, object{"audit.record.id": 7})), "attribute_type", "audit.record.id"},
		"a sequence that is text":       {request(auditRecord(uuid, object{"audit.sequence.number": "1"})), "attribute_type", "audit.sequence.number"},
		"a sequence from 0":             {request(auditRecord(uuid, object{"audit.sequence.number": 0})), "attribute_invalid", "audit.sequence.number"},
		"a previous hash that is none":  {request(auditRecord(uuid, object{"audit.sequence.previous_hash": "abc"})), "attribute_invalid", "previous_hash"},
		"an id of 300 bytes":            {request(auditRecord(strings.Repeat("x", 300))), "attribute_invalid", "audit.record.id"},
		"a token as the actor":          {request(auditRecord(uuid, object{"audit.actor.id": "ghp_" + strings.Repeat("a1B2", 9)})), "credential", "audit.actor.id"},
		"no timestamp":                  {request(with(valid, object{"timeUnixNano": nil})), "timestamp_missing", "timeUnixNano"},
		"no observed timestamp":         {request(with(valid, object{"observedTimeUnixNano": nil})), "observed_timestamp_missing", "observedTimeUnixNano"},
		"observed before it happened":   {request(with(valid, object{"observedTimeUnixNano": "1799999989000000000"})), "observed_before_timestamp", "observedTimeUnixNano"},
		"observed in the future":        {request(with(valid, object{"observedTimeUnixNano": "1800000001000000000"})), "observed_in_future", "clocks"},
		"observed at the end of time":   {request(with(valid, object{"observedTimeUnixNano": "18446744073709551615"})), "observed_in_future", "clocks"},
		"no event name":                 {request(with(valid, object{"eventName": nil})), "event_name_missing", "eventName"},
		"a severity number":             {request(with(valid, object{"severityNumber": 9})), "severity_set", "severityNumber"},
		"a severity text":               {request(with(valid, object{"severityText": "INFO"})), "severity_set", "severityText"},
		"dropped attributes":            {request(with(valid, object{"droppedAttributesCount": 1})), "attributes_dropped", "whole"},
		"an attribute twice":            {request(twice), "attribute_twice", "twice"},
		"no resource":                   {[]byte(strings.Replace(string(request(valid)), `"resource":`, `"other":`, 1)), "resource_missing", "resource"},
		"a resource without attributes": {requestOf(object{}, valid), "resource_missing", "resource"},
		"no records":                    {[]byte(`{"resourceLogs":[]}`), "no_records", "no log records"},
		"no JSON":                       {[]byte(`{"resourceLogs":`), "malformed", "JSON"},
		"an array":                      {[]byte(`[]`), "malformed", "JSON"},
		"a name twice":                  {[]byte(`{"resourceLogs":[],"resourceLogs":[]}`), "malformed", "JSON"},
		"values that nest too deep":     {request(with(valid, object{"body": deep})), "malformed", "deeper"},
		"a value of two kinds":          {request(with(valid, object{"body": object{"stringValue": "a", "intValue": 1}})), "malformed", "two kinds"},
		"a signer without a value":      {request(auditRecord(uuid, object{"audit.integrity.signer": "producer"})), "attribute_invalid", "audit.integrity.signer"},
		"a value without an algorithm":  {request(auditRecord(uuid, object{"audit.integrity.value": "AAAA"})), "algorithm_missing", "audit.integrity.algorithm"},
	}
	r := newRig(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer := r.send(auditlog.JSON, c.body)
			assert.Equal(t, 400, answer.http, answer.text)
			assert.Equal(t, "rejected_schema_invalid", answer.object["status"])
			assert.Equal(t, c.code, answer.object["code"], answer.text)
			assert.Contains(t, answer.object["reason"], c.in)
		})
	}
	t.Run("a scope", func(t *testing.T) {
		body := strings.Replace(string(request(valid)), `"scopeLogs":[{`, `"scopeLogs":[{"scope":{"name":"lib"},`, 1)
		assert.Equal(t, "scope_set", r.send(auditlog.JSON, []byte(body)).object["code"])
	})
	assert.Empty(t, r.entries(), "nothing of this is recorded")
	for _, empty := range []string{`{}`, `{"name":""}`} {
		body := strings.Replace(string(request(valid)), `"scopeLogs":[{`, `"scopeLogs":[{"scope":`+empty+`,`, 1)
		assert.Equal(t, 200, r.send(auditlog.JSON, []byte(body)).http, "a scope that says nothing is empty")
	}
}

func TestOneRecordThatIsWrongTakesTheBatchWithIt(t *testing.T) {
	r := newRig(t)
	answer := r.post(auditRecord("a"), auditRecord("b", object{"audit.action": nil}), auditRecord("c"))
	require.Equal(t, 400, answer.http)
	assert.Equal(t, "failed", answer.object["sink_status_aggregate"])
	byID := answer.object["record_status_map"].(object)
	assert.Equal(t, "attribute_missing", byID["b"].(object)["code"])
	assert.Equal(t, "/resourceLogs/0/scopeLogs/0/logRecords/1/attributes", byID["b"].(object)["pointer"])
	assert.NotEqual(t, "delivered_all_sinks", byID["a"].(object)["status"])
	assert.Empty(t, r.entries())
}

func TestWhatIsTooLargeIsSaidToBe(t *testing.T) {
	r := newRig(t, func(o *auditlog.Options) { o.Limits = auditlog.DefaultLimits; o.Limits.Records = 2 })
	assert.Equal(t, 413, r.post(auditRecord("a"), auditRecord("b"), auditRecord("c")).http)
	many := object{}
	for i := range 100_000 {
		many["a"+strconv.Itoa(i)] = i
	}
	assert.Equal(t, 413, r.post(auditRecord("a", many)).http)
	assert.Empty(t, r.entries())
}

func TestAJournalThatIsAwayIsNoAcknowledgment(t *testing.T) {
	r := newRig(t)
	r.fails = errDisk
	answer := r.post(auditRecord(uuid))
	assert.Equal(t, 503, answer.http)
	assert.Equal(t, 7, answer.retryAfter)
	assert.EqualValues(t, 7, answer.object["retry_after"])
	assert.Equal(t, "failed_internal", answer.object["status"])
	assert.NotContains(t, answer.text, "disk")
}

func TestContentStandsNowhereInClear(t *testing.T) {
	r := newRig(t)
	canary := func(n int) string { return "CANARY-audit-" + strconv.Itoa(n) }
	rec := with(auditRecord(uuid, object{
		canary(1): canary(2), "audit.unknown": canary(3), "audit.target.id": "/path?" + canary(4), "audit.action": "say " + canary(5),
		"audit.source.id": canary(6) + " \"", "audit.record.idx": canary(7), "audit.sequence.stream_id": "stream " + canary(8), "audit.sequence.number": 1,
		"audit.actor.id": "Name " + canary(9), "audit.integrity.other": canary(10),
	}), object{"body": object{"kvlistValue": object{"values": attributes(object{canary(11): canary(12)})}}, "eventName": "what " + canary(13), canary(14): canary(15)})
	answer := r.send(auditlog.JSON, requestOf(object{"service.name": canary(16), canary(17): "x", "audit.integrity.certificate": "is " + canary(18)}, rec))
	require.Equal(t, 200, answer.http, answer.text)
	assert.NotContains(t, answer.text, "CANARY")
	for _, e := range r.entries() {
		assert.NotContains(t, string(e.Body), "CANARY")
	}
	assert.EqualValues(t, 1, r.details()[0].IgnoredFields, "a field that nobody knows is counted")

	for _, broken := range []object{
		auditRecord(uuid, object{"audit.outcome": canary(1)}), auditRecord(uuid, object{"audit.actor.type": canary(1)}),
		auditRecord(uuid, object{"audit.sequence.previous_hash": canary(1)}), with(auditRecord("x"), object{"traceId": canary(2)}),
		auditRecord(strings.Repeat(canary(3), 30)), with(auditRecord("x"), object{"timeUnixNano": canary(4)}),
		auditRecord("x", object{"audit.integrity.value": canary(5)}), with(auditRecord("x"), object{canary(6): object{canary(7): 1}, "body": canary(8)}),
	} {
		answer := r.post(broken)
		assert.Equal(t, 400, answer.http)
		assert.NotContains(t, answer.text, "CANARY")
	}
}

func TestConcurrentClientsOfOneRecordWriteItOnce(t *testing.T) {
	r := newRig(t)
	body := request(auditRecord(uuid, object{"audit.sequence.stream_id": "s", "audit.sequence.number": 1}))
	answers := make([]auditlog.Answer, 16)
	lockstep(len(answers), func(i int) {
		answers[i] = r.service.Receive(t.Context(), auditlog.Request{Format: auditlog.JSON, Body: body, Source: "unverified_input", Journal: r})
	})
	for _, a := range answers {
		assert.Equal(t, 200, a.HTTP, "%s", a.Body)
		assert.Zero(t, a.ChainWarnings)
	}
	assert.Len(t, r.entries(), 1)
}
