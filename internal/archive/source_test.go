// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/journal"
)

func pushed(t *testing.T, n int) (*s3test.Server, *written, *archive.Bucket) {
	t.Helper()
	server, w := startServer(t), writeJournal(t, n)
	a := open(t, settings(server), policy)
	status, err := a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	return server, w, a.Bucket()
}

func TestAJournalIsVerifiedStraightFromTheBucket(t *testing.T) {
	server, w, b := pushed(t, 5)
	server.PageSize = 2
	server.Cut = 700 // every connection breaks in the middle of a segment
	sources, notes, err := b.Sources(t.Context())
	require.NoError(t, err)
	assert.Empty(t, notes)
	require.Len(t, sources, 1)
	assert.Equal(t, "s3://evidence/readtrail/bank%2FEU/kyc/reads/"+w.JournalID, sources[0].Path)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
	assert.EqualValues(t, 4, report.LastSequence)
	assert.Equal(t, journal.Valid, report.Chain)
	assert.Equal(t, journal.Valid, report.Signature)
}

// Whoever may write to the bucket can put a newer version and a delete marker over
// an object. Neither is what is read, and both are told.
func TestLaterVersionsAndDeleteMarkersHideNothing(t *testing.T) {
	server, w, b := pushed(t, 4)
	server.Put(key(w, segmentName(2)), s3test.Version{Marker: true})
	server.Put(key(w, segmentName(3)), s3test.Version{Data: []byte("forged\n")})
	sources, notes, err := b.Sources(t.Context())
	require.NoError(t, err)
	require.Len(t, notes, 2)
	assert.Contains(t, notes[0], segmentName(2)+": 1 later versions or delete markers stand over it")
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
	assert.EqualValues(t, 3, report.LastSequence)
}

func TestDamageInTheBucketIsFound(t *testing.T) {
	server, w, b := pushed(t, 4)
	server.Change(key(w, segmentName(2)), func(v *s3test.Version) { v.Data[bytes.Index(v.Data, []byte("crm.get"))] ^= 1 })
	sources, _, err := b.Sources(t.Context())
	require.NoError(t, err)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.NoError(t, err)
	require.NotNil(t, report.FirstBad)
	assert.EqualValues(t, 2, report.FirstBad.Sequence)
	assert.Equal(t, "s3://evidence/"+key(w, segmentName(2))+"?versionId=v2", report.FirstBad.Segment)
}

func TestASegmentThatEndsTooEarlyIsAnError(t *testing.T) {
	server, w, b := pushed(t, 3)
	sources, _, err := b.Sources(t.Context())
	require.NoError(t, err)
	server.Change(key(w, segmentName(1)), func(v *s3test.Version) { v.Data = v.Data[:100] })
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.ErrorContains(t, err, "read s3://evidence/")
	// A connection that ends without an answer is not the end of the segment.
	server.Fail(func(string, string) s3test.Fault { return s3test.Dropped })
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.ErrorContains(t, err, "read s3://evidence/")
	require.NotErrorIs(t, err, io.EOF)
	server.Fail(nil)
	server.Forget(key(w, segmentName(1)))
	r, err := sources[0].Segments[0].Open()
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.ErrorContains(t, err, "NoSuchVersion (HTTP 404)")
	require.NoError(t, r.Close())
}

// Keys that no archive gives are not read, and lead nowhere.
func TestKeysOfOthersAreNotRead(t *testing.T) {
	server, w, b := pushed(t, 3)
	place := "readtrail/bank%2FEU/kyc/reads/" + w.JournalID
	for _, foreign := range []string{
		"readtrail/../kyc/reads/" + w.JournalID + "/segments/" + segmentName(1),
		"readtrail/.hidden/kyc/reads/" + w.JournalID + "/segments/" + segmentName(1),
		"readtrail/bank%2feu/kyc/reads/" + w.JournalID + "/segments/" + segmentName(1),
		"readtrail/b%41nk/kyc/reads/" + w.JournalID + "/segments/" + segmentName(1),
		"readtrail//kyc/reads/" + w.JournalID + "/segments/" + segmentName(1),
		place + "/segments/../" + segmentName(1), place + "/segments/1.events", place + "/segments/" + segmentName(1) + ".zst",
		place + "/tiles/../../x", place + "/tiles//x", place + "/tiles/tile/0/x001/067.p/9", place + "/checkpoints/x", place + "/other/" + segmentName(1), place,
	} {
		server.Put(foreign, s3test.Version{Data: []byte("x")})
	}
	sources, notes, err := b.Sources(t.Context())
	require.NoError(t, err)
	require.Len(t, sources, 1)
	assert.Len(t, sources[0].Segments, 2)
	assert.Equal(t, []string{"s3://evidence/readtrail: 14 objects have no key of an archive and are not read"}, notes)
}

func TestAnArchiveWithoutASegmentHoldsNoJournal(t *testing.T) {
	server := startServer(t)
	a := open(t, settings(server), policy)
	_, _, err := a.Bucket().Sources(t.Context())
	require.ErrorIs(t, err, journal.ErrNoJournal)
}

func FuzzLocate(f *testing.F) {
	for _, seed := range []string{"readtrail/a/b/reads/j/segments/00000000000000000001.events", "readtrail/%2E/b/c/d/tiles/tile/0/x001/067"} {
		f.Add(seed)
	}
	f.Fuzz(archive.CheckLocate)
}
