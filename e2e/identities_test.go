// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// TestTheIdentitiesOfTheDocumentCanDoTheirPartAndNoMore puts the bucket policy of
// docs/archive.md on a real server (requirement F3).
func TestTheIdentitiesOfTheDocumentCanDoTheirPartAndNoMore(t *testing.T) {
	server := startVersity(t)
	server.bucket("evidence", true)
	for _, user := range []string{"writer", "auditor"} {
		out, err := exec.Command(server.argv[0], "admin", "--access", storeUser, "--secret", storeSecret, "--endpoint-url", server.endpoint,
			"create-user", "--access", user, "--secret", user+"-secret", "--role", "user").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	block := jsonBlock.FindStringSubmatch(readFile(t, filepath.Join(root, "docs", "archive.md")))
	require.NotNil(t, block)
	policy := strings.NewReplacer(
		"arn:aws:iam::111122223333:role/readtrail-writer", "writer", "arn:aws:iam::111122223333:role/readtrail-auditor", "auditor",
		"evidence-eu", "evidence",
	).Replace(block[1])
	_, err := server.client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String("evidence"), Policy: &policy})
	require.NoError(t, err)

	h := archivedHouse(t, 3)
	keep := "--keep=" + h.retentionClass() + "=30"
	writer, auditor := server.env("writer", "writer-secret"), server.env("auditor", "auditor-secret")
	code, out := h.cliTo(auditor, "archive", "push", h.journal, archiveURL, keep)
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "AccessDenied (HTTP 403); see the bucket policies in docs/archive.md")
	code, out = h.cliTo(writer, "archive", "push", h.journal, archiveURL, keep, "--legal-hold")
	require.Zero(t, code, out)
	code, out = h.cliTo(auditor, "archive", "status", h.journal, archiveURL, keep, "--legal-hold")
	require.Zero(t, code, out)
	code, out = h.cliTo(auditor, "verify", archiveURL, "--keys", h.registry)
	require.Zero(t, code, out)
	code, out = h.cliTo(auditor, "archive", "restore", archiveURL, filepath.Join(h.base, "restored"))
	require.Zero(t, code, out)

	ctx, bucket := t.Context(), aws.String("evidence")
	for key, versions := range server.versionsOf("evidence") {
		for _, user := range []string{"writer", "auditor"} {
			client := server.as(user, user+"-secret")
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key})
			assert.Equal(t, "AccessDenied", codeOf(err), "%s sets a delete marker: %v", user, err)
			_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key, VersionId: versions[0].VersionId})
			assert.Equal(t, "AccessDenied", codeOf(err), "%s deletes: %v", user, err)
			_, err = client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &policy})
			assert.Equal(t, "AccessDenied", codeOf(err), "%s sets a policy: %v", user, err)
		}
		_, err := server.as("auditor", "auditor-secret").PutObjectRetention(ctx, &s3.PutObjectRetentionInput{
			Bucket: bucket, Key: &key, VersionId: versions[0].VersionId,
			Retention: &types.ObjectLockRetention{Mode: types.ObjectLockRetentionModeCompliance, RetainUntilDate: versions[0].LastModified},
		})
		assert.Equal(t, "AccessDenied", codeOf(err), "the auditor changes a lock: %v", err)
	}
}
