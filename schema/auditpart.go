// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/v2"
	"path"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/readtrail/readtrail/record"
)

// auditMembers is the schema of the members of an audit event, of which any may be
// absent. It is made of that of a whole one, so that both allow the same values.
var auditMembers = compiledMembers()

func compiledMembers() func() (*jsonschema.Schema, error) {
	text := membersOf(schemas[key{record.KindAuditEvent, record.AuditEventVersionExtended}].text)
	name := path.Join("audit-event", record.AuditEventVersionExtended, "members.json")
	return sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(name, text, name) })
}

// partly are the objects of an audit event whose members several parts may give.
var partly = []string{
	"auditCorrelation", "actors", "components", "requestedAction", "policy", "approval", "toolCall", "execution", "lineage", "auditEvidence", "privacy",
}

// membersOf returns the schema of members for that of a whole audit event.
func membersOf(whole []byte) []byte {
	var document struct {
		Dialect    string                    `json:"$schema"`
		Properties map[string]map[string]any `json:"properties"`
		Defs       map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(whole, &document); err != nil {
		panic(err) // a file of this package
	}
	event := document.Properties[string(record.KindAuditEvent)]
	for _, name := range []string{"event_id", "event_type", "recorded_at", "sequence", "scope", "action_ids"} {
		delete(event["properties"].(map[string]any), name)
	}
	loosen(event)
	for _, name := range partly {
		loosen(document.Defs[name])
	}
	loosen(document.Defs["approval"]["properties"].(map[string]any)["reviewer"].(map[string]any))
	document.Defs["toolCall"]["required"] = []string{"call_id"} // by which parts are joined
	event["$schema"], event["$defs"], event["minProperties"] = document.Dialect, document.Defs, 1
	text, err := json.Marshal(event)
	if err != nil {
		panic(err) // a file of this package
	}
	return text
}

// loosen takes from an object what it demands across its members.
func loosen(object map[string]any) {
	for _, keyword := range []string{"required", "allOf", "if", "then", "else"} {
		delete(object, keyword)
	}
}

// ValidateAuditMembers checks members of an audit event, of which any may be absent:
// what an audit_event.part holds. Errors are like those of Validate.
func ValidateAuditMembers(members []byte) error { return fits(auditMembers, members) }
