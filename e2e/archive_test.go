// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

const (
	archiveURL = "s3://evidence/readtrail"
	// smallSegments has every commit group begin a segment.
	smallSegments = "segment: {max_bytes: 1}"
)

// archivedHouse has a journal of several segments, written by a collector that has
// ended.
func archivedHouse(t *testing.T, requests int) *house {
	t.Helper()
	h := newHouse(t, "e2e/testdata/audit.yaml")
	h.variant("segment: {max_bytes: 131072}", smallSegments)
	c := h.start()
	h.post(c, 0, requests)
	require.NoError(t, c.Stop())
	return h
}

// post sends requests of one span each.
func (h *house) post(c *rig.Collector, from, n int) {
	h.t.Helper()
	for i := from; i < from+n; i++ {
		status, answer, err := c.Post(h.t.Context(), "/v1/traces", toolSpan("0af7651916cd43dd8448eb211c80319c", fmt.Sprintf("%016x", i+1), fmt.Sprintf("call_%d", i), "{}"))
		require.NoError(h.t, err)
		require.Equal(h.t, http.StatusOK, status, answer)
	}
}

// sealedSegments are the files of all segments but the last one.
func (h *house) sealedSegments() []string {
	h.t.Helper()
	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, segments)
	return segments[:len(segments)-1]
}

func (h *house) retentionClass() string {
	h.t.Helper()
	return filepath.Base(filepath.Dir(filepath.Dir(h.sealedSegments()[0])))
}

// versionsOf lists all versions in a bucket, by key, the newest first.
func (s *objectStore) versionsOf(bucket string) map[string][]types.ObjectVersion {
	s.t.Helper()
	found := map[string][]types.ObjectVersion{}
	pages := s3.NewListObjectVersionsPaginator(s.client, &s3.ListObjectVersionsInput{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(s.t.Context())
		require.NoError(s.t, err)
		for _, v := range page.Versions {
			found[*v.Key] = append(found[*v.Key], v)
		}
	}
	return found
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// TestAnArchiveOnARealServer pushes a journal, has the server's administrator try
// to get rid of it, verifies it in place and restores it.
func TestAnArchiveOnARealServer(t *testing.T) {
	for name, start := range map[string]func(*testing.T) *objectStore{"versitygw": startVersity, "seaweedfs": startSeaweed} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			server.bucket("evidence", true)
			server.bucket("unlocked", false)
			h := archivedHouse(t, 5)
			env, keep := server.env(storeUser, storeSecret), "--keep="+h.retentionClass()+"=30"

			code, out := h.cliTo(env, "archive", "push", h.journal, "s3://unlocked/readtrail", keep)
			assert.Equal(t, 2, code)
			assert.Contains(t, out, "bucket has no Object Lock: create one that has")
			assert.Empty(t, server.versionsOf("unlocked"))

			code, out = h.cliTo(env, "archive", "push", h.journal, archiveURL, keep)
			require.Zero(t, code, out)
			stored := server.versionsOf("evidence")
			require.Len(t, stored, len(h.sealedSegments()))
			code, out = h.cliTo(env, "archive", "push", h.journal, archiveURL, keep)
			require.Zero(t, code, out)
			assert.Contains(t, out, "objects_stored: 0\n")

			server.attack(stored)
			code, out = h.cliTo(env, "archive", "status", h.journal, archiveURL, keep)
			require.Zero(t, code, out)
			assert.Contains(t, out, "newer versions or delete markers stand over it")
			code, out = h.cliTo(env, "verify", archiveURL, "--keys", h.registry)
			require.Zero(t, code, out)
			assert.Contains(t, out, fmt.Sprintf("last_sequence: %d\n", len(h.lines())-1-h.lastSegmentLines()+1))
			assert.Contains(t, out, "the oldest version is read, find out who wrote them")

			restored := filepath.Join(h.base, "restored")
			code, out = h.cliTo(env, "archive", "restore", archiveURL, restored)
			require.Zero(t, code, out)
			for _, segment := range h.sealedSegments() {
				found, err := filepath.Glob(filepath.Join(restored, "*", "*", "*", "*", filepath.Base(segment)))
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.Equal(t, readFile(t, segment), readFile(t, found[0]))
			}
			code, out = h.cliTo(env, "verify", restored, "--keys", h.registry)
			require.Zero(t, code, out)
		})
	}
}

