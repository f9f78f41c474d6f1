// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dropping is a house of several old segments, with checkpoints, whose local copies
// may go as soon as a bucket holds them.
type dropping struct {
	*witnessed
	server *objectStore
}

// apply prunes what the archive holds and returns the exit code and what was said.
func (d *dropping) apply(more ...string) (int, string) {
	d.t.Helper()
	return d.applyWith(d.checkpoints(), more...)
}

// applyWith does so with the checkpoints of another place.
func (d *dropping) applyWith(checkpoints string, more ...string) (int, string) {
	d.t.Helper()
	return d.cliTo(d.server.env(storeUser, storeSecret), append([]string{
		"retention", "apply", d.journal, "--keep", d.retentionClass() + "=0", "--checkpoints", checkpoints, "--require-archived", archiveURL,
	}, more...)...)
}

// address is the key of a segment in the bucket.
func (d *dropping) address(segment string) string {
	d.t.Helper()
	place, err := filepath.Rel(d.journal, filepath.Dir(segment))
	require.NoError(d.t, err)
	return "readtrail/" + filepath.ToSlash(place) + "/" + d.journalID() + "/segments/" + filepath.Base(segment)
}

func (d *dropping) journalID() string {
	d.t.Helper()
	_, after, found := strings.Cut(string(d.lines()[0]), `"journal_id":"`)
	require.True(d.t, found)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// requireWhole demands that what is here and what the bucket has are one journal from
// its first entry on.
func (d *dropping) requireWhole() {
	d.t.Helper()
	env := d.server.env(storeUser, storeSecret)
	code, out := d.cliTo(env, "verify", d.journal, "--keys", d.registry, "--checkpoints", d.checkpoints())
	require.Zero(d.t, code, out)
	assert.Contains(d.t, out, "first_link: valid\n", "journal.pruned anchors what is left")
	code, out = d.cliTo(env, "verify", archiveURL, "--keys", d.registry)
	require.Zero(d.t, code, out)
	assert.Contains(d.t, out, "\nfirst_sequence: 1\n")

	restored := filepath.Join(d.base, "restored")
	code, out = d.cliTo(env, "archive", "restore", archiveURL, restored)
	require.Zero(d.t, code, out)
	whole := ""
	found, err := filepath.Glob(filepath.Join(restored, "*", "*", "*", "*", "*.events"))
	require.NoError(d.t, err)
	for _, segment := range found {
		if filepath.Base(segment) < filepath.Base(d.segmentsHere()[0]) {
			whole += readFile(d.t, segment)
		}
	}
	for _, segment := range d.segmentsHere() {
		whole += readFile(d.t, segment)
	}
	joined := filepath.Join(d.base, "joined.events")
	require.NoError(d.t, os.WriteFile(joined, []byte(whole), 0o600))
	code, out = d.cliTo(env, "verify", joined, "--keys", d.registry, "--checkpoints", d.checkpoints())
	require.Zero(d.t, code, out)
	assert.Contains(d.t, out, "\nfirst_sequence: 1\n")
}

func (d *dropping) segmentsHere() []string {
	d.t.Helper()
	segments, err := filepath.Glob(filepath.Join(d.journal, "*", "*", "*", "*.events"))
	require.NoError(d.t, err)
	return segments
}

// TestALocalCopyGoesOnlyWhenTheBucketShowsItsLock prunes without a collector.
func TestALocalCopyGoesOnlyWhenTheBucketShowsItsLock(t *testing.T) {
	d := &dropping{newWitnessed(t), startVersity(t)}
	d.server.bucket("evidence", true)
	d.variant("segment: {max_bytes: 65536}", smallSegments)
	c := d.start()
	d.post(c, 0, 5)
	require.NoError(t, c.Stop())
	before := d.segmentsHere()
	require.Greater(t, len(before), 4)
	key := []string{"--signing-key", d.key}

	code, out := d.apply(key...)
	require.Zero(t, code, out)
	assert.Contains(t, out, "goes: nothing")
	assert.Contains(t, out, "not_archived")
	require.Equal(t, before, d.segmentsHere(), "nothing is archived")

	// The first segment lies in the bucket, to the byte, and nothing locks it.
	first := d.address(before[0])
	_, err := d.server.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("evidence"), Key: &first, Body: strings.NewReader(readFile(t, before[0]))})
	require.NoError(t, err)
	code, out = d.apply(key...)
	require.Zero(t, code, out)
	assert.Contains(t, out, "not_archived")
	require.Equal(t, before, d.segmentsHere(), "what can be deleted is no copy")

	// Somebody was there before the third segment, with other bytes.
	third := d.address(before[2])
	_, err = d.server.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("evidence"), Key: &third, Body: strings.NewReader("forged\n")})
	require.NoError(t, err)
	push := []string{"archive", "push", d.journal, archiveURL, "--keep=" + d.retentionClass() + "=30"}
	code, out = d.cliTo(d.server.env(storeUser, storeSecret), push...)
	require.Equal(t, 2, code, out)
	code, out = d.apply(key...)
	require.Zero(t, code, out)
	assert.Contains(t, out, "removed_segments: 2\n")
	require.Equal(t, before[2], d.segmentsHere()[0], "what is held goes, up to the first that is not")
	for _, segment := range before[:2] {
		assert.Contains(t, string(bytes.Join(d.lines(), nil)), `"archived_as":"s3://evidence/`+d.address(segment), "the entry says where the copy is")
	}

	// The bucket is away: nothing is known, so nothing goes.
	versions := d.server.versionsOf("evidence")[third]
	require.Len(t, versions, 1)
	_, err = d.server.client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("evidence"), Key: &third, VersionId: versions[0].VersionId})
	require.NoError(t, err, "the forger's object is not locked")
	code, out = d.cliTo(d.server.env(storeUser, storeSecret), push...)
	require.Zero(t, code, out)
	left := d.segmentsHere()
	d.server.kill()
	_, out = d.apply(append(key, "--timeout=2s")...)
	assert.NotContains(t, out, "removed_segments: 1")
	require.Equal(t, left, d.segmentsHere())
	d.server.start()
	code, out = d.apply(key...)
	require.Zero(t, code, out)
	require.Greater(t, len(left), len(d.segmentsHere()))
	d.end()
	d.requireWhole()
}

