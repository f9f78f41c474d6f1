// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// processCPU returns the CPU that all threads of a process have used since it
// began, in nanoseconds. /proc/PID/stat tells the same in hundredths of a second.
func processCPU(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED in linux/posix-timers.h
	t, err := read(int32(^pid<<3 | scheduled))
	if err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return t, nil
}

func read(clock int32) (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(clock, &t)
	return time.Duration(t.Nano()), err
}

// signatures is how many signatures are made to measure one.
const signatures = 400

// bareSignature returns the CPU that an Ed25519 signature of a record hash takes.
func bareSignature(key ed25519.PrivateKey) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var digest [sha256.Size]byte
	begun, err := read(unix.CLOCK_THREAD_CPUTIME_ID)
	if err != nil {
		return 0, err
	}
	for range signatures {
		copy(digest[:], ed25519.Sign(key, digest[:]))
	}
	ended, err := read(unix.CLOCK_THREAD_CPUTIME_ID)
	return (ended - begun) / signatures, err
}

// syncTime returns how long it takes to append 4 KiB to a file and sync it, the
// median of many.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "sync")
	if err != nil {
		return 0, err
	}
	defer os.Remove(filepath.Join(dir, filepath.Base(f.Name())))
	defer f.Close()
	times := make([]time.Duration, 101)
	for i := range times {
		begun := time.Now()
		if _, err := f.Write(make([]byte, 4<<10)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times[i] = time.Since(begun)
	}
	return median(times), nil
}
