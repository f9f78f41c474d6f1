// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// observeAbout says what a journal record tells of an audit event, of an action
// whose event is not whole, or of a record of an audit log. It leaves alone what any
// other tells.
func (o *observation) observeAbout(body []byte) error {
	var err error
	switch o.event {
	case record.EventAuditReceived:
		err = o.observeReceived(body)
	case record.EventAuditIncomplete:
		err = o.observeIncomplete(body)
	case record.EventAuditPart:
		err = o.observePart(body)
	case record.EventAuditLogReceived:
		err = o.observeLogged(body)
	case record.EventAuditLogVerified:
		err = o.observeLogVerified(body)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	var by struct {
		ObservedBy record.ObservedBy `json:"observed_by"`
	}
	if err := json.Unmarshal(body, &by); err != nil {
		return err
	}
	o.seenBy = toldFrom("", &by.ObservedBy)
	return nil
}

func (o *observation) observeReceived(body []byte) error {
	d, err := detailOf[record.AuditReceived](body)
	if err != nil {
		return err
	}
	o.ofEvent = d.AuditEventID
	said := []string{"of " + d.AuditEventID}
	if d.ComposedOf != nil {
		said = append(said, "composed of "+count(len(d.ComposedOf), "entry"))
	}
	o.normalized = normalizedTexts(d.Normalized)
	o.what = strings.Join(append(said, o.normalized...), ", ")
	return nil
}

func (o *observation) observeIncomplete(body []byte) error {
	d, err := detailOf[record.AuditIncomplete](body)
	if err != nil {
		return err
	}
	o.actionIDs = namedOnly(d.ActionID)
	said := []string{"no audit event of " + d.ActionID}
	for _, found := range []struct {
		what     string
		pointers []string
	}{{"missing", d.Missing}, {"contradicted", d.Contradicted}, {"invalid", d.Invalid}} {
		if len(found.pointers) > 0 {
			said = append(said, found.what+" "+strings.Join(found.pointers, " "))
		}
	}
	o.what, o.status = strings.Join(said, ", "), "incomplete"
	return nil
}

func (o *observation) observePart(body []byte) error {
	d, err := detailOf[struct {
		record.AuditPart `json:",inline"`
		Members          map[string]any `json:"members"`
	}](body)
	if err != nil {
		return err
	}
	o.actionIDs = namedOnly(d.ActionID)
	if policy, isObject := d.Members["policy"].(map[string]any); isObject {
		o.decisionID, _ = policy["decision_id"].(string)
	}
	o.normalized = normalizedTexts(d.Normalized)
	o.what = strings.Join(append([]string{"for " + d.ActionID + ", " + count(len(d.Members), "member")}, o.normalized...), ", ")
	return nil
}

func (o *observation) observeLogged(body []byte) error {
	d, err := detailOf[record.AuditLog](body)
	if err != nil {
		return err
	}
	said := []string{d.RecordID.Ref(), d.EventName.Ref(), strings.TrimSpace(d.Action.Ref() + " " + d.Outcome)}
	if d.Actor.ID != nil {
		said = append(said, "by "+d.Actor.ID.Ref())
	}
	o.what, o.status = strings.Join(said, ", "), proofText(&d.Integrity)
	if s := d.Sequence; s != nil {
		o.status += ", stream " + strings.Join(append([]string{string(s.Check)}, s.Problems...), " ")
	}
	return nil
}

func (o *observation) observeLogVerified(body []byte) error {
	d, err := detailOf[record.AuditLogVerified](body)
	if err != nil {
		return err
	}
	o.ofEvent = d.EntryID
	o.what, o.status = d.RecordID.Ref()+", entry "+d.EntryID, proofText(&d.Integrity)
	return nil
}

// proofText says what was found of the proofs that a record of an audit log came with.
func proofText(i *record.AuditIntegrity) string {
	return strings.TrimSpace("proof " + string(i.Status) + " " + i.Reason)
}

func normalizedTexts(all []record.Normalized) (said []string) {
	for _, n := range all {
		said = append(said, n.Pointer+" was "+n.From+", is "+n.To)
	}
	return said
}

func namedOnly(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// detailOf reads the detail of a journal record.
func detailOf[T any](body []byte) (*T, error) {
	var about struct {
		Detail T `json:"detail"`
	}
	if err := json.Unmarshal(body, &about); err != nil {
		return nil, err
	}
	return &about.Detail, nil
}
