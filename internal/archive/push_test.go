// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) {
	// The SDK's client keeps connections for the next call.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func TestSealedSegmentsAreStoredAndLocked(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 4)
	a := open(t, settings(server), policy)
	status, err := a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	archived, waiting, oldest := status.Counts()
	assert.Equal(t, []int{3, 0, 0, 3}, []int{archived, waiting, int(oldest), status.Stored})
	assert.Equal(t, []string{key(w, segmentName(1)), key(w, segmentName(2)), key(w, segmentName(3))}, server.Keys(), "the last segment is still written")
	for _, f := range status.Files {
		versions := server.Versions(key(w, f.Name))
		require.Len(t, versions, 1)
		assert.Equal(t, read(t, w.path(f.Name)), versions[0].Data)
		assert.Equal(t, "COMPLIANCE", versions[0].Mode)
		assert.Equal(t, now.Add(3660*day), versions[0].Until, "from the last entry on")
		assert.Equal(t, "s3://evidence/"+key(w, f.Name)+"?versionId="+versions[0].ID, f.Locked.String())
		assert.Equal(t, now.Add(3660*day), f.Locked.Until.UTC())
	}

	server.Calls()
	status, err = a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	assert.Zero(t, status.Stored)
	assert.Empty(t, server.Calls(), "what was made sure of is not asked for again")

	status, err = open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	assert.Zero(t, status.Stored)
	calls := server.Calls()
	assert.NotContains(t, calls, "PutObject")
	assert.Contains(t, calls, "GetObjectRetention", "another process finds out by asking the server")
}

func TestALegalHoldIsSetAndReadBack(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	held := policy
	held.LegalHold = true
	status, err := open(t, settings(server), held).Look(t.Context(), w.Journal)
	require.NoError(t, err)
	assert.Equal(t, archive.Unlocked, status.Files[0].State)
	require.ErrorContains(t, status.Err(), "it has no legal hold")

	status, err = open(t, settings(server), held).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.True(t, status.Files[0].Locked.LegalHold)
	assert.Equal(t, "ON", server.Versions(key(w, segmentName(1)))[0].LegalHold)

	other := writeJournal(t, 3)
	_, err = open(t, settings(server), held).Push(t.Context(), other.Journal)
	require.NoError(t, err)
	assert.Equal(t, "ON", server.Versions(key(other, segmentName(1)))[0].LegalHold)
}

func TestALongerOrStrongerRetentionIsSetOnWhatIsThere(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	weak := archive.Policy{Mode: archive.Governance, Keep: map[string]time.Duration{"kyc": 30 * day}}
	_, err := open(t, settings(server), weak).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	v := server.Versions(key(w, segmentName(1)))
	require.Len(t, v, 1)
	assert.Equal(t, "COMPLIANCE", v[0].Mode)
	assert.Equal(t, now.Add(3660*day), v[0].Until)

	status, err = open(t, settings(server), weak).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err(), "stronger and longer than demanded will do")
	assert.Equal(t, "COMPLIANCE", server.Versions(key(w, segmentName(1)))[0].Mode)
}

func TestAServerThatLocksOtherwiseThanToldIsFoundOut(t *testing.T) {
	for name, test := range map[string]struct {
		retain func(string, time.Time) (string, time.Time)
		says   string
	}{
		"a day less":    {func(m string, u time.Time) (string, time.Time) { return m, u.Add(-day) }, "until 2037-03-07T12:00:00Z, not 2037-03-08T12:00:00Z"},
		"a second less": {func(m string, u time.Time) (string, time.Time) { return m, u.Add(-time.Second) }, "until 2037-03-08T11:59:59Z, not"},
		"a weaker mode": {func(_ string, u time.Time) (string, time.Time) { return "GOVERNANCE", u }, "its mode is GOVERNANCE, not COMPLIANCE"},
		"not at all":    {func(string, time.Time) (string, time.Time) { return "", time.Time{} }, "it has no retention"},
		"another mode":  {func(_ string, u time.Time) (string, time.Time) { return "PERHAPS", u }, "it has no retention"},
	} {
		t.Run(name, func(t *testing.T) {
			server, w := startServer(t), writeJournal(t, 3)
			server.Retain = test.retain
			a := open(t, settings(server), policy)
			status, err := a.Push(t.Context(), w.Journal)
			require.NoError(t, err)
			for _, f := range status.Files {
				assert.Equal(t, archive.Unlocked, f.State)
				require.ErrorIs(t, f.Err, archive.ErrNotLocked)
				require.ErrorContains(t, f.Err, test.says)
				assert.NotContains(t, f.Err.Error(), "\n")
			}
			_, err = a.Held(t.Context(), w.Journal, segmentName(1))
			require.ErrorIs(t, err, archive.ErrNotLocked)
		})
	}
}

