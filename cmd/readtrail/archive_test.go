// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive/s3test"
)

// startArchive runs an S3 server for the SDK's default chain, in a directory with
// the example journal, of which one segment is sealed.
func startArchive(t *testing.T) *s3test.Server {
	t.Helper()
	s3test.Credentials(t)
	server := s3test.Start(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	t.Chdir(t.TempDir())
	require.NoError(t, writeFixture(".", "crm.customer.get"))
	return server
}

const fixtureObjects = "readtrail/demo-bank/kyc/reads/" + fixtureJournal

func readtrail(t *testing.T, line string) (string, int) {
	t.Helper()
	return runForTest(t, strings.Fields(line))
}

func TestAJournalIsPushedVerifiedInPlaceAndRestored(t *testing.T) {
	server := startArchive(t)
	out, code := readtrail(t, "archive status journal s3://evidence/readtrail --keep kyc=3660")
	assert.Equal(t, exitUnchecked, code)
	assert.Contains(t, out, "segments_archived: 0\nsegments_waiting: 1\noldest_waiting: 1\nmissing: 00000000000000000001.events\n")
	assert.Contains(t, out, "the archive does not hold it")
	assert.Empty(t, server.Keys(), "status stores nothing")

	out, code = readtrail(t, "archive push journal s3://evidence/readtrail --keep kyc=3660")
	require.Zero(t, code, out)
	assert.Equal(t, []string{fixtureObjects + "/segments/00000000000000000001.events"}, server.Keys())
	out, code = readtrail(t, "archive status journal s3://evidence/readtrail --keep kyc=3660d --json")
	require.Zero(t, code, out)
	var document struct {
		Journals []archivedJournal `json:"journals"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &document))
	assert.Equal(t, "s3://evidence/"+fixtureObjects+"/segments/00000000000000000001.events?versionId=v1", document.Journals[0].Files[0].Object)

	out, code = readtrail(t, "verify s3://evidence/readtrail --keys keys.json")
	require.Zero(t, code, out)
	assert.Contains(t, out, "path: s3://evidence/"+fixtureObjects+"\nrecords_checked: 4\n")

	out, code = readtrail(t, "verify journal --keys keys.json --checkpoints s3://evidence/readtrail")
	assert.Equal(t, exitUnchecked, code)
	assert.Contains(t, out, "checkpoints: s3://evidence/readtrail holds none; name the place where they are kept")

	server.Put(server.Keys()[0], s3test.Version{Marker: true})
	out, code = readtrail(t, "archive restore s3://evidence/readtrail restored")
	require.Zero(t, code, out)
	assert.Contains(t, out, "1 later versions or delete markers stand over it")
	restored := filepath.Join("restored", "demo-bank", "kyc", "reads", fixtureJournal, "00000000000000000001.events")
	assert.Equal(t, readText(t, fixtureSegment+"/00000000000000000001.events"), readText(t, restored))
	out, code = readtrail(t, "verify restored --keys keys.json")
	require.Zero(t, code, out)
}

func TestCheckpointsAndTilesAreStoredBesideTheSegments(t *testing.T) {
	server := startArchive(t)
	tiles := filepath.Join(fixtureSegment, "tiles", "tile", "0")
	require.NoError(t, os.MkdirAll(filepath.Join(tiles, "001.p"), 0o700))
	full := strings.Repeat("x", 8192)
	for name, text := range map[string]string{"000": full, "001": "short", "000.new": full, "001.p/7": full} {
		require.NoError(t, os.WriteFile(filepath.Join(tiles, name), []byte(text), 0o600))
	}
	notes := filepath.Join("checkpoints", fixtureJournal)
	require.NoError(t, os.MkdirAll(notes, 0o700))
	for _, name := range []string{"00000000000000000004.checkpoint", "00000000000000000004.tsa.tsr", "readme"} {
		require.NoError(t, os.WriteFile(filepath.Join(notes, name), []byte(name), 0o600))
	}
	push := "archive push journal s3://evidence/readtrail --keep kyc=3660 --checkpoints checkpoints"
	out, code := readtrail(t, push)
	require.Zero(t, code, out)
	assert.Contains(t, out, "objects_stored: 4\n")
	assert.Equal(t, []string{
		fixtureObjects + "/checkpoints/00000000000000000004.checkpoint", fixtureObjects + "/checkpoints/00000000000000000004.tsa.tsr",
		fixtureObjects + "/segments/00000000000000000001.events", fixtureObjects + "/tiles/tile/0/000",
	}, server.Keys())
	out, code = readtrail(t, push)
	require.Zero(t, code, out)
	assert.Contains(t, out, "objects_stored: 0\n")

	require.NoError(t, os.WriteFile(filepath.Join(notes, "00000000000000000004.checkpoint"), []byte("another"), 0o600))
	out, code = readtrail(t, push)
	assert.Equal(t, exitUnchecked, code)
	assert.Contains(t, out, "the archive holds other bytes under this name")
}

func TestWhatCannotBeArchivedIsSaid(t *testing.T) {
	server := startArchive(t)
	for line, says := range map[string]string{
		"archive push journal s3://evidence/readtrail":                              "--keep CLASS=DAYS is missing",
		"archive push journal s3://evidence/readtrail --keep kyc":                   `--keep "kyc" is not CLASS=DAYS`,
		"archive push journal s3://evidence/readtrail --keep kyc=0":                 "retain::kyc is 0s, not one day to 100 years",
		"archive push journal s3://evidence/readtrail --keep kyc=1 --mode whatever": "mode must be COMPLIANCE or GOVERNANCE",
		"archive push journal": "s3://BUCKET/PREFIX is missing",
	} {
		out, code := readtrail(t, line)
		assert.Equal(t, exitUsage, code, line)
		assert.Contains(t, out, says)
	}
	for line, says := range map[string]string{
		"archive push journal evidence --keep kyc=1":                  "is not the address of an archive",
		"archive push journal s3://evidence --keep other=1":           "no retention is given for the class kyc",
		"archive push keys.json s3://evidence --keep kyc=1":           "the directory of a journal that is archived is called reads or actions",
		"archive push nothing s3://evidence --keep kyc=1":             "nothing: no such file or directory",
		"archive restore s3://evidence/readtrail restored":            "no journal found in s3://evidence/readtrail",
		"verify s3://evidence/readtrail --keys keys.json":             "no journal found in s3://evidence/readtrail",
		"verify s3://elsewhere/readtrail --keys keys.json":            "NoSuchBucket (HTTP 404)",
		"archive push journal s3://elsewhere/readtrail --keep kyc=99": "NoSuchBucket (HTTP 404); create it with Object Lock",
	} {
		out, code := readtrail(t, line)
		assert.Equal(t, exitUnchecked, code, line)
		assert.Contains(t, out, says)
	}
	assert.Empty(t, server.Keys())
}

// The journal has seven entries, of which the archive has the four that are sealed.
func TestAnArchiveIsVerifiedWithItsOwnCheckpointsAndIsNotTruncated(t *testing.T) {
	server := startArchive(t)
	require.NoError(t, writeFixtureCheckpoints("."))
	notes := filepath.Join("kept", fixtureJournal)
	require.NoError(t, os.MkdirAll("kept", 0o700))
	require.NoError(t, os.Rename("checkpoints", notes))
	out, code := readtrail(t, "archive push journal s3://evidence/readtrail --keep kyc=3660 --checkpoints kept")
	require.Zero(t, code, out)
	const goesTo = "the copy ends with 4, and a checkpoint covers 7: look for the entries behind it where the journal is written: checkpoint "
	for _, flags := range []string{"", " --checkpoints s3://evidence/readtrail", " --checkpoints kept"} {
		out, code = readtrail(t, "verify s3://evidence/readtrail --keys keys.json"+flags)
		require.Zero(t, code, out)
		assert.Contains(t, out, goesTo)
		assert.NotContains(t, out, "truncated")
	}
	require.NoError(t, os.WriteFile("policy.json", []byte(`{"demand":["tail"]}`), 0o600))
	out, code = readtrail(t, "verify s3://evidence/readtrail --keys keys.json --policy policy.json")
	assert.Equal(t, exitUnchecked, code, out)

	// A journal that has sealed nothing yet has only checkpoints there.
	for _, key := range server.Keys() {
		if strings.Contains(key, "/checkpoints/") {
			server.Put(strings.ReplaceAll(key, fixtureJournal, "jrn_other"), *server.Versions(key)[0])
		}
	}
	other := strings.ReplaceAll(readText(t, filepath.Join(notes, "00000000000000000004.checkpoint")), fixtureJournal, "jrn_other")
	server.Change(strings.ReplaceAll(fixtureObjects, fixtureJournal, "jrn_other")+"/checkpoints/00000000000000000004.checkpoint", func(v *s3test.Version) { v.Data = []byte(other) })
	out, code = readtrail(t, "verify s3://evidence/readtrail --keys keys.json")
	require.Zero(t, code, out)
	assert.Contains(t, out, "s3://evidence/readtrail has checkpoints of journal jrn_other and no segment of it; nothing of it was verified")
}
