// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
)

// TestEveryCallMayFail has every single call of a run fail in every way: not done,
// done and no answer, done and an error for an answer. The run that follows, of
// another process, makes everything right, nothing is ever stored twice, and nothing
// is said to be archived that is not.
func TestEveryCallMayFail(t *testing.T) {
	held := policy
	held.LegalHold = true
	w := writeJournal(t, 3)
	for _, noChecksums := range []bool{false, true} {
		server := startServer(t)
		server.NoChecksums = noChecksums
		_, err := open(t, settings(server), held).Push(t.Context(), w.Journal)
		require.NoError(t, err)
		calls := server.Calls()
		require.Greater(t, len(calls), 10)
		for i, operation := range calls {
			for _, fault := range []s3test.Fault{s3test.Refused, s3test.Dropped, s3test.Lost, s3test.Failed} {
				t.Run(fmt.Sprintf("call %d %s fault %d checksums %t", i, operation, fault, !noChecksums), func(t *testing.T) {
					testFault(t, w, held, i, fault, noChecksums)
				})
			}
		}
	}
}

func testFault(t *testing.T, w *written, p archive.Policy, at int, fault s3test.Fault, noChecksums bool) {
	server := startServer(t)
	server.NoChecksums = noChecksums
	call := 0
	server.Fail(func(string, string) s3test.Fault {
		call++
		if call == at+1 {
			return fault
		}
		return s3test.Works
	})
	status, err := open(t, settings(server), p).Push(t.Context(), w.Journal)
	for _, f := range status.Files {
		if f.State == archive.Archived {
			requireStored(t, server, w, f.Name)
		}
	}
	if err != nil {
		assert.NotContains(t, err.Error(), "\n")
		assert.Contains(t, err.Error(), "s3://evidence/")
	}
	server.Fail(nil)
	status, err = open(t, settings(server), p).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	archived, waiting, _ := status.Counts()
	require.Equal(t, []int{2, 0}, []int{archived, waiting})
	for _, f := range status.Files {
		requireStored(t, server, w, f.Name)
	}
}

func requireStored(t *testing.T, server *s3test.Server, w *written, name string) {
	t.Helper()
	versions := server.Versions(key(w, name))
	require.Len(t, versions, 1)
	require.Equal(t, read(t, w.path(name)), versions[0].Data)
	require.Equal(t, "COMPLIANCE", versions[0].Mode)
	require.Equal(t, now.Add(3660*day), versions[0].Until)
	require.Equal(t, "ON", versions[0].LegalHold)
}

// The SDK tries a call again: a PUT that was done and not answered is then refused
// as one that exists, and is ours.
func TestTheSecondTryOfAnUploadFindsTheFirst(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	lost := 0
	server.Fail(func(operation, _ string) s3test.Fault {
		if operation == "PutObject" && lost == 0 {
			lost++
			return s3test.Lost
		}
		return s3test.Works
	})
	s := settings(server)
	s.Attempts = 3
	status, err := open(t, s, policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	require.Len(t, server.Versions(key(w, segmentName(1))), 1)
	require.Equal(t, 1, lost)
}

// A server that acknowledges and forgets is not believed.
func TestAnObjectThatIsNotThereAfterwardsIsNotArchived(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	server.Fail(func(operation, objectKey string) s3test.Fault {
		if operation == "ListObjectVersions" && objectKey == "" {
			for _, k := range server.Keys() {
				server.Forget(k)
			}
		}
		return s3test.Works
	})
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.ErrorContains(t, err, "the server took the object and does not list it")
	archived, _, _ := status.Counts()
	require.Zero(t, archived)
}
