// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte(`{"journal_id":"jrn_1","hold_id":"case-7","reason":"litigation","requested_by":"counsel"}`))
	f.Add([]byte(`{"journal_id":"jrn_1","first_sequence":10,"keep_days":3650,"checkpoint":"x","require_archived":true}`))
	f.Add([]byte(`{"journal_id":1e400}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if r, err := readRequest[HoldRequest](bytes.NewReader(body)); err == nil {
			require.LessOrEqual(t, len(r.JournalID)+len(r.HoldID), 3*len(body))
		} else {
			require.LessOrEqual(t, len(err.Error()), 200)
		}
		if r, err := readRequest[PruneRequest](bytes.NewReader(body)); err == nil {
			require.LessOrEqual(t, len(r.Checkpoint), 3*len(body))
		} else {
			require.LessOrEqual(t, len(err.Error()), 200)
		}
	})
}
