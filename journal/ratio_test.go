// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package journal_test

import (
	"crypto/ed25519"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// cpuTime is what this process has used of all cores.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// twoKilobytes writes a journal whose entries have about 2 KB.
func twoKilobytes(b *testing.B, n int) *writer {
	w := newWriter(b).event(record.EventJournalOpened, nil)
	for len(w.lines) < n {
		read := exampleRead(w.sequence)
		read.Request.RecordRefs = append(read.Request.RecordRefs, strings.Split(strings.Repeat("cust_syn_55120 ", 30), " ")[:30]...)
		w.draft(record.NewReadDraft(read, true))
	}
	return w
}

// BenchmarkVerifyRatio holds the price of an entry against that of its signature,
// in CPU time of one run: the machine may be as busy as it likes.
func BenchmarkVerifyRatio(b *testing.B) {
	const entries = 4000
	w := twoKilobytes(b, entries)
	sources, err := journal.Open(store(b, 1, w.lines...))
	if err != nil {
		b.Fatal(err)
	}
	registry := registryOf(b, trustedKey(trusted))
	message := make([]byte, 32)
	signature, _ := trusted.Sign(message)
	public := trusted.PublicKey()
	var verify, bare time.Duration
	for b.Loop() {
		begin := cpuTime(b)
		// On all cores too: two threads of one core slow each other down.
		var wg sync.WaitGroup
		cores := runtime.GOMAXPROCS(0)
		for range cores {
			wg.Go(func() {
				for range entries / cores {
					if !ed25519.Verify(public, message, signature) {
						b.Error("signature")
					}
				}
			})
		}
		wg.Wait()
		middle := cpuTime(b)
		report, err := journal.Verify(b.Context(), sources[0], journal.Options{Registry: registry, SkipSchema: true})
		if err != nil || report.FirstBad != nil {
			b.Fatal(report, err)
		}
		bare += middle - begin
		verify += cpuTime(b) - middle
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N) / entries }
	b.ReportMetric(float64(sources[0].Size())/entries, "bytes/entry")
	b.ReportMetric(each(bare), "bare-ns/entry")
	b.ReportMetric(each(verify), "verify-ns/entry")
	b.ReportMetric(float64(verify)/float64(bare), "ratio")
}

// BenchmarkResolveRatio holds the price of looking an entry through for what audit
// events name against that of verifying it.
func BenchmarkResolveRatio(b *testing.B) {
	const entries = 4000
	w := twoKilobytes(b, entries)
	for range 100 {
		w.naming("evt_gone", "evt_gone_too")
	}
	sources, err := journal.Open(store(b, 1, w.lines...))
	if err != nil {
		b.Fatal(err)
	}
	var verify, resolve time.Duration
	for b.Loop() {
		opt := journal.Options{Registry: registryOf(b, trustedKey(trusted)), SkipSchema: true, Reconcile: journal.NewReconciliation("")}
		begin := cpuTime(b)
		report, err := journal.Verify(b.Context(), sources[0], opt)
		if err != nil || report.FirstBad != nil {
			b.Fatal(report, err)
		}
		middle := cpuTime(b)
		opt.Reconcile.Resolve(b.Context(), opt, func(string) string { return "" })
		if report.Counts[journal.CodeLineageUnresolved] != 200 {
			b.Fatal(report.Counts)
		}
		verify += middle - begin
		resolve += cpuTime(b) - middle
	}
	b.ReportMetric(float64(resolve.Nanoseconds())/float64(b.N)/entries, "resolve-ns/entry")
	b.ReportMetric(float64(resolve)/float64(verify), "ratio")
}
