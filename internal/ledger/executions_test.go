// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

// readOf makes the draft of a read of an execution.
func readOf(t testing.TB, execution, id string) *record.Draft {
	t.Helper()
	d, err := record.NewReadDraft(&record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: execution, CallID: `a "}" of a call`},
		},
		ReadID: id, ExecutionID: execution,
		Source:    record.Source{Kind: record.SourceAPI},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, false)
	require.NoError(t, err)
	return d
}

// executionOptions are those of a journal that keeps an index of executions and has
// small segments.
func executionOptions(t *testing.T, fs *crashfs.FS) ledger.Options {
	t.Helper()
	o := optionsFor(t, fs)
	o.Executions = true
	o.MaxSegmentBytes = 10_000
	return o
}

// readsOf returns the ids of the reads that an execution has.
func readsOf(t testing.TB, l *ledger.Ledger, execution string) (ids []string) {
	t.Helper()
	for e, err := range l.EntriesOf(t.Context(), execution) {
		require.NoError(t, err)
		ids = append(ids, bodyOf(t, e).ReadID)
	}
	return ids
}

// runs appends reads of three executions in turn, and returns the ids of each.
func runs(t *testing.T, l *ledger.Ledger, from, to int) map[string][]string {
	t.Helper()
	ids := map[string][]string{}
	for n := from; n < to; n++ {
		run := fmt.Sprint("run_", n%3)
		ids[run] = append(ids[run], id(n))
		appendAll(t, l, readOf(t, run, id(n)))
	}
	return ids
}

func TestTheEntriesOfAnExecutionAreFoundOverRotationsAndRestarts(t *testing.T) {
	fs := crashfs.New(1)
	o := executionOptions(t, fs)
	l := open(t, o)
	ids := runs(t, l, 0, 50)
	appendAll(t, l, lineage(t, "00f067aa0ba902b7"))
	require.Equal(t, ids["run_1"], readsOf(t, l, "run_1"))
	require.Empty(t, readsOf(t, l, "run_none"))
	closeLedger(t, l)

	l = open(t, o)
	for run, more := range runs(t, l, 50, 100) {
		require.Equal(t, append(ids[run], more...), readsOf(t, l, run))
	}
	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 5)
	closeLedger(t, l)
	for _, s := range segments[:len(segments)-1] {
		require.FileExists(t, filepath.Join(o.IndexDir, fmt.Sprintf("%020d.executions", s.First)))
	}
	require.NoFileExists(t, filepath.Join(o.IndexDir, fmt.Sprintf("%020d.executions", segments[len(segments)-1].First)))
}

