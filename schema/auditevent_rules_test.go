// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

type object = map[string]any

// A violation breaks one rule across members (requirement E3).
type violation struct {
	of *record.AuditEvent
	// change is made to the event before it is signed.
	change func(event object)
	// at is where it is found.
	at string
}

// in returns the object at a path of names.
func in(event object, path ...string) object {
	for _, name := range path {
		event = event[name].(object)
	}
	return event
}

func setIn(path string, value any) func(object) {
	names := strings.Split(path, "/")
	return func(event object) { in(event, names[:len(names)-1]...)[names[len(names)-1]] = value }
}

func removeIn(path string) func(object) {
	names := strings.Split(path, "/")
	return func(event object) { delete(in(event, names[:len(names)-1]...), names[len(names)-1]) }
}

func both(changes ...func(object)) func(object) {
	return func(event object) {
		for _, change := range changes {
			change(event)
		}
	}
}

// undecided makes the approval one of which no decision holds.
func undecided(decision string) func(object) {
	return both(setIn("approval/decision", decision), removeIn("approval/reviewer"), removeIn("approval/decided_at"))
}

func firstCall(event object) object { return event["tool_calls"].([]any)[0].(object) }

var violations = map[string]violation{
	"blocked_but_executed":            {deniedAction(), both(setIn("event_type", "agent.action.completed"), setIn("execution/status", "succeeded")), "/audit_event/execution/status"},
	"blocked_but_called_a_tool":       {deniedAction(), func(e object) { e["tool_calls"] = asObject(completeExecution())["tool_calls"] }, "/audit_event/tool_calls"},
	"approval_required_and_absent":    {completeExecution(), removeIn("approval"), "/audit_event/approval"},
	"executed_while_pending":          {completeExecution(), undecided("pending"), "/audit_event/execution/status"},
	"executed_though_rejected":        {completeExecution(), setIn("approval/decision", "rejected"), "/audit_event/execution/status"},
	"executed_after_expiry":           {completeExecution(), undecided("expired"), "/audit_event/execution/status"},
	"allowed_but_rejected":            {completeExecution(), both(setIn("policy/decision", "allow"), setIn("approval/decision", "rejected")), "/audit_event/execution/status"},
	"warned_but_rejected":             {completeExecution(), both(setIn("policy/decision", "warn"), setIn("approval/decision", "rejected")), "/audit_event/execution/status"},
	"allowed_while_pending":           {completeExecution(), both(setIn("policy/decision", "allow"), undecided("pending")), "/audit_event/execution/status"},
	"allowed_after_expiry":            {completeExecution(), both(setIn("policy/decision", "allow"), undecided("expired")), "/audit_event/execution/status"},
	"allowed_though_revoked":          {completeExecution(), both(setIn("policy/decision", "warn"), undecided("revoked")), "/audit_event/execution/status"},
	"allowed_but_called_a_tool":       {completeExecution(), both(setIn("policy/decision", "allow"), undecided("revoked"), setIn("execution/status", "not_started")), "/audit_event/tool_calls"},
	"approved_by_a_program":           {completeExecution(), setIn("approval/reviewer/kind", "service"), "/audit_event/execution/status"},
	"unapproved_but_called_a_tool":    {completeExecution(), both(setIn("approval/decision", "rejected"), setIn("execution/status", "denied"), setIn("event_type", "agent.action.denied")), "/audit_event/tool_calls"},
	"not_started_but_called_a_tool":   {completeExecution(), setIn("execution/status", "not_started"), "/audit_event/tool_calls"},
	"denied_by_type_only":             {completeExecution(), both(setIn("event_type", "agent.action.denied"), setIn("tool_calls", []any{})), "/audit_event/execution/status"},
	"denied_by_status_only":           {deniedAction(), setIn("event_type", "agent.action.completed"), "/audit_event/execution/status"},
	"approved_by_nobody":              {completeExecution(), removeIn("approval/reviewer"), "/audit_event/approval/reviewer"},
	"approved_at_no_time":             {completeExecution(), removeIn("approval/decided_at"), "/audit_event/approval/decided_at"},
	"pending_with_a_reviewer":         {deniedAction(), func(e object) { e["approval"] = pendingWithReviewer() }, "/audit_event/approval/reviewer"},
	"redacted_without_redactions":     {completeExecution(), setIn("privacy/redactions", []any{}), "/audit_event/privacy/redactions"},
	"redactions_that_are_denied":      {completeExecution(), setIn("privacy/redaction_status", "none"), "/audit_event/privacy/redactions"},
	"size_without_a_digest":           {completeExecution(), func(e object) { delete(firstCall(e), "result_digest") }, "/audit_event/tool_calls/0/result_digest"},
	"amount_without_a_currency":       {completeExecution(), removeIn("requested_action/amount/currency"), "/audit_event/requested_action/amount/currency"},
	"trace_id_of_zeros":               {completeExecution(), setIn("correlation/trace_id", strings.Repeat("0", 32)), "/audit_event/correlation/trace_id"},
	"span_id_of_zeros":                {completeExecution(), setIn("correlation/span_id", strings.Repeat("0", 16)), "/audit_event/correlation/span_id"},
	"old_spelling_of_block":           {deniedAction(), setIn("policy/decision", "deny"), "/audit_event/policy/decision"},
	"member_of_a_later_version":       {completeExecution(), setIn("action_ids", []any{"act_1"}), "/audit_event"},
	"journal_id_that_is_not_its_own":  {completeExecution(), setIn("journal_id", "jrn_1"), "/audit_event"},
	"observed_by_that_is_not_its_own": {completeExecution(), setIn("observed_by", object{"collector_id": "c"}), "/audit_event"},
}

