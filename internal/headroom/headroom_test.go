// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package headroom_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/headroom"
)

// TestASmallHeapIsCollectedLessOften and is left to Go once it is large.
func TestASmallHeapIsCollectedLessOften(t *testing.T) {
	t.Setenv("GOGC", "") // whatever the tests run with
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	plain := collections(256 << 20)

	headroom.Keep(64 << 20)
	kept := collections(256 << 20)
	require.Less(t, 3*kept, plain, "collections without and with room")

	live := make([]*[1 << 10]byte, 256<<10)
	for i := range live {
		live[i] = new([1 << 10]byte)
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return percentage() == 100
	}, waitFor, tick, "a heap of 256 MiB needs no room of its own")
	runtime.KeepAlive(live)
	clear(live)
	require.Eventually(t, func() bool {
		runtime.GC()
		return percentage() > 100
	}, waitFor, tick, "what is small again has it again")
}

// TestWhatTheOperatorSaysStands: GOGC is theirs.
func TestWhatTheOperatorSaysStands(t *testing.T) {
	t.Setenv("GOGC", "60")
	before := debug.SetGCPercent(60)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	headroom.Keep(64 << 20)
	runtime.GC()
	require.EqualValues(t, 60, percentage())
}

const (
	waitFor = 30 * time.Second
	tick    = 10 * time.Millisecond
)

// sink keeps garbage on the heap.
var sink []byte

// collections returns how often garbage was collected while so many bytes of it came.
func collections(bytes int) uint32 {
	var begun, done runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&begun)
	for range bytes >> 10 {
		sink = make([]byte, 1<<10)
	}
	runtime.ReadMemStats(&done)
	return done.NumGC - begun.NumGC
}

func percentage() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
