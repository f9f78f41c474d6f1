// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// locked asks how a version is locked.
func (b *Bucket) locked(ctx context.Context, v *version) (*Locked, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	l := &Locked{Bucket: b.name, Key: v.key, VersionID: v.id, Size: v.size, Stored: v.stored, Later: v.later}
	retained, err := b.client.GetObjectRetention(ctx, &s3.GetObjectRetentionInput{Bucket: &b.name, Key: &v.key, VersionId: &v.id})
	switch {
	case hasNone(err):
	case err != nil:
		return nil, b.failed("ask for the retention of", v.key, err)
	case retained.Retention == nil:
	default:
		l.Mode, l.Until = modeOf(retained.Retention.Mode), aws.ToTime(retained.Retention.RetainUntilDate)
	}
	held, err := b.client.GetObjectLegalHold(ctx, &s3.GetObjectLegalHoldInput{Bucket: &b.name, Key: &v.key, VersionId: &v.id})
	switch {
	case hasNone(err):
	case err != nil:
		return nil, b.failed("ask for the legal hold of", v.key, err)
	case held.LegalHold != nil:
		l.LegalHold = held.LegalHold.Status == types.ObjectLockLegalHoldStatusOn
	}
	return l, nil
}

// hasNone reports whether an answer says that a version has no retention or no
// hold: AWS has one code for both, SeaweedFS one for each.
func hasNone(err error) bool {
	code := codeOf(err)
	return code == "NoSuchObjectLockConfiguration" || code == "NoSuchObjectLegalHold"
}

// modeOf takes the two modes that lock anything.
func modeOf(m types.ObjectLockRetentionMode) Mode {
	if m := Mode(m); m == Compliance || m == Governance {
		return m
	}
	return ""
}

// extend locks a version for longer or more strongly. S3 refuses what would weaken
// a lock, and we never ask to bypass that.
func (b *Bucket) extend(ctx context.Context, v *version, mode Mode, until time.Time) error {
	until = until.Add(time.Second - time.Nanosecond).Truncate(time.Second).UTC()
	if now := b.now(); until.Before(now) {
		return fmt.Errorf("%s should have been locked until %s, which is over", b.address(v), until.Format(time.RFC3339))
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	_, err := b.client.PutObjectRetention(ctx, &s3.PutObjectRetentionInput{
		Bucket: &b.name, Key: &v.key, VersionId: &v.id,
		Retention: &types.ObjectLockRetention{Mode: mode.retention(), RetainUntilDate: &until},
	})
	if err != nil {
		return b.failed("lock", v.key, err)
	}
	return nil
}

// hold sets the legal hold of a version.
func (b *Bucket) hold(ctx context.Context, v *version) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	_, err := b.client.PutObjectLegalHold(ctx, &s3.PutObjectLegalHoldInput{
		Bucket: &b.name, Key: &v.key, VersionId: &v.id,
		LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOn},
	})
	if err != nil {
		return b.failed("set the legal hold of", v.key, err)
	}
	return nil
}
