// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

func TestAStoreOnDiskHasOneWriterAndAnyReaders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "evidence")
	place, err := evidence.OpenLocal(durable.OS{}, dir)
	require.NoError(t, err)
	_, err = evidence.OpenLocal(durable.OS{}, dir)
	require.ErrorContains(t, err, "another collector or process writes this evidence store")

	identity, c := newIdentity(t), copyOf("content")
	store, err := evidence.NewStore(t.Context(), place, kyc(t, identity))
	require.NoError(t, err)
	put(t, store, c)
	r := readerOf(durable.OS{}, identity)
	r.Places = []evidence.Reading{evidence.Directory{FS: durable.OS{}, Root: dir}}
	got, err := get(t, r, c)
	require.NoError(t, err)
	assert.Equal(t, "content", got)
	require.NoError(t, place.Close())

	left := filepath.Join(dir, ".incoming", "7")
	require.NoError(t, os.WriteFile(left, []byte("half of an obj"), 0o600))
	place, err = evidence.OpenLocal(durable.OS{}, dir)
	require.NoError(t, err)
	assert.NoFileExists(t, left, "what a crash left")
	require.NoError(t, place.Close())
}

func TestWhatIsNoFileIsNotReadAsAnObject(t *testing.T) {
	dir := t.TempDir()
	c := copyOf("content")
	object := filepath.Join(dir, filepath.FromSlash(nameOf(c)[len(root):]))
	require.NoError(t, os.MkdirAll(object, 0o700))
	r := readerOf(durable.OS{}, newIdentity(t))
	r.Places = []evidence.Reading{evidence.Directory{FS: durable.OS{}, Root: dir}}
	_, err := get(t, r, c)
	require.ErrorContains(t, err, "not a regular file")
}

func TestASetThatWasDeletedIsBegunAgainWithItsRecipients(t *testing.T) {
	dir := t.TempDir()
	place, err := evidence.OpenLocal(durable.OS{}, dir)
	require.NoError(t, err)
	store, err := evidence.NewStore(t.Context(), place, kyc(t, newIdentity(t)))
	require.NoError(t, err)
	put(t, store, copyOf("content"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bank")))
	_, err = store.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("content")})
	require.Error(t, err, "the sender retries")
	put(t, store, copyOf("content"))
	assert.FileExists(t, filepath.Join(dir, "bank", "kyc", "2026", "recipients.txt"))
	require.NoError(t, place.Close())
}
