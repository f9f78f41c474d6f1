// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatStandsBesideAnAuditEventIsShown(t *testing.T) {
	for body, want := range map[[2]string]string{
		{"audit_event.received", `{"detail":{"audit_event_id":"evt_1","normalized":[{"pointer":"/policy/decision","from":"deny","to":"block"}]}}`}: "of evt_1, /policy/decision was deny, is block",
		{"audit_event.received", `{"detail":{"audit_event_id":"evt_1","composed_of":["a"]}}`}:                                                      "of evt_1, composed of 1 entry",
		{"audit_event.incomplete", `{"detail":{"action_id":"act_1","missing":["/policy","/privacy"],"contradicted":["/execution/status"]}}`}:       "no audit event of act_1, missing /policy /privacy, contradicted /execution/status",
		{"audit_event.part", `{"detail":{"action_id":"act_1","members":{"policy":{},"actors":{}}}}`}:                                               "for act_1, 2 members",
		{"journal.gap", `{"detail":{"action_id":"act_1"}}`}:                                                                                        "",
		{"audit_event.part", `[]`}: "",
	} {
		require.Equal(t, want, aboutAuditEvent(body[0], []byte(body[1])))
	}
}
