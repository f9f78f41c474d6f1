// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// What is verified is a snapshot: a writer that goes on, begins segments and signs
// checkpoints never makes a journal look broken.
func TestAJournalIsVerifiedWhileItIsWritten(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		t.Run(fmt.Sprintf("grouped %v", grouped), func(t *testing.T) { verifyLive(t, grouped) })
	}
}

func verifyLive(t *testing.T, grouped bool) {
	directory := t.TempDir()
	l, err := ledger.Open(t.Context(), ledger.Options{
		Dir: directory, FS: durable.OS{}, Signer: trusted, CollectorID: "collector-1", GroupSignatures: grouped, MaxSegmentBytes: 40 << 10,
		Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
	})
	require.NoError(t, err)
	key := trustedKey(trusted)
	key.ValidFrom = record.NewTime(time.Unix(1, 0))
	registry := registryOf(t, key)
	// The writer ends by itself, however slow the machine verifies.
	const records = 1000
	written := make(chan error, 1)
	go func() {
		for n := uint64(0); n < records; n += 20 {
			var drafts []*record.Draft
			for i := range uint64(20) {
				d, err := record.NewReadDraft(exampleRead(n+i), true)
				if err != nil {
					written <- err
					return
				}
				drafts = append(drafts, d)
			}
			if _, err := l.Append(t.Context(), drafts); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	outside := newOutsideStore(t)
	var last uint64
	for last < records {
		checkpoints := journal.ReadCheckpoints([]string{outside.directory}, registry, nil)
		sources, err := journal.Open(directory)
		require.NoError(t, err)
		report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Checkpoints: checkpoints, Patience: time.Minute, SkipSchema: true})
		require.NoError(t, err)
		require.Equal(t, 0, report.ExitCode(), "%+v", report)
		require.GreaterOrEqual(t, report.LastSequence, last)
		last = report.LastSequence
		outside.put(signedAt(t, directory, l.JournalID(), last))
	}
	require.NoError(t, <-written)
	require.NoError(t, l.Close(t.Context()))
	report := judge(t, directory, registry, nil, outside.directory)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.NotZero(t, report.Outside.Verified)
}

// signedAt signs a checkpoint of a journal that may go on.
func signedAt(t *testing.T, directory, id string, size uint64) []byte {
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	var leaves [][sha256.Size]byte
	for line, err := range sources[0].Lines() {
		require.NoError(t, err)
		if uint64(len(leaves)) == size {
			break
		}
		hash, ok := journal.ParseHash(hashOf(t, line.Bytes))
		require.True(t, ok)
		leaves = append(leaves, journal.LeafHash(hash))
	}
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: id, Size: size, Root: rootOf(leaves)}, trusted)
	require.NoError(t, err)
	return note
}

func TestALineInFlightIsNoTornTail(t *testing.T) {
	w := journalOf(t, 4)
	directory := store(t, 1, w.lines[0], w.lines[1], w.lines[2][:50])
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(1)), []byte(strings.Join([]string{string(w.lines[0]), string(w.lines[1]), string(w.lines[2]), string(w.lines[3][:9])}, "")), 0o600))
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registryOf(t, trustedKey(trusted))})
	require.NoError(t, err)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, uint64(2), report.LastSequence)
}

// Nothing that is verified is changed, by as little as a time of access to write.
func TestVerifyingChangesNoByteAndNeedsNoRightToWrite(t *testing.T) {
	w := journalOf(t, 6).announce(3).event(record.EventJournalClosed, nil)
	damaged := append([][]byte{}, w.lines[2:]...)
	damaged[2] = replace(damaged[2], `"bank"`, `"tank"`)
	root := store(t, 3, damaged...)
	outside := newOutsideStore(t).put(w.signed(8))
	before := stateOf(t, root, outside.directory)
	for _, directory := range []string{root, outside.directory, filepath.Join(outside.directory, w.id)} {
		require.NoError(t, os.Chmod(directory, 0o500))
		t.Cleanup(func() { _ = os.Chmod(directory, 0o700) })
	}
	require.Equal(t, 1, judge(t, root, registryOf(t, trustedKey(trusted)), policyOf(t, `{"demand":["tail","artifacts","lineage"]}`), outside.directory).ExitCode())
	require.Equal(t, before, stateOf(t, root, outside.directory))
}

// stateOf describes all files below some roots: names, sizes, times, digests.
func stateOf(t *testing.T, roots ...string) (state []string) {
	for _, root := range roots {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := d.Info()
			require.NoError(t, err)
			digest := ""
			if !d.IsDir() {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				digest = sha256Hex(text)
			}
			state = append(state, fmt.Sprint(path, info.Size(), info.ModTime(), digest))
			return nil
		}))
	}
	return state
}
