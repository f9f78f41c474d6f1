// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Check makes sure that the bucket can lock objects and that both clocks agree
// about the dates that objects get.
func (b *Bucket) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	got, err := b.client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: &b.name})
	switch {
	case codeOf(err) == "ObjectLockConfigurationNotFoundError", codeOf(err) == "InvalidBucketState", codeOf(err) == "InvalidRequest":
		return fmt.Errorf("%s: %w", b, ErrNoObjectLock)
	case err != nil:
		return b.failed("ask for the Object Lock of", b.prefix, err)
	case got.ObjectLockConfiguration == nil || got.ObjectLockConfiguration.ObjectLockEnabled != types.ObjectLockEnabledEnabled:
		return fmt.Errorf("%s: %w", b, ErrNoObjectLock)
	}
	if server, ok := awsmiddleware.GetServerTime(got.ResultMetadata); ok {
		return b.compareClocks(server)
	}
	return nil
}

func (b *Bucket) compareClocks(server time.Time) error {
	if skew := b.now().Sub(server).Round(time.Second); skew.Abs() > maxSkew {
		return fmt.Errorf("%s: %w by %v, more than %v: objects would be locked until a wrong date; set the clock", b, ErrClock, skew, maxSkew)
	}
	return nil
}

// version is the oldest version of an object: the one that counts.
type version struct {
	key, id string
	// size is in bytes.
	size int64
	// stored is when, by the server's clock.
	stored time.Time
	// later counts the versions and delete markers that came after it. An archive
	// makes none.
	later int
}

// maxObjects bounds what one listing may hold in memory; a thousand times a
// thousand segments are 64 TiB.
const maxObjects = 1_000_000

// versions lists the oldest version of every key with a prefix, by key.
func (b *Bucket) versions(ctx context.Context, prefix string) (map[string]*version, error) {
	found := map[string]*version{}
	markers := map[string]int{}
	pages := s3.NewListObjectVersionsPaginator(b.client, &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := b.nextPage(ctx, pages)
		if err != nil {
			return nil, b.failed("list", prefix, err)
		}
		for i := range page.Versions {
			addVersion(found, &page.Versions[i])
		}
		for _, m := range page.DeleteMarkers {
			markers[aws.ToString(m.Key)]++
		}
		if len(found)+len(markers) > maxObjects {
			return nil, fmt.Errorf("list %s: more than %d objects; name a prefix further below", b.url(prefix), maxObjects)
		}
	}
	for key, n := range markers {
		if v := found[key]; v != nil {
			v.later += n
		}
	}
	return found, nil
}

func (b *Bucket) nextPage(ctx context.Context, pages *s3.ListObjectVersionsPaginator) (*s3.ListObjectVersionsOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return pages.NextPage(ctx)
}

// addVersion keeps the oldest version. A listing has the newest first (S3 API);
// that is taken where the times, which have seconds, do not decide.
func addVersion(found map[string]*version, listed *types.ObjectVersion) {
	v := &version{
		key: aws.ToString(listed.Key), id: aws.ToString(listed.VersionId),
		size: aws.ToInt64(listed.Size), stored: aws.ToTime(listed.LastModified),
	}
	known := found[v.key]
	switch {
	case known == nil:
		found[v.key] = v
	case v.stored.After(known.stored):
		known.later++
	default:
		v.later = known.later + 1
		found[v.key] = v
	}
}

// oldest returns the oldest version of one key, nil if there is none.
func (b *Bucket) oldest(ctx context.Context, key string) (*version, error) {
	found, err := b.versions(ctx, key)
	return found[key], err
}

// keysBehind returns the next keys with a prefix behind a marker, one page of them,
// and whether there are more.
func (b *Bucket) keysBehind(ctx context.Context, prefix, marker string) (keys []string, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	page, err := b.client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &b.name, Prefix: &prefix, KeyMarker: &marker})
	if err != nil {
		return nil, false, b.failed("list", prefix, err)
	}
	for i := range page.Versions {
		keys = append(keys, aws.ToString(page.Versions[i].Key))
	}
	return keys, aws.ToBool(page.IsTruncated), nil
}
