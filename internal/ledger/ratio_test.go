// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ledger_test

import (
	"context"
	"crypto/ed25519"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

// The load of the issue: so many callers append so many entries of about 2 KB in
// one call each.
const (
	benchCallers = 64
	benchEntries = 100
)

// BenchmarkAgainstBareLoop measures ratios, each of two things in the same run:
//
//   - cpu/sign: processor time per durable entry against that of one bare Ed25519
//     signature (at most 1.25 with a signature for every entry);
//   - throughput/bare: entries per second against a bare loop that signs, appends
//     and syncs the same groups, on one processor (at least 0.8);
//   - throughput/bare-parallel: the same against a loop that signs on all
//     processors, each group before it is written;
//   - bare-cpu/sign, bare-parallel-cpu/sign: the processor time of these loops' entry
//     against that of a signature. They hash, chain and look up nothing, so that a
//     journal that signs every entry is above;
//   - ns-cpu/entry: the processor time itself.
func BenchmarkAgainstBareLoop(b *testing.B) {
	b.Run("plain", func(b *testing.B) { benchRatios(b, false) })
	b.Run("grouped", func(b *testing.B) { benchRatios(b, true) })
}

func benchRatios(b *testing.B, grouped bool) {
	var groups []int
	l, err := ledger.Open(b.Context(), ledger.Options{
		Dir: b.TempDir(), Signer: benchSigner, CollectorID: "bench", GroupSignatures: grouped,
		Scope:    record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		Observer: ledger.Observer{Committed: func(entries int, bytes int64, _ time.Duration) { groups = append(groups, entries) }},
	})
	require.NoError(b, err)
	bare := newBareLoop(b)
	var wall, bareWall, parallelWall, cpu, bareCPU, parallelCPU, signCPU time.Duration
	n, next := 0, 0
	drafts := func() [][]*record.Draft {
		all := make([][]*record.Draft, benchCallers)
		for i := range all {
			for range benchEntries {
				all[i] = append(all[i], largeRead(b, next))
				next++
			}
		}
		return all
	}
	appendFrom(b, l, drafts()) // the first time takes the memory that is used again
	b.ResetTimer()
	for b.Loop() {
		drafts := drafts()
		n += benchCallers * benchEntries
		groups = groups[:0]
		runtime.GC()
		w, c := measure(func() { appendFrom(b, l, drafts) })
		wall, cpu = wall+w, cpu+c
		w, c = measure(func() { bare.run(b, groups, 1) })
		bareWall, bareCPU = bareWall+w, bareCPU+c
		w, c = measure(func() { bare.run(b, groups, runtime.GOMAXPROCS(0)) })
		parallelWall, parallelCPU = parallelWall+w, parallelCPU+c
		_, c = measure(func() { bare.sign(benchCallers*benchEntries, 1) })
		signCPU += c
	}
	require.NoError(b, l.Close(context.Background()))
	b.ReportMetric(float64(cpu)/float64(signCPU), "cpu/sign")
	b.ReportMetric(float64(bareWall)/float64(wall), "throughput/bare")
	b.ReportMetric(float64(parallelWall)/float64(wall), "throughput/bare-parallel")
	b.ReportMetric(float64(bareCPU)/float64(signCPU), "bare-cpu/sign")
	b.ReportMetric(float64(parallelCPU)/float64(signCPU), "bare-parallel-cpu/sign")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(n), "ns-cpu/entry")
	b.ReportMetric(float64(n)/wall.Seconds(), "entries/s")
	b.ReportMetric(0, "ns/op")
}

func appendFrom(b *testing.B, l *ledger.Ledger, drafts [][]*record.Draft) {
	var wg sync.WaitGroup
	for _, d := range drafts {
		wg.Go(func() {
			if _, err := l.Append(context.Background(), d); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// measure returns the time that something takes, and that of the processors.
func measure(do func()) (wall, cpu time.Duration) {
	begun, used := time.Now(), cpuTime()
	do()
	return time.Since(begun), cpuTime() - used
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareLoop does the least that any journal has to do.
type bareLoop struct {
	file   durable.File
	offset int64
	line   []byte
	text   []byte // of a group, in memory that the next one uses again
}

func newBareLoop(b *testing.B) *bareLoop {
	f, err := durable.OS{}.Create(filepath.Join(b.TempDir(), "bare"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = f.Close() })
	return &bareLoop{file: f, line: []byte(strings.Repeat("x", 2047) + "\n")}
}

func (l *bareLoop) run(b *testing.B, groups []int, processors int) {
	for _, entries := range groups {
		l.sign(entries, processors)
		l.text = l.text[:0]
		for range entries {
			l.text = append(l.text, l.line...)
		}
		_, err := l.file.WriteAt(l.text, l.offset)
		require.NoError(b, err)
		require.NoError(b, l.file.Sync())
		l.offset += int64(len(l.text))
	}
}

func (l *bareLoop) sign(entries, processors int) {
	var wg sync.WaitGroup
	for p := range processors {
		wg.Go(func() {
			digest := make([]byte, 32)
			for n := p; n < entries; n += processors {
				digest[0], digest[1] = byte(n), byte(n>>8)
				ed25519.Sign(benchSigner.private, digest)
			}
		})
	}
	wg.Wait()
}
