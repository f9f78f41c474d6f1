// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package repeat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAnIndexOfManyMarks measures what a new record costs the index, file
// and merging included, when it has a number of marks already: ns-cpu/op must not
// grow with it. open-ms is what opening the file takes, file-bytes/mark how large
// it is.
func BenchmarkAnIndexOfManyMarks(b *testing.B) {
	for _, known := range []int{0, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("known=%d", known), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "repeats.db")
			x, err := repeat.Open(path, "jrn_1", window)
			require.NoError(b, err)
			n := 0
			add := func() {
				m := mark(n, now)
				found, err := x.Find(m.Key)
				if err != nil || found[0] != nil {
					b.Fatal(n, found, err)
				}
				x.Learn(upTo(n+1), m)
				if n++; x.Worthwhile() {
					require.NoError(b, x.Flush(now))
				}
			}
			for n < known {
				add()
			}
			require.NoError(b, x.Close(now))
			begun := time.Now()
			x, err = repeat.Open(path, "jrn_1", window)
			require.NoError(b, err)
			took := time.Since(begun)
			used, begin := cpuTime(), n
			for b.Loop() {
				add()
			}
			b.ReportMetric(float64(cpuTime()-used)/float64(n-begin), "ns-cpu/op")
			require.NoError(b, x.Close(now))
			info, err := os.Stat(path)
			require.NoError(b, err)
			b.ReportMetric(float64(took.Milliseconds()), "open-ms")
			b.ReportMetric(float64(info.Size())/float64(n), "file-bytes/mark")
		})
	}
}