func (h *house) lastSegmentLines() int {
	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(h.t, err)
	return strings.Count(readFile(h.t, segments[len(segments)-1]), "\n")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// attack does with the rights of an administrator what they have: nothing gets rid
// of a locked version, and a newer one and a delete marker can be put over it.
func (s *objectStore) attack(stored map[string][]types.ObjectVersion) {
	s.t.Helper()
	ctx, bucket := s.t.Context(), aws.String("evidence")
	marked := false
	for key, versions := range stored {
		require.Len(s.t, versions, 1)
		id := versions[0].VersionId
		_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key, VersionId: id})
		require.Equal(s.t, "AccessDenied", codeOf(err), "delete: %v", err)
		_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key, VersionId: id, BypassGovernanceRetention: aws.Bool(true)})
		require.Equal(s.t, "AccessDenied", codeOf(err), "delete with bypass: %v", err)
		for _, weaker := range []types.ObjectLockRetention{
			{Mode: types.ObjectLockRetentionModeCompliance, RetainUntilDate: aws.Time(time.Now().Add(time.Hour))},
			{Mode: types.ObjectLockRetentionModeGovernance, RetainUntilDate: aws.Time(time.Now().Add(24 * 60 * time.Hour))},
		} {
			_, err = s.client.PutObjectRetention(ctx, &s3.PutObjectRetentionInput{Bucket: bucket, Key: &key, VersionId: id, Retention: &weaker, BypassGovernanceRetention: aws.Bool(true)})
			require.Equal(s.t, "AccessDenied", codeOf(err), "weaken to %v: %v", weaker, err)
		}
		if !marked {
			_, err = s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: strings.NewReader("forged\n")})
			require.NoError(s.t, err)
			marked = true
			continue
		}
		_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key})
		require.NoError(s.t, err, "a delete marker can be set")
	}
}

// TestALegalHoldKeepsWhatGovernanceWouldLetGo runs on SeaweedFS, whose holds are
// those of AWS.
func TestALegalHoldKeepsWhatGovernanceWouldLetGo(t *testing.T) {
	server := startSeaweed(t)
	server.bucket("evidence", true)
	h := archivedHouse(t, 3)
	keep := "--keep=" + h.retentionClass() + "=30"
	code, out := h.cliTo(server.env(storeUser, storeSecret), "archive", "push", h.journal, archiveURL, keep, "--mode=GOVERNANCE", "--legal-hold")
	require.Zero(t, code, out)
	code, out = h.cliTo(server.env(storeUser, storeSecret), "archive", "status", h.journal, archiveURL, keep, "--mode=GOVERNANCE", "--json")
	require.Zero(t, code, out)
	assert.Contains(t, out, `"legal_hold": true`)
	ctx, bucket := t.Context(), aws.String("evidence")
	for key, versions := range server.versionsOf("evidence") {
		remove := &s3.DeleteObjectInput{Bucket: bucket, Key: &key, VersionId: versions[0].VersionId, BypassGovernanceRetention: aws.Bool(true)}
		_, err := server.client.DeleteObject(ctx, remove)
		require.Equal(t, "AccessDenied", codeOf(err), "a hold is not bypassed: %v", err)
		_, err = server.client.PutObjectLegalHold(ctx, &s3.PutObjectLegalHoldInput{
			Bucket: bucket, Key: &key, VersionId: versions[0].VersionId,
			LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOff},
		})
		require.NoError(t, err)
		_, err = server.client.DeleteObject(ctx, remove)
		require.NoError(t, err, "governance alone is bypassed")
	}
	// What is gone is stored anew as long as it is here.
	code, out = h.cliTo(server.env(storeUser, storeSecret), "archive", "push", h.journal, archiveURL, keep)
	require.Zero(t, code, out)
	assert.Len(t, server.versionsOf("evidence"), len(h.sealedSegments()))
}

