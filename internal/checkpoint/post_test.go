// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
)

func TestAWitnessThatRefusesAndCutsTheConnectionIsNotUnreachable(t *testing.T) {
	key := checkpointtest.NewWitness(t, "witness.example.com").Key
	for cuts, want := range map[int32]checkpoint.Reason{0: checkpoint.ReasonRefused, 2: checkpoint.ReasonRefused, 3: checkpoint.ReasonUnreachable} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) > cuts {
				rw.WriteHeader(http.StatusForbidden)
				return
			}
			connection, _, err := rw.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				assert.NoError(t, connection.(*net.TCPConn).SetLinger(0)) // the close is a reset
				assert.NoError(t, connection.Close())
			}
		}))
		w := checkpoint.NewWitness("witness/one", server.URL, server.Client(), key)
		_, err := w.Attest(t.Context(), checkpointOf(t, 1, "root"), noProof)
		require.Error(t, err)
		assert.Equal(t, want, checkpoint.ReasonOf(err), "%d: %v", cuts, err)
		server.Close()
	}
}
