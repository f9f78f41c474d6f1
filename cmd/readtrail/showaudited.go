// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// audited names an audit event that is shown: it names no journal, so that its source
// does.
type audited struct {
	source  int
	eventID string
}

// receivedType stands in each line that says who gave an audit event.
var receivedType = []byte(`"` + record.EventAuditReceived + `"`)

// addReceived says in the row of an audit event what stands beside it: who gave it,
// which the event cannot say of itself, and what it was spelled like before.
func (j *joining) addReceived(at position, e *journal.Entry) {
	if e.Header.EventType != record.EventAuditReceived || len(j.audited) == 0 {
		return
	}
	o := observe(e)
	key := audited{at.source, o.ofEvent}
	row := j.audited[key]
	if row == nil {
		return
	}
	delete(j.audited, key) // there is one
	by := o.seenBy
	if by == "" {
		by = "composed by the collector"
	}
	row.seenBy = by + ", by agent " + row.agent
	row.status = strings.Join(append([]string{row.status}, o.normalized...), ", ")
}
