// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// aboutAuditEvent says what a journal record about an audit event tells, "" for any
// other.
func aboutAuditEvent(eventType string, body []byte) string {
	var about struct {
		Detail struct {
			AuditEventID string              `json:"audit_event_id"`
			ActionID     string              `json:"action_id"`
			Normalized   []record.Normalized `json:"normalized"`
			ComposedOf   []string            `json:"composed_of"`
			Missing      []string            `json:"missing"`
			Contradicted []string            `json:"contradicted"`
			Invalid      []string            `json:"invalid"`
			Members      map[string]any      `json:"members"`
		} `json:"detail"`
	}
	if !strings.HasPrefix(eventType, "audit_event.") || json.Unmarshal(body, &about) != nil {
		return ""
	}
	d := &about.Detail
	var said []string
	add := func(what string, pointers []string) {
		if len(pointers) > 0 {
			said = append(said, what+" "+strings.Join(pointers, " "))
		}
	}
	switch eventType {
	case record.EventAuditReceived:
		said = append(said, "of "+d.AuditEventID)
		if d.ComposedOf != nil {
			said = append(said, "composed of "+count(len(d.ComposedOf), "entry"))
		}
	case record.EventAuditIncomplete:
		said = append(said, "no audit event of "+d.ActionID)
		add("missing", d.Missing)
		add("contradicted", d.Contradicted)
		add("invalid", d.Invalid)
	case record.EventAuditPart:
		said = append(said, "for "+d.ActionID+", "+count(len(d.Members), "member"))
	}
	for _, n := range d.Normalized {
		said = append(said, n.Pointer+" was "+n.From+", is "+n.To)
	}
	return strings.Join(said, ", ")
}