// TestAPushThatIsKilledIsResumed kills the push again and again, and the server
// once; nothing is stored twice.
func TestAPushThatIsKilledIsResumed(t *testing.T) {
	server := startVersity(t)
	server.bucket("evidence", true)
	h := archivedHouse(t, 40)
	env := append(os.Environ(), server.env(storeUser, storeSecret)...)
	args := []string{"archive", "push", h.journal, archiveURL, "--keep=" + h.retentionClass() + "=30"}
	for i := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(40+i*35)*time.Millisecond)
		cmd := exec.CommandContext(ctx, cliBin, args...) // ends with SIGKILL
		cmd.Env = env
		_ = cmd.Run()
		cancel()
		if i == 4 {
			server.kill()
			server.start()
		}
	}
	code, out := h.cliTo(server.env(storeUser, storeSecret), args...)
	require.Zero(t, code, out)
	stored := server.versionsOf("evidence")
	require.Len(t, stored, len(h.sealedSegments()))
	for key, versions := range stored {
		require.Len(t, versions, 1, key)
	}
	code, out = h.cliTo(server.env(storeUser, storeSecret), "verify", archiveURL, "--keys", h.registry)
	require.Zero(t, code, out)
}

// TestACollectorArchivesWhatItSeals takes the server away under a running
// collector and gives it back.
func TestACollectorArchivesWhatItSeals(t *testing.T) {
	server := startVersity(t)
	server.bucket("evidence", true)
	server.bucket("checkpoints", true)
	h := newHouse(t, "examples/archive.yaml")
	h.variant("interval: 1m\n", "interval: 1s\n      timeout: 2s\n", "segment: {max_bytes: 67108864, max_age: 1h}", smallSegments, "recovery_duration: 5m", "recovery_duration: 1s",
		"    archive:\n", "    checkpoints: {interval: 1s, timeout: 1s, sinks: {s3: {elsewhere: {bucket: checkpoints, retain: 30d}}}}\n    archive:\n")
	h.extraEnv = append(server.env(storeUser, storeSecret), "READTRAIL_BUCKET=evidence")
	c := h.start()
	h.post(c, 0, 4)
	archived := func() bool {
		stored := 0
		for key := range server.versionsOf("evidence") {
			if strings.Contains(key, "/segments/") {
				stored++
			}
		}
		return stored == len(h.sealedSegments())
	}
	require.Eventually(t, archived, storeStart, 100*time.Millisecond)
	unhealthy := func() bool {
		status, _, err := c.Status(t.Context())
		return err == nil && status != http.StatusOK
	}
	require.Eventually(t, func() bool { return !unhealthy() }, storeStart, 100*time.Millisecond)

	server.kill()
	h.post(c, 4, 4) // no sender notices
	require.Eventually(t, unhealthy, storeStart, 100*time.Millisecond)
	metrics, err := c.MetricsText(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `otelcol_extension_audit_journal_archive_waiting{.*} [1-9]`, metrics)
	assert.Regexp(t, `otelcol_extension_audit_journal_archive_oldest_waiting{.*} [1-9]`, metrics)
	server.start()
	require.Eventually(t, archived, storeStart, 100*time.Millisecond)
	require.Eventually(t, func() bool { return !unhealthy() }, storeStart, 100*time.Millisecond)
	require.NoError(t, c.Stop())
	assert.Contains(t, c.Output(), "Journal is not archived; the journal itself goes on")
	h.requireVerified()
	code, out := h.cliTo(server.env(storeUser, storeSecret), "verify", "s3://evidence/readtrail", "--keys", h.registry)
	require.Zero(t, code, out)
	// Both buckets have the checkpoint of the end, and a disk that was set back is
	// found out by them.
	for _, bucket := range []string{"evidence", "checkpoints"} {
		name := fmt.Sprintf("/%020d.checkpoint", len(h.lines()))
		assert.Condition(t, func() bool {
			for key := range server.versionsOf(bucket) {
				if strings.HasSuffix(key, name) {
					return true
				}
			}
			return false
		}, "%s has no %s", bucket, name)
	}
	for _, store := range []string{archiveURL, "s3://checkpoints"} {
		code, out = h.cliTo(server.env(storeUser, storeSecret), "verify", h.journal, "--keys", h.registry, "--checkpoints", store)
		require.Zero(t, code, out)
		assert.Contains(t, out, "tail: valid")
	}
	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(segments[len(segments)-1]))
	_, err = rig.Start(t.Context(), h.rigConfig())
	require.ErrorContains(t, err, "contradicted by a checkpoint outside")
}
