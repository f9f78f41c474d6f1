// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzAnswers reads what anybody may answer in the journal's place.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"receipts":[{"event_id":"evb_1","journal_id":"j","sequence":1,"record_hash":"sha256:00","key_id":"k","signature":"AA==","recorded_at":"2026-01-01T00:00:00.000000000Z"}]}`))
	f.Add([]byte(`{"code":"approval_not_bound","pointer":"#/0/action_record/action/host","event_id":"evt_1"}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if receipts, err := (&Client{}).receipts(answer, []Record{{EventID: "evb_1"}}); err == nil {
			require.Equal(t, "evb_1", receipts[0].EventID)
		}
		r := refusalOf(409, answer)
		require.True(t, isToken(r.Code))
		require.NotContains(t, r.Error(), "\n")
	})
}

// FuzzUpstream reads what anybody may send as context.
func FuzzUpstream(f *testing.F) {
	f.Add(forged, []byte(`{"execution_id":"r","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"}`))
	f.Fuzz(func(t *testing.T, header string, payload []byte) {
		if trace, parent, ok := ParseTraceparent(header); ok {
			require.True(t, isHexID(trace, 16) && isHexID(parent, 8))
		}
		if job, err := ParseJob(payload); err == nil {
			require.NoError(t, job.check())
		}
	})
}

// FuzzCommand fills templates: whatever a value is, it stays one word.
func FuzzCommand(f *testing.F) {
	f.Add("systemctl restart {unit}", "it's; rm -rf /")
	f.Fuzz(func(t *testing.T, template, value string) {
		line, err := (&Command{Template: template, Values: map[string]string{"unit": value}}).line()
		if err != nil {
			return
		}
		require.Equal(t, strings.ReplaceAll(template, "{unit}", quote(value)), line)
		require.Equal(t, value, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(quote(value), "'"), "'"), `'\''`, "'"))
	})
}
