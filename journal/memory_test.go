// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// A journal of ten years is read in the memory of one of a day.
func TestAJournalOfAnyLengthIsVerifiedInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MiB")
	}
	const largest = 64 << 20
	w := newWriter(t).event(record.EventJournalOpened, nil)
	read := exampleRead(1)
	read.Request.RecordRefs = strings.Split(strings.TrimSpace(strings.Repeat("cust_syn_55120 ", 2000)), " ")
	directory := t.TempDir()
	for size := 0; size < 100<<20; {
		first := len(w.lines)
		for range 200 {
			w.draft(record.NewReadDraft(read, true))
		}
		if first == 1 {
			first = 0
		}
		text := bytes.Join(w.lines[first:], nil)
		require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(first+1)), text, 0o600))
		size += len(text)
		clear(w.lines) // only their number is needed
	}
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	registry := registryOf(t, trustedKey(trusted))
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, SkipSchema: true, Progress: func(_, _ int64) {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapInuse+now.StackInuse)
	}})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
	require.Less(t, most, before.HeapInuse+largest, "%d MiB were in use before", before.HeapInuse>>20)
	t.Logf("%d MiB of journal, %d MiB of memory", sources[0].Size()>>20, (most-min(most, before.HeapInuse))>>20)
}