func TestABucketWithoutObjectLockIsRefused(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	server.NoObjectLock = true
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.ErrorIs(t, err, archive.ErrNoObjectLock)
	require.ErrorContains(t, err, "s3://evidence/readtrail: bucket has no Object Lock: create one that has")
	assert.Equal(t, archive.Unknown, status.Files[0].State)
	assert.Empty(t, server.Keys())
}

func TestClocksThatDifferAreRefused(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	for skew, ok := range map[time.Duration]bool{-16 * time.Minute: false, 16 * time.Minute: false, -14 * time.Minute: true, 14 * time.Minute: true} {
		s := settings(server)
		s.Now = clockAt(server.Now().Add(skew))
		_, err := open(t, s, policy).Push(t.Context(), w.Journal)
		if ok {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, archive.ErrClock)
		require.ErrorContains(t, err, "set the clock")
	}
}

// A clock that ran ahead dated the entries: the lock begins with the upload.
func TestEntriesOfTheFutureAreNotLockedForLonger(t *testing.T) {
	server := startServer(t)
	w := writeJournalAt(t, 3, clockAt(now.AddDate(70, 0, 0)))
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, server.Now().Add(3660*day), server.Versions(key(w, segmentName(1)))[0].Until)
	status, err = open(t, settings(server), policy).Look(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
}

// What is archived when its time is over is locked for a day all the same.
func TestEntriesWhoseTimeIsOverAreLockedForADay(t *testing.T) {
	server := startServer(t)
	w := writeJournalAt(t, 3, clockAt(now.AddDate(-20, 0, 0)))
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, server.Now().Add(day), server.Versions(key(w, segmentName(1)))[0].Until)
}

func TestOtherBytesUnderTheNameAreAConflictAndStay(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 4)
	server.Put(key(w, segmentName(2)), s3test.Version{Data: []byte("planted\n"), Mode: "COMPLIANCE", Until: now.Add(9999 * day)})
	a := open(t, settings(server), policy)
	status, err := a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.ErrorIs(t, status.Err(), archive.ErrConflict)
	archived, waiting, oldest := status.Counts()
	assert.Equal(t, []int{1, 2, 2}, []int{archived, waiting, int(oldest)}, "nothing is stored behind it")
	assert.Equal(t, archive.Missing, status.Files[2].State)
	assert.True(t, status.Contradicted())
	assert.Empty(t, server.Versions(key(w, segmentName(3))))
	assert.Len(t, server.Versions(key(w, segmentName(2))), 1)
	_, err = a.Held(t.Context(), w.Journal, segmentName(2))
	require.ErrorIs(t, err, archive.ErrConflict)
}

// A delete marker lets a second version be created: the first one still counts.
func TestTheOldestVersionCountsAndIsNotReplaced(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	a := open(t, settings(server), policy)
	_, err := a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	server.Put(key(w, segmentName(1)), s3test.Version{Marker: true})
	server.Put(key(w, segmentName(1)), s3test.Version{Data: []byte("forged\n"), Mode: "COMPLIANCE", Until: now.Add(9999 * day)})
	server.PageSize = 1
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, 2, status.Files[0].Locked.Later)
	assert.Len(t, server.Versions(key(w, segmentName(1))), 3)
	held, err := a.Held(t.Context(), w.Journal, segmentName(1))
	require.NoError(t, err)
	assert.Equal(t, "v1", held.VersionID)
}

