// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/hsm"
	"github.com/readtrail/readtrail/internal/hsm/softhsm"
	"github.com/readtrail/readtrail/journal"
)

func quiet() *console { return &console{out: bufio.NewWriter(io.Discard)} }

// newKeys makes a key and its registry.
func newKeys(t *testing.T) (r rotation, id string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, newKey(quiet(), dir, time.Now()))
	r = rotation{keyPath: filepath.Join(dir, keyFile), registryPath: filepath.Join(dir, registryFile), from: time.Now()}
	return r, signersOf(t, r)[0]
}

func signersOf(t *testing.T, r rotation) []string {
	t.Helper()
	signers, err := journal.NewFileSigners(r.keyPath)
	require.NoError(t, err)
	ids := make([]string, len(signers))
	for i, s := range signers {
		ids[i] = s.KeyID()
	}
	return ids
}

func trustedIn(t *testing.T, r rotation) []string {
	t.Helper()
	registry, err := journal.ReadRegistry(r.registryPath)
	require.NoError(t, err)
	var ids []string
	for _, k := range registry.Keys() {
		ids = append(ids, k.ID)
	}
	return ids
}

// Whatever a rotation could not finish, the key that signs is trusted, and the same
// command finishes it with the key that it had made.
func TestARotationThatIsInterruptedGoesOn(t *testing.T) {
	broken := errors.New("input/output error")
	for name, fails := range map[string]int{"when the key is kept": 1, "when it is trusted": 2, "when it is used": 3} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { syncDirectory = syncDir })
			r, former := newKeys(t)
			syncs := 0
			syncDirectory = func(dir string) error {
				if syncs++; syncs == fails {
					return broken
				}
				return syncDir(dir)
			}
			err := r.run(quiet())
			require.ErrorIs(t, err, broken)
			require.NotContains(t, err.Error(), "\n")
			require.Contains(t, trustedIn(t, r), signersOf(t, r)[0])
			if fails < 3 {
				require.Equal(t, []string{former}, signersOf(t, r))
				require.ErrorContains(t, err, "the former key still signs: run the same command again")
				require.NoError(t, r.run(quiet()))
			}
			now := signersOf(t, r)
			require.Len(t, now, 2)
			require.Equal(t, former, now[1])
			require.Equal(t, []string{former, now[0]}, trustedIn(t, r), "one key was made, not two")
			require.NoFileExists(t, r.keyPath+incomingSuffix)
		})
	}
}

func TestRotationsAtTheSameTimeComeOneAfterTheOther(t *testing.T) {
	r, _ := newKeys(t)
	const times = 8
	var all sync.WaitGroup
	errs := make([]error, times)
	for i := range times {
		all.Go(func() {
			mine := r
			errs[i] = mine.run(quiet())
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, signersOf(t, r), times+1)
	require.Len(t, trustedIn(t, r), times+1)
}

func TestAFullKeyFileIsNotRotated(t *testing.T) {
	r, _ := newKeys(t)
	for range journal.MaxKeys - 1 {
		require.NoError(t, r.run(quiet()))
	}
	require.ErrorContains(t, r.run(quiet()), "holds 16 keys already: add --forget-older")
	r.forget = true
	require.NoError(t, r.run(quiet()))
	require.Len(t, signersOf(t, r), 2)
}

// A journal of a collector that was stopped all along still stands on the first key.
func TestKeysThatAreForgottenAreNamedAndKeptBesideTheKeyFile(t *testing.T) {
	r, first := newKeys(t)
	require.NoError(t, r.run(quiet()))
	before, err := os.ReadFile(r.keyPath)
	require.NoError(t, err)

	r.forget = true
	var printed bytes.Buffer
	con := &console{out: bufio.NewWriter(&printed)}
	require.NoError(t, r.run(con))
	require.NoError(t, con.out.Flush())
	now := signersOf(t, r)
	require.NotContains(t, now, first)
	require.Contains(t, printed.String(), "dropped_key_id: "+first+"\n")
	former := r.keyPath + formerInfix + now[0]
	require.Contains(t, printed.String(), "former_signing_key: "+former+"\n")
	kept, err := os.ReadFile(former)
	require.NoError(t, err)
	require.Equal(t, before, kept)
	info, err := os.Stat(former)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())

	printed.Reset()
	r.forget = false
	require.NoError(t, r.run(con))
	require.NoError(t, con.out.Flush())
	require.NotContains(t, printed.String(), "dropped_key_id")
}

// The key that an interrupted rotation made decides what the file holds, whatever the
// command says when it goes on.
func TestKeysThatAnInterruptedRotationForgotAreKept(t *testing.T) {
	t.Cleanup(func() { syncDirectory = syncDir })
	r, first := newKeys(t)
	require.NoError(t, r.run(quiet()))
	broken := errors.New("input/output error")
	syncDirectory = func(string) error { return broken }
	r.forget = true
	require.ErrorIs(t, r.run(quiet()), broken)
	syncDirectory = syncDir
	r.forget = false
	require.NoError(t, r.run(quiet()))
	now := signersOf(t, r)
	require.Len(t, now, 2)
	kept, err := journal.NewFileSigners(r.keyPath + formerInfix + now[0])
	require.NoError(t, err)
	require.Equal(t, first, kept[len(kept)-1].KeyID())
}

// The collector's account must be able to read the new file as it could the former.
func TestARotationKeepsTheOwnerOfTheKey(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	r, _ := newKeys(t)
	require.NoError(t, os.Chown(r.keyPath, 4711, 4712))
	require.NoError(t, os.Chown(r.registryPath, 4713, 4714))
	require.NoError(t, r.run(quiet()))
	requireOwner(t, r.keyPath, 4711, 4712)
	requireOwner(t, r.registryPath, 4713, 4714)
}

func TestAKeyIsMadeInATokenAndTrusted(t *testing.T) {
	token := softhsm.New(t)
	dir := t.TempDir()
	pin := filepath.Join(dir, "pin")
	require.NoError(t, os.WriteFile(pin, []byte(softhsm.PIN+"\n"), 0o600))
	args := func(label string) []string {
		return []string{"keys", "new", "--out", filepath.Join(dir, "keys"), "--pkcs11-module", token.Module, "--token", softhsm.Label, "--label", label, "--pin-file", pin}
	}
	for _, label := range []string{"journal-1", "journal-2"} {
		printed, code := runForTest(t, args(label))
		require.Zero(t, code, printed)
		require.Contains(t, printed, "label: "+label+"\n")
		signer, err := hsm.Open(hsm.Config{Module: token.Module, TokenLabel: softhsm.Label, KeyLabel: label, PIN: hsm.FilePIN(pin)})
		require.NoError(t, err)
		require.Contains(t, printed, "key_id: "+signer.KeyID()+"\n")
		registry, err := journal.ReadRegistry(filepath.Join(dir, "keys", registryFile))
		require.NoError(t, err)
		_, found := registry.Key(signer.KeyID())
		require.True(t, found)
		require.NoError(t, signer.Close())
	}
	require.NoFileExists(t, filepath.Join(dir, "keys", keyFile))
	printed, code := runForTest(t, args("journal-1"))
	require.Equal(t, exitUnchecked, code)
	require.Contains(t, printed, "exists already and is never overwritten")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys", registryFile), []byte("{}"), 0o600))
	_, code = runForTest(t, args("journal-3"))
	require.Equal(t, exitUnchecked, code)
	_, err := hsm.Open(hsm.Config{Module: token.Module, TokenLabel: softhsm.Label, KeyLabel: "journal-3", PIN: hsm.FilePIN(pin)})
	require.Error(t, err, "a key that no registry holds is not left in the token")
}