// An id is found as it is, whatever its JSON looks like.
func TestAnExecutionIsFoundByAnyID(t *testing.T) {
	l := open(t, executionOptions(t, crashfs.New(1)))
	for n, run := range []string{`a"b`, `a\`, `","execution_id":"b`, "trace:0af7651916cd43dd8448eb211c80319c", "läuft\t€", "run"} {
		appendAll(t, l, readOf(t, run, id(n)))
		require.Equal(t, []string{id(n)}, readsOf(t, l, run), run)
	}
}

// The files are a cache: without them, with others in their place, or with damaged
// ones, the answer is the same.
func TestTheFilesOfTheExecutionsCanBeDeletedOrDamaged(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string, others []string){
		"deleted": func(t *testing.T, path string, _ []string) { require.NoError(t, os.Remove(path)) },
		"empty":   func(t *testing.T, path string, _ []string) { require.NoError(t, os.Truncate(path, 0)) },
		"cut":     func(t *testing.T, path string, _ []string) { require.NoError(t, os.Truncate(path, 90)) },
		"a garbage": func(t *testing.T, path string, _ []string) {
			require.NoError(t, os.WriteFile(path, make([]byte, 4096), 0o600))
		},
		"one bit": func(t *testing.T, path string, _ []string) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			b[len(b)/2] ^= 1
			require.NoError(t, os.WriteFile(path, b, 0o600))
		},
		"that of another segment": func(t *testing.T, path string, others []string) {
			b, err := os.ReadFile(others[0])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, b, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := executionOptions(t, crashfs.New(1))
			l := open(t, o)
			ids := runs(t, l, 0, 60)
			closeLedger(t, l)
			l = open(t, o)
			files, err := filepath.Glob(filepath.Join(o.IndexDir, "*.executions"))
			require.NoError(t, err)
			require.Greater(t, len(files), 2)
			before, err := os.ReadFile(files[1])
			require.NoError(t, err)
			harm(t, files[1], files)
			require.Equal(t, ids["run_2"], readsOf(t, l, "run_2"))
			after, err := os.ReadFile(files[1])
			require.NoError(t, err)
			require.Equal(t, before, after, "made anew")
		})
	}
}

// A file whose checksums are right may still lead nowhere, if it is of another
// journal that was here before, say. The segment decides.
func TestAFileThatLeadsNowhereIsMadeAnew(t *testing.T) {
	o := executionOptions(t, crashfs.New(1))
	l := open(t, o)
	ids := runs(t, l, 0, 60)
	closeLedger(t, l)
	files, err := filepath.Glob(filepath.Join(o.IndexDir, "*.executions"))
	require.NoError(t, err)
	b, err := os.ReadFile(files[1])
	require.NoError(t, err)
	// It is small: one block of places of 16 bytes between checksums.
	block := b[len(b)-4-16*int(binary.BigEndian.Uint64(b[40:])) : len(b)-4]
	for at := 8; at < len(block); at += 16 {
		binary.BigEndian.PutUint64(block[at:], binary.BigEndian.Uint64(block[at:])+3)
	}
	binary.BigEndian.PutUint32(b[len(b)-4:], crc32.Checksum(block, crc32.MakeTable(crc32.Castagnoli)))
	require.NoError(t, os.WriteFile(files[1], b, 0o600))
	l = open(t, o)
	require.Equal(t, ids["run_0"], readsOf(t, l, "run_0"))
}

// Whoever has a receipt finds the entry.
func TestAnAcknowledgedEntryIsFoundAtOnce(t *testing.T) {
	l := open(t, executionOptions(t, crashfs.New(1)))
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			run := fmt.Sprint("run_", caller)
			for n := range 30 {
				draft := readOf(t, run, fmt.Sprintf("read_%d_%d", caller, n))
				if _, err := l.Append(context.Background(), []*record.Draft{draft}); err != nil {
					panic(err)
				}
				found := 0
				for _, err := range l.EntriesOf(context.Background(), run) {
					if err != nil {
						panic(err)
					}
					found++
				}
				if found != n+1 {
					panic(fmt.Sprintf("%d of %d entries are found", found, n+1))
				}
			}
		})
	}
	wg.Wait()
}

func TestATrailGivesEveryEntryOnceAndIsToldOfNewOnes(t *testing.T) {
	o := executionOptions(t, crashfs.New(1))
	l := open(t, o)
	ids := runs(t, l, 0, 40)
	wake := make(chan struct{}, 1)
	trail, err := l.Follow("run_1", wake)
	require.NoError(t, err)
	t.Cleanup(trail.Close)
	given := func() (given []string) {
		for e, err := range trail.Entries(t.Context()) {
			require.NoError(t, err)
			given = append(given, bodyOf(t, e).ReadID)
		}
		return given
	}
	require.Equal(t, ids["run_1"], given())
	require.Empty(t, given())
	for n := 40; n < 80; n++ {
		appendAll(t, l, readOf(t, "run_1", id(n)), readOf(t, "run_2", id(n+1000)))
		require.Len(t, wake, 1, "told before Append returned")
		<-wake
		require.Equal(t, []string{id(n)}, given())
	}
	appendAll(t, l, readOf(t, "run_2", id(2000)))
	require.Empty(t, wake)
	trail.Close()
	appendAll(t, l, readOf(t, "run_1", id(2001)))
	require.Empty(t, wake)
}

// An iteration that is left is gone on with where it was left.
func TestATrailGoesOnWhereItWasLeft(t *testing.T) {
	l := open(t, executionOptions(t, crashfs.New(1)))
	ids := runs(t, l, 0, 60)
	trail, err := l.Follow("run_0", make(chan struct{}, 1))
	require.NoError(t, err)
	t.Cleanup(trail.Close)
	var given []string
	for len(given) < len(ids["run_0"]) {
		for e, err := range trail.Entries(t.Context()) {
			require.NoError(t, err)
			given = append(given, bodyOf(t, e).ReadID)
			break
		}
	}
	require.Equal(t, ids["run_0"], given)
}

// Trouble with the disk takes nothing from what is found, and adds what turned out
// to be there.
func TestTheEntriesOfAnExecutionAreFoundAfterTrouble(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, executionOptions(t, fs))
	ids := runs(t, l, 0, 45)
	wake := make(chan struct{}, 1)
	trail, err := l.Follow("run_0", wake)
	require.NoError(t, err)
	t.Cleanup(trail.Close)
	fs.FailAt(fs.Ops()+1, crashfs.Fault{Err: errors.New("disk trouble")})
	_, err = l.Append(t.Context(), []*record.Draft{readOf(t, "run_0", "read_trouble")})
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	appendUntilDurable(t, l, readOf(t, "run_0", "read_trouble"))
	require.Equal(t, append(slices.Clone(ids["run_0"]), "read_trouble"), readsOf(t, l, "run_0"))
	require.Len(t, wake, 1)
}

func TestAJournalWithoutTheIndexOfExecutionsSaysSo(t *testing.T) {
	l := open(t, optionsFor(t, crashfs.New(1)))
	_, err := l.Follow("run_1", nil)
	require.ErrorIs(t, err, ledger.ErrNoExecutions)
	for _, err := range l.EntriesOf(t.Context(), "run_1") {
		require.ErrorIs(t, err, ledger.ErrNoExecutions)
	}
}

// An entry that was changed where it stands is no evidence, and a look-up that
// cannot read it does not pass for one that found all.
func TestAnEntryThatWasChangedWhereItStandsEndsTheLookUp(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, executionOptions(t, fs))
	runs(t, l, 0, 40)
	path := filepath.Join(dir, segment.Name(1))
	f, err := fs.OpenFile(path)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("read_6"), int64(bytes.Index(fs.Bytes(path), []byte("read_4"))))
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	var failure error
	for _, err := range l.EntriesOf(t.Context(), "run_1") {
		failure = err
	}
	require.ErrorContains(t, failure, "no intact entry")
	require.NotContains(t, failure.Error(), dir)
	require.Len(t, readsOf(t, l, "run_0"), 14, "another execution is not touched by it")
}

func TestWhatWasPrunedIsNoEntryOfAnExecutionAnyMore(t *testing.T) {
	a := newAged(t, 1)
	closeLedger(t, a.ledger)
	a.options.Executions = true
	a.open() // the segments were written without it
	require.Len(t, readsOf(t, a.ledger, "run_1"), 20)
	segments := a.segments()
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[2].First, Checkpoint: a.checkpoint()})
	require.NoError(t, err)
	left := readsOf(t, a.ledger, "run_1")
	require.Less(t, len(left), 20)
	require.Contains(t, left, id(19))
	require.NoFileExists(t, filepath.Join(a.options.IndexDir, fmt.Sprintf("%020d.executions", segments[0].First)))
	require.FileExists(t, filepath.Join(a.options.IndexDir, fmt.Sprintf("%020d.executions", segments[2].First)))
}