func TestADamagedSegmentIsNotLocked(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"a flipped bit":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"an added line":   func(b []byte) []byte { return append(b, b...) },
		"no line at all":  func([]byte) []byte { return nil },
		"a torn line":     func(b []byte) []byte { return b[:len(b)-3] },
		"not terminated":  func(b []byte) []byte { return b[:len(b)-1] },
		"something else":  func([]byte) []byte { return []byte("something\n") },
		"a very long one": func([]byte) []byte { return []byte(strings.Repeat("x", 3<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			server, w := startServer(t), writeJournal(t, 4)
			path := w.path(segmentName(2))
			require.NoError(t, os.WriteFile(path, damage(read(t, path)), 0o600))
			a := open(t, settings(server), policy)
			status, err := a.Push(t.Context(), w.Journal)
			require.NoError(t, err)
			assert.Equal(t, archive.Damaged, status.Files[1].State)
			require.ErrorContains(t, status.Err(), "is damaged and is not archived; run readtrail verify")
			assert.Equal(t, []string{key(w, segmentName(1)), key(w, segmentName(3))}, server.Keys())
			_, err = a.Held(t.Context(), w.Journal, segmentName(2))
			require.Error(t, err)
		})
	}
}

func TestWhatWasTornOffIsKeptBesideItsSegment(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	torn := segmentName(1) + ".812.torn"
	require.NoError(t, os.WriteFile(w.path(torn), []byte("half a li"), 0o600))
	require.NoError(t, os.WriteFile(w.path(segmentName(3)+".9.torn"), []byte("of the active segment"), 0o600))
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, []string{key(w, segmentName(1)), key(w, torn), key(w, segmentName(2))}, server.Keys())
}

// A crash may leave an empty last segment whose name is not durable: the one before
// may be written again.
func TestTheSegmentBeforeAnEmptyOneIsNotSealed(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	require.NoError(t, os.WriteFile(w.path(segmentName(4)), nil, 0o600))
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	assert.Equal(t, []string{key(w, segmentName(1)), key(w, segmentName(2))}, server.Keys())
}

func TestAClassWithoutARetentionIsRefused(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	other := archive.Policy{Mode: archive.Compliance, Keep: map[string]time.Duration{"other": day}}
	_, err := open(t, settings(server), other).Push(t.Context(), w.Journal)
	require.ErrorContains(t, err, "no retention is given for the class kyc")
}

func TestHeldReadsTheBytesBack(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	a := open(t, settings(server), policy)
	_, err := a.Held(t.Context(), w.Journal, segmentName(1))
	require.ErrorIs(t, err, archive.ErrAbsent)
	_, err = a.Held(t.Context(), w.Journal, segmentName(3))
	require.ErrorContains(t, err, "is no sealed segment of it")
	_, err = a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	held, err := a.Held(t.Context(), w.Journal, segmentName(1))
	require.NoError(t, err)
	assert.Equal(t, now.Add(3660*day), held.Until.UTC())
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", held.SpelledDigest())

	pruned := record.PrunedSegment{Segment: segmentName(1), Size: held.Size, Digest: held.SpelledDigest()}
	where, err := a.Asks(w.Journal)(t.Context(), pruned)
	require.NoError(t, err)
	assert.Equal(t, "s3://evidence/"+key(w, segmentName(1))+"?versionId=v1", where)
	pruned.Digest = "sha256:0"
	_, err = a.Asks(w.Journal)(t.Context(), pruned)
	require.ErrorIs(t, err, archive.ErrConflict, "of other bytes than those that go")
	pruned.Digest = held.SpelledDigest()
	late := settings(server)
	late.Now = clockAt(now.Add(3660 * day))
	_, err = open(t, late, policy).Asks(w.Journal)(t.Context(), pruned)
	require.ErrorContains(t, err, "its lock ended at 2037-03-08T12:00:00Z")

	// The medium rotted; the digest that the server keeps is still right.
	server.Change(key(w, segmentName(1)), func(v *s3test.Version) { v.Data[3] ^= 1 })
	_, err = a.Held(t.Context(), w.Journal, segmentName(1))
	require.ErrorIs(t, err, archive.ErrConflict)
	server.Forget(key(w, segmentName(2)))
	_, err = a.Held(t.Context(), w.Journal, segmentName(2))
	require.ErrorIs(t, err, archive.ErrAbsent, "what was known does not count")
}
