// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"encoding/json/v2"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// actionName names an action: ids are good within one organization.
type actionName struct{ organization, id string }

// actionMember begins the members that name actions.
var actionMember = []byte(`"action_id`)

// actionsOf returns the actions that an entry names, in any body of any version: the
// names of these members do not change within a major version.
func actionsOf(e *journal.Entry) (names []actionName) {
	if !bytes.Contains(e.Body, actionMember) {
		return nil
	}
	var body struct {
		ActionID  string   `json:"action_id"`
		ActionIDs []string `json:"action_ids"`
		Binds     struct {
			ActionID string `json:"action_id"`
		} `json:"binds"`
		Scope struct {
			OrganizationRef string `json:"organization_ref"`
		} `json:"scope"`
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return nil
	}
	for _, id := range append(body.ActionIDs, body.ActionID, body.Binds.ActionID) {
		if id != "" {
			names = append(names, actionName{body.Scope.OrganizationRef, id})
		}
	}
	return names
}

// nameActions notes the actions that an entry names which is taken.
func (m *maker) nameActions(e *journal.Entry) error {
	for _, name := range actionsOf(e) {
		m.actions[name] = true
	}
	return within(len(m.actions))
}

// isOfActions reports whether an entry is a record of an action that what was taken
// names, or of an approval of one: whoever approved did so under an execution of
// their own, and what an action came to stands in another journal than the read that
// asked for it.
func (m *maker) isOfActions(e *journal.Entry) bool {
	if len(m.actions) == 0 || e.Kind != record.KindAction && e.Kind != record.KindApproval {
		return false
	}
	for _, name := range actionsOf(e) {
		if m.actions[name] {
			return true
		}
	}
	return false
}
