// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package headroom_test

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/headroom"
)

// TestASmallHeapIsCollectedLessOften and is left to Go once it is large.
func TestASmallHeapIsCollectedLessOften(t *testing.T) {
	begin(t, "")
	plain := collections(256 << 20)

	t.Cleanup(headroom.Keep(64 << 20))
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

// TestACleanupThatHangsLeavesTheHeapBounded: whosever it is, no other runs meanwhile.
func TestACleanupThatHangsLeavesTheHeapBounded(t *testing.T) {
	begin(t, "")
	hangs, released := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(released) })
	for range runtime.GOMAXPROCS(0) { // more than there are to run them
		runtime.AddCleanup(new([64]byte), func(int) {
			select {
			case hangs <- struct{}{}:
			case <-released:
			}
			<-released
		}, 0)
	}
	t.Cleanup(headroom.Keep(64 << 20))
	runtime.GC()
	<-hangs

	live := make([]*[1 << 10]byte, 256<<10)
	for i := range live {
		live[i] = new([1 << 10]byte)
	}
	runtime.GC()
	require.Eventually(t, func() bool { return percentage() == 100 }, waitFor, tick)
	runtime.KeepAlive(live)
}

// TestWhatTheOperatorSaysStands: GOGC is theirs.
func TestWhatTheOperatorSaysStands(t *testing.T) {
	begin(t, "60")
	t.Cleanup(headroom.Keep(64 << 20))
	runtime.GC()
	require.EqualValues(t, 60, percentage())
}

const (
	waitFor = 30 * time.Second
	tick    = 10 * time.Millisecond
)

// begin is as a process begins whose environment has this GOGC.
func begin(t *testing.T, gogc string) {
	t.Setenv("GOGC", gogc)
	percent, err := strconv.Atoi(cmp.Or(gogc, "100"))
	require.NoError(t, err)
	before := debug.SetGCPercent(percent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

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