// auditRuleBreaks break the rules that no schema can say.
var auditRuleBreaks = map[string]violation{
	"own_parent_audit_event": {completeExecution(), setIn("correlation/parent_event_id", completeExecution().EventID), "/correlation/parent_event_id"},
	"call_twice":             {completeExecution(), func(e object) { e["tool_calls"] = []any{firstCall(e), firstCall(e)} }, "/tool_calls/1/call_id"},
	"redacted_twice": {completeExecution(), func(e object) {
		redactions := in(e, "privacy")["redactions"].([]any)
		in(e, "privacy")["redactions"] = append(redactions, redactions...)
	}, "/privacy/redactions/1/pointer"},
}

// What no schema can say shows as it stands: a verifier has nothing against it.
func TestEveryRuleThatNoSchemaSaysHasAnExampleToo(t *testing.T) {
	for id, v := range auditRuleBreaks {
		path := filepath.Join("audit-event", "1.0.0", "examples", "invalid", "rule."+id+".json")
		text := v.broken(t)
		if *update {
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}
		published, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(published), string(text))
		require.NoError(t, schema.Validate(record.KindAuditEvent, "1.0.0", text))
		var envelope struct {
			Event record.AuditEvent `json:"audit_event"`
		}
		require.NoError(t, json.Unmarshal(text, &envelope))
		require.Equal(t, &record.RuleError{Rule: id, Pointer: v.at}, envelope.Event.Check())
	}
}

func pendingWithReviewer() object {
	approval := asObject(completeExecution())["approval"].(object)
	approval["decision"] = "pending"
	delete(approval, "decided_at")
	return approval
}

func asObject(e *record.AuditEvent) (o object) {
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		panic(err)
	}
	return o
}

// broken is an event that was signed as it is.
func (v violation) broken(t *testing.T) []byte {
	envelope := envelopeOf(t, v.of, record.AuditEventVersion, 184, verified("not_performed"))
	var event object
	require.NoError(t, json.Unmarshal(envelope["audit_event"].(jsontext.Value), &event))
	v.change(event)
	envelope["audit_event"] = event
	resign(t, envelope)
	return pretty(t, envelope)
}

