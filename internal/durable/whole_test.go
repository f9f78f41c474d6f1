// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
)

func TestAWholeFileTakesThePlaceOfAnother(t *testing.T) {
	for _, write := range []func(durable.FS, string, []byte) error{durable.ReplaceWhole, durable.WriteWhole} {
		path := filepath.Join(t.TempDir(), "a", "b", "file")
		require.NoError(t, write(durable.OS{}, path, []byte("one")))
		require.NoError(t, os.WriteFile(path+".new", []byte("what a crash left"), 0o600))
		require.NoError(t, write(durable.OS{}, path, []byte("two")))
		got, err := durable.ReadWhole(durable.OS{}, path, 3)
		require.NoError(t, err)
		assert.Equal(t, "two", string(got))
		_, err = os.Stat(path + ".new")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestAFileIsReadOnlyUpToItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 11)), 0o600))
	_, err := durable.ReadWhole(durable.OS{}, path, 10)
	require.ErrorIs(t, err, durable.ErrTooLarge)
	_, err = durable.ReadWhole(durable.OS{}, path+"x", 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
