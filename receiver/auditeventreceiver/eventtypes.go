// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/record"
)

// eventTypes are the event types of what clients may be let write.
var eventTypes = []string{
	record.ActionPlanned.EventType(), record.ActionSent.EventType(), record.ActionCompleted.EventType(), record.ActionTimeout.EventType(),
	record.ActionUnknown.EventType(), record.ActionFailedBeforeSend.EventType(), record.ActionRevoked.EventType(),
	record.ApprovalRequested.EventType(), record.ApprovalDecided.EventType(), record.ApprovalRevoked.EventType(),
	record.EventDecisionMade, record.EventContextUsed, string(record.AuditActionCompleted), string(record.AuditActionDenied),
	record.EventAuditPart, record.EventAuditLogReceived,
}

// checkEventTypes refuses what no record is: a client would be let write less than is
// meant, and say so only when it matters.
func (c *ClientConfig) checkEventTypes() error {
	if c.EventTypes != nil && len(c.EventTypes) == 0 {
		return errors.New("event_types is empty, which would let the client write nothing; leave it out to let it write all")
	}
	for i, name := range c.EventTypes {
		if !slices.Contains(eventTypes, name) {
			return fmt.Errorf("event_types::%d is %q: write one of %s", i, name, strings.Join(eventTypes, ", "))
		}
	}
	return nil
}

// eventTypesOf returns what a client may write to a scope, by all of its bindings
// together; all says that nothing is left out.
func (b *bindings) eventTypesOf(client upstream.Client, scope *record.Scope) (types []string, all bool) {
	if len(b.clients) == 0 {
		return nil, true
	}
	for i := range b.clients {
		c := &b.clients[i]
		if !c.Binding.IsFor(client) || !c.Binding.Covers(*scope) {
			continue
		}
		if c.EventTypes == nil {
			return nil, true
		}
		types = append(types, c.EventTypes...)
	}
	return types, false
}

// eventTypeForbidden is the answer to a record of a type that the client may not write.
func eventTypeForbidden() *problem {
	return newProblem(codeEventType, "this client may not write records of this event type here; nothing was written")
}

// checkEventTypes refuses a call with a record of a type that its client may not write.
func (a *api) checkEventTypes(c *call, decoded []intake.Record) *problem {
	types, all := a.bindings.eventTypesOf(c.client, c.scope())
	if all {
		return nil
	}
	for i := range decoded {
		var body struct {
			EventType string `json:"event_type"`
		}
		draft, err := decoded[i].Draft()
		if err == nil {
			err = json.Unmarshal(draft.Body(), &body)
		}
		if err != nil || !slices.Contains(types, body.EventType) {
			p := eventTypeForbidden()
			p.Pointer = fragment(decoded[i].Pointer(""))
			return p
		}
	}
	return nil
}