// Each rule has an example that breaks it and nothing else: hash and signature of the
// example are right.
func TestEveryRuleAcrossMembersHasAnExampleThatBreaksIt(t *testing.T) {
	registry, err := journal.ParseRegistry(example(t, "1.0.0/examples/keys.json"))
	require.NoError(t, err)
	directory := filepath.Join("audit-event", "1.0.0", "examples", "invalid")
	for name, v := range violations {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(directory, name+".json")
			text := v.broken(t)
			if *update {
				require.NoError(t, os.MkdirAll(directory, 0o755))
				require.NoError(t, os.WriteFile(path, text, 0o644))
			}
			published, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(published), string(text))

			var invalid *schema.InvalidError
			require.ErrorAs(t, schema.Validate(record.KindAuditEvent, "1.0.0", text), &invalid)
			require.Equal(t, v.at, invalid.Location, invalid.Keyword)
			e := journal.VerifyEnvelope(text, journal.Options{Registry: registry})
			require.Equal(t, 1, e.ExitCode())
			require.Equal(t, journal.CodeSchemaInvalid, e.Report().FirstBad.Code)
			require.Equal(t, [3]journal.Check{journal.Valid, journal.Valid, journal.Failed}, [3]journal.Check{e.Hash, e.Signature, e.Schema})
		})
	}
	files, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, files, len(violations)+len(auditRuleBreaks), "every example is one of a rule that is tested")
}

func TestWhatAVerifierSaidBeforeHasItsReasons(t *testing.T) {
	for _, c := range []struct {
		status string
		codes  []any
		valid  bool
	}{
		{"valid", nil, true},
		{"not_performed", nil, true},
		{"failed", []any{"record_hash_mismatch"}, true},
		{"failed", nil, false},
		{"valid", []any{"record_hash_mismatch"}, false},
		{"trusted", nil, false},
	} {
		text := canonical(t, envelopeOf(t, completeExecution(), record.AuditEventVersion, 2, verified(c.status, c.codes...)))
		err := schema.Validate(record.KindAuditEvent, "1.0.0", text)
		require.Equal(t, c.valid, err == nil, "%s %v: %v", c.status, c.codes, err)
	}
}

// Nothing that the dictionary demands can be left out, and no member can be another
// one by mistake.
func TestEveryMemberThatTheDictionaryDemandsIsMissed(t *testing.T) {
	required, optional := 0, optionalMembers(t)
	for name, e := range map[string]*record.AuditEvent{"complete": completeExecution(), "denied": deniedAction()} {
		whole := envelopeOf(t, e, record.AuditEventVersion, 184, verified("valid"))
		var document object
		require.NoError(t, json.Unmarshal(canonical(t, whole), &document))
		walk(document, "", func(parent object, member, at string) {
			at += "/" + member
			if slices.Contains(optional, element.ReplaceAllString(at, "/0")) {
				return
			}
			value := parent[member]
			delete(parent, member)
			defer func() { parent[member] = value }()
			var invalid *schema.InvalidError
			require.ErrorAs(t, schema.Validate(record.KindAuditEvent, "1.0.0", canonical(t, document)), &invalid, "%s: %s", name, at)
			require.Equal(t, at, invalid.Location, name)
			required++
		})
	}
	require.Greater(t, required, 100)
}

// element is the index of an element in a JSON Pointer.
var element = regexp.MustCompile(`/[0-9]+`)

// walk visits every member of a document.
func walk(v any, at string, visit func(parent object, member, at string)) {
	switch v := v.(type) {
	case object:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			visit(v, member, at)
			walk(v[member], at+"/"+member, visit)
		}
	case []any:
		for i, value := range v {
			walk(value, at+"/"+strconv.Itoa(i), visit)
		}
	}
}

// optionalMembers are the members of the examples that the dictionary calls conditional
// or optional, and those that we add to it.
func optionalMembers(t *testing.T) []string {
	text, err := os.ReadFile("../testdata/audit-event-optional.txt")
	require.NoError(t, err)
	return strings.Fields(string(text))
}
