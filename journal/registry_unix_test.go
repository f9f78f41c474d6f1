// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/readtrail/readtrail/journal"
)

func TestAPipeIsNoRegistry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	_, err := journal.ReadRegistry(path) // nobody ever writes to it
	require.ErrorContains(t, err, "not a regular file")
}
