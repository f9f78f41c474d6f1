// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package headroom lets a process with a small live heap collect its garbage less often.
//
// By default Go collects when the heap has doubled. A collector that keeps next to nothing
// in memory does so several times a second under load, each time taking the processors
// from the requests under way for some milliseconds: one in a hundred of them waits for
// that (docs/adr/0035-room-for-garbage.md). A fixed, higher GOGC would mend it and let a heap
// of a gigabyte grow to several; this gives a fixed number of bytes instead.
package headroom

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Default is what the distribution keeps, in bytes, give or take a quarter.
const Default = 48 << 20

// goDefault is the percentage that Go has of itself, and most the highest that is set: it
// bounds what a heap may grow that was tiny when it was last looked at.
const (
	goDefault = 100
	most      = 800
)

// Keep lets garbage come to room bytes before it is collected, or to as much as is alive
// if that is more, as Go has it, and changes nothing where the environment has GOGC.
// GOMEMLIMIT holds as ever. It goes on until stop is called, which leaves the percentage
// as it is.
func Keep(room uint64) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	k := &keeper{room: room, percent: goDefault, collected: make(chan struct{}, 1)}
	k.adjust()
	stopped := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { k.run(stopped) })
	return func() {
		close(stopped)
		running.Wait()
	}
}

// keeper sets the percentage anew after each collection.
type keeper struct {
	room      uint64
	percent   int
	collected chan struct{}
}

// lookInterval is when the keeper looks without being told: one cleanup that hangs,
// whosever it is, holds up all others.
const lookInterval = time.Second

func (k *keeper) run(stopped <-chan struct{}) {
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	k.watch()
	for {
		select {
		case <-k.collected:
			k.watch()
		case <-look.C:
		case <-stopped:
			return
		}
		k.adjust()
	}
}

// unreachable is so from the beginning, so that the next collection finds it. It has a
// pointer, since what has none may share its memory with something that lives on.
type unreachable struct{ of *keeper }

// watch has the keeper told of the next collection.
func (k *keeper) watch() {
	runtime.AddCleanup(&unreachable{k}, func(collected chan<- struct{}) {
		select {
		case collected <- struct{}{}:
		default:
		}
	}, k.collected)
}

// adjust sets the percentage, which stops the process for a moment, unless the one that is
// set is about right.
func (k *keeper) adjust() {
	percent := percentage(k.room, scanned())
	if 4*max(percent-k.percent, k.percent-percent) < k.percent && percent != goDefault {
		return
	}
	if percent != k.percent {
		k.percent = percent
		debug.SetGCPercent(percent)
	}
}

// percentage returns the percentage of so many bytes that makes room.
func percentage(room, scanned uint64) int {
	if scanned == 0 || room/scanned >= most/100 {
		return most
	}
	return int(max(goDefault, room*100/scanned))
}

// scanned returns the bytes that Go takes the percentage of: those that the last
// collection found alive, stacks and global variables.
func scanned() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(samples)
	sum := uint64(0)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