// TestACollectorLetsGoWhatItsArchiveHolds prunes through the control socket.
func TestACollectorLetsGoWhatItsArchiveHolds(t *testing.T) {
	d := &dropping{newWitnessed(t), startVersity(t)}
	d.server.bucket("evidence", true)
	d.server.bucket("checkpoints", true)
	d.server.bucket("unlocked", false)
	d.variant("        directory:\n", "        s3: {elsewhere: {bucket: checkpoints, prefix: at, retain: 30d}}\n        directory:\n",
		"segment: {max_bytes: 65536}", smallSegments+"\n    archive: {bucket: evidence, prefix: readtrail, retain: {default: 30d}, interval: 1s, timeout: 2s}")
	d.extraEnv = d.server.env(storeUser, storeSecret)
	c := d.start()
	d.post(c, 0, 3)
	before := d.segmentsHere()
	// First the checkpoints of the archive count, then those of a sink of its own.
	place := archiveURL
	removed := func() bool {
		code, out := d.applyWith(place)
		return code == 0 && strings.Contains(out, "removed_segments: ")
	}
	require.Eventually(t, removed, storeStart, 200*time.Millisecond)
	require.NotEqual(t, before[0], d.segmentsHere()[0])
	code, out := d.applyWith("s3://unlocked/nothing")
	require.Zero(t, code, out)
	require.Contains(t, out, "goes: nothing")
	place = "s3://checkpoints/at"

	d.server.kill()
	d.post(c, 3, 3)
	left := d.segmentsHere()
	d.apply("--timeout=2s")
	require.Equal(t, left[0], d.segmentsHere()[0], "what was sealed meanwhile is only here")
	d.server.start()
	require.Eventually(t, removed, storeStart, 200*time.Millisecond)
	d.post(c, 6, 1) // the collector goes on
	require.NoError(t, c.Stop())
	d.end()
	code, out = d.cliTo(d.server.env(storeUser, storeSecret), "archive", "push", d.journal, archiveURL, "--keep=default=30")
	require.Zero(t, code, out)
	d.requireWhole()
}
