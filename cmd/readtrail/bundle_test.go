// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// bundled makes a bundle of an aged journal with a manifest key of its own, and
// verifies it.
func (a *aged) bundled(want int, more ...string) string {
	a.t.Helper()
	dir := a.t.TempDir()
	a.readtrail(0, "keys", "new", "--out", dir)
	file := filepath.Join(dir, "bundle.tar")
	out := a.readtrail(0, append([]string{
		"bundle", a.root, "--checkpoints", a.checkpoints, "--keys", a.keys,
		"--manifest-key", filepath.Join(dir, "signing-key.pem"), "--out", file,
	}, more...)...)
	return out + a.readtrail(want, "bundle", "verify", file, "--keys", a.keys, "--manifest-keys", filepath.Join(dir, "keys.json"))
}

func TestABundleOfAPrunedJournalDeclaresWhatWasRemoved(t *testing.T) {
	a := newAged(t)
	assert.Contains(t, a.bundled(0), "completeness: valid\n")
	a.retention(0, "apply", "--signing-key", a.key)
	// What pruning wrote is behind the checkpoint.
	out := a.bundled(2)
	assert.Contains(t, out, " 1-6 pruned\n")
	for _, check := range []string{"entries: valid", "checkpoints: valid", "completeness: valid", "omissions: valid"} {
		assert.Contains(t, out, check+"\n")
	}
	out = a.bundled(0, "--sequence", "7-7")
	assert.Contains(t, out, "inclusion: valid\n")
	assert.NotContains(t, out, "pruned")
	out = a.bundled(0, "--sequence", "3-7")
	assert.Contains(t, out, " 3-6 pruned\n")
	assert.Contains(t, out, "completeness: valid\n")
	assert.Contains(t, a.bundled(2, "--from", "2020-01-01T00:00:00Z"), " 1-6 pruned\n")
	assert.Contains(t, a.bundled(2, "--kind", "journal_record"), " 1-6 pruned\n", "nobody knows whether what is gone would have matched")
}

// TestABundleIsMadeWhileACollectorWrites: entries behind the newest checkpoint are
// handed over and declared as not proven.
func TestABundleIsMadeWhileACollectorWrites(t *testing.T) {
	a := newAged(t)
	l := a.open()
	ctx, cancel := context.WithCancel(t.Context())
	stopped, begun := make(chan error, 1), make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			_, err := l.Record(ctx, &record.Journal{Header: record.Header{EventType: record.EventJournalHeartbeat}, Detail: record.Heartbeat{}})
			if ctx.Err() != nil {
				err = nil
			}
			if err != nil || ctx.Err() != nil {
				stopped <- err
				return
			}
			if n == 0 {
				close(begun)
			}
		}
	}()
	<-begun
	for range 3 {
		out := a.bundled(2)
		assert.Contains(t, out, "make the bundle again after the next one")
		assert.Contains(t, out, "not_covered\n")
		assert.Contains(t, out, "unchecked: checkpoint_not_performed artifacts/journals/")
		assert.Contains(t, out, "entries: valid\n")
		assert.Contains(t, out, "completeness: valid\n")
		assert.Contains(t, out, "inclusion: not_performed\n")
	}
	assert.Contains(t, a.bundled(0, "--sequence", "1-5"), "inclusion: valid\n")
	cancel()
	require.NoError(t, <-stopped)
}

// TestCopiesAreHandedOverEncrypted looks for the content of the copies in the bundle.
func TestCopiesAreHandedOverEncrypted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, writeEvidenceFixture("."))
	require.NoError(t, os.Mkdir("checkpoints", 0o755))
	out, code := runForTest(t, []string{"keys", "new", "--out", "manifest"})
	require.Zero(t, code, out)
	for _, more := range [][]string{nil, {"--with-evidence", "evidence"}} {
		require.NoError(t, os.RemoveAll("bundle.tar"))
		out, code = runForTest(t, append([]string{
			"bundle", "journal", "--checkpoints", "checkpoints", "--keys", "keys.json", "--manifest-key", "manifest/signing-key.pem", "--out", "bundle.tar",
		}, more...))
		require.Zero(t, code, out)
		text := readText(t, "bundle.tar")
		for _, secret := range []string{"CANARY", keptArguments, keptQuery, "cust_syn_55120"} {
			assert.NotContains(t, text, secret)
		}
		objects := strings.Count(text, "age-encryption.org/v1\n")
		assert.Equal(t, len(more) > 0, objects > 0, "%d objects", objects)
		assert.Equal(t, len(more) > 0, strings.Contains(text, "artifacts/objects/demo-bank/kyc/2026/sha256/"))
		out, code = runForTest(t, []string{"bundle", "verify", "bundle.tar", "--keys", "keys.json", "--manifest-keys", "manifest/keys.json"})
		assert.NotZero(t, code, "no checkpoint is there")
		assert.Contains(t, out, "digests: valid\n")
		assert.Contains(t, out, "inclusion: not_performed\n")
	}
	// A copy that is not encrypted does not get in.
	objects, err := filepath.Glob("evidence/demo-bank/kyc/2026/sha256/*/*.age")
	require.NoError(t, err)
	require.NotEmpty(t, objects)
	require.NoError(t, os.WriteFile(objects[0], []byte("CANARY in the open, long enough to be one"), 0o600))
	out, code = runForTest(t, []string{
		"bundle", "journal", "--checkpoints", "checkpoints", "--keys", "keys.json", "--manifest-key", "manifest/signing-key.pem", "--out", "open.tar", "--with-evidence", "evidence",
	})
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "is not encrypted and is not handed over")
	_, err = os.Stat("open.tar")
	require.ErrorIs(t, err, os.ErrNotExist)
	left, err := filepath.Glob(".open.tar.*")
	require.NoError(t, err)
	assert.Empty(t, left)
}
