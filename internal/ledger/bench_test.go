// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// BenchmarkAppend measures records that are durable, on the real disk, with one
// record a call. Compare with BenchmarkBareLoop, which does for one caller the
// least that any journal has to do, and read the ratio, not the numbers: fsync
// differs by a factor of a hundred between disks.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			l, err := ledger.Open(b.Context(), ledger.Options{
				Dir: b.TempDir(), Signer: signer, CollectorID: "bench",
				Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
			})
			require.NoError(b, err)
			drafts := make([]*record.Draft, b.N)
			for n := range drafts {
				drafts[n] = read(b, id(n), "1")
			}
			var next atomic.Int64
			b.SetParallelism(max(callers/runtime.GOMAXPROCS(0), 1))
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := next.Add(1) - 1
					if _, err := l.Append(context.Background(), drafts[n:n+1]); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			require.NoError(b, l.Close(context.Background()))
		})
	}
}

// BenchmarkBareLoop completes, hashes, signs, writes and syncs one record after
// the other.
func BenchmarkBareLoop(b *testing.B) {
	f, err := durable.OS{}.Create(filepath.Join(b.TempDir(), "bare"))
	require.NoError(b, err)
	drafts := make([]*record.Draft, b.N)
	for n := range drafts {
		drafts[n] = read(b, id(n), "1")
	}
	b.ReportAllocs()
	b.ResetTimer()
	previous, offset := "", int64(0)
	for n, d := range drafts {
		body := d.Complete(record.Completion{EventID: "evt_x", JournalID: "jrn_x", Sequence: uint64(n + 1), CollectorID: "bench"})
		u := journal.Assemble(d.Kind(), record.SchemaVersion, body, previous, signer)
		previous = u.RecordHash()
		line, err := u.Sign(signer)
		require.NoError(b, err)
		_, err = f.WriteAt(line, offset)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
		offset += int64(len(line))
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	require.NoError(b, f.Close())
}

// keptSigner computes its key id once, as the signers of package journal do.
type keptSigner struct {
	testSigner
	id string
}

func (s keptSigner) KeyID() string { return s.id }

var benchSigner = keptSigner{signer, signer.KeyID()}

// largeRead makes the draft of a read of which the entry has about 2 KB.
func largeRead(b *testing.B, n int) *record.Draft {
	b.Helper()
	id := fmt.Sprintf("read_%026d", n)
	h := record.Header{
		EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
		Correlation: record.Correlation{
			ExecutionID: "trace:0af7651916cd43dd8448eb211c80319c", TraceID: "0af7651916cd43dd8448eb211c80319c",
			SpanID: "b7ad6b7169203331", ParentSpanID: "b7ad6b7169203332", CallID: fmt.Sprintf("call_%026d", n),
		},
		ObservedBy: record.ObservedBy{
			UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan, Dialect: "semconv-1.37",
			ScopeName: "github.com/example/agent/instrumentation", ScopeVersion: "1.2.3",
		},
	}
	d, err := record.NewReadDraft(&record.Read{
		Header: h, ReadID: id, ExecutionID: h.Correlation.ExecutionID,
		Source:    record.Source{Kind: record.SourceAPI, ToolID: "crm.get_customer", ToolVersion: strings.Repeat("1", 560)},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, false)
	require.NoError(b, err)
	return d
}
