// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package action puts together what journals tell of one action: the plan, the
// approvals that bind it, its attempts and how each of them ended (requirements D1
// to D7, contract 11). It joins by ids that the entries name, within one
// organization, and concludes nothing that no entry says: where an outcome is
// missing, the action may have gone out.
package action

import (
	"encoding/json/v2"

	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Entry is an entry about an action: Action or Approval is set.
type Entry struct {
	lineage.Place
	EventID    string
	RecordedAt record.Time
	Action     *record.Action
	Approval   *record.Approval
}

// ActionID returns the action that the entry is about.
func (e *Entry) ActionID() string {
	if e.Approval != nil {
		return e.Approval.Binds.ActionID
	}
	return e.Action.ActionID
}

// Read reads an entry of a version that is known; nil if it is about no action.
func Read(e *journal.Entry) (*Entry, error) {
	if e.Header.EventType == "" {
		return nil, nil // of a newer version, and not interpreted
	}
	entry := &Entry{EventID: e.Header.EventID, RecordedAt: e.Header.RecordedAt}
	var by record.ObservedBy
	var err error
	switch e.Kind {
	case record.KindAction:
		if err = json.Unmarshal(e.Body, &entry.Action); err == nil {
			by = entry.Action.ObservedBy
		}
	case record.KindApproval:
		if err = json.Unmarshal(e.Body, &entry.Approval); err == nil {
			by = entry.Approval.ObservedBy
		}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entry.Place = lineage.Place{
		Organization: e.Header.Scope.OrganizationRef, JournalID: e.Header.JournalID, Sequence: e.Header.Sequence, Upstream: by.UpstreamContextSource,
	}
	return entry, nil
}
