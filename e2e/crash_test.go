// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// killRounds is how often the collector is killed; READTRAIL_KILL_ROUNDS
// changes it.
const killRounds = 100

// TestNothingAcknowledgedIsLostByKill9 kills the collector at random moments
// under load. Afterwards every acknowledged record is there exactly once and
// the chain verifies.
func TestNothingAcknowledgedIsLostByKill9(t *testing.T) {
	rounds := killRounds
	if s := os.Getenv("READTRAIL_KILL_ROUNDS"); s != "" {
		var err error
		rounds, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d, %d rounds", seed, rounds)
	random := rand.New(rand.NewPCG(seed, 0))

	h := newHouse(t, "e2e/testdata/audit.yaml")
	const clients = 8
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	var next atomic.Int64
	for range rounds {
		c := h.start()
		// The kill comes with an acknowledgement that was drawn by lot; what the
		// other clients have in flight then is up to the scheduler.
		killAt := int64(random.IntN(200))
		var answers atomic.Int64
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for {
					n := next.Add(1)
					call := fmt.Sprintf("call_%d", n)
					status, _, err := c.Post(t.Context(), "/v1/traces", toolSpan(fmt.Sprintf("%032x", n), fmt.Sprintf("%016x", n), call, `{"customer_id":"c1"}`))
					if err != nil {
						return
					}
					if status == http.StatusOK {
						mu.Lock()
						acknowledged[call] = true
						mu.Unlock()
					}
					if answers.Add(1) == killAt+1 {
						c.Kill()
					}
				}
			})
		}
		wg.Wait()
		c.Kill()
	}
	c := h.start()
	require.NoError(t, c.Stop())
	h.requireVerified()

	times := map[string]int{}
	for _, r := range h.reads() {
		times[r.ToolCallID]++
	}
	for call := range acknowledged {
		require.Equal(t, 1, times[call], "acknowledged %s", call)
	}
	for call, n := range times {
		require.Equal(t, 1, n, "%s stands %d times", call, n)
	}
	t.Logf("%d acknowledged, %d recorded", len(acknowledged), len(times))
	require.Greater(t, len(acknowledged), rounds)
}
