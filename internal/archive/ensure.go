// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// upload is an object that the archive should hold.
type upload struct {
	key    string
	size   int64
	digest [sha256.Size]byte
	// recorded is the time of the last entry in it, zero for what has none.
	recorded time.Time
	open     func() (io.ReadSeekCloser, error)
}

// ensure makes sure that the archive holds an object, locked as demanded, and
// returns what the server says about it. Known is its oldest version as a listing
// gave it, nil if it had none. Whatever interrupts it, running it again is right:
// an upload that nobody saw the answer to is found by looking.
func (b *Bucket) ensure(ctx context.Context, u upload, r retention, known *version) (*Locked, error) {
	if known == nil {
		putErr := b.put(ctx, u, r)
		if err := ctx.Err(); err != nil {
			return nil, b.failed("store", u.key, err)
		}
		var err error
		if known, err = b.oldest(ctx, u.key); err != nil {
			return nil, errors.Join(putErr, err)
		}
		switch {
		case known != nil: // whatever became of our call: the oldest version counts
		case putErr != nil:
			return nil, putErr
		default:
			return nil, fmt.Errorf("store %s: the server took the object and does not list it", b.url(u.key))
		}
	}
	if err := b.compare(ctx, u, known); err != nil {
		return nil, err
	}
	return b.lock(ctx, u, r, known)
}

// put creates an object, with its lock, if no object has the key. The checksum
// has the server refuse bytes that are not those that were digested.
func (b *Bucket) put(ctx context.Context, u upload, r retention) error {
	body, err := u.open()
	if err != nil {
		return err
	}
	defer body.Close()
	ctx, cancel := context.WithTimeout(ctx, b.uploadTimeout)
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: &u.key, Body: body, ContentLength: &u.size,
		ContentType:               aws.String("application/octet-stream"),
		IfNoneMatch:               aws.String("*"),
		ChecksumSHA256:            aws.String(base64.StdEncoding.EncodeToString(u.digest[:])),
		ObjectLockMode:            r.mode.object(),
		ObjectLockRetainUntilDate: aws.Time(r.until(u.recorded, b.now())),
	}
	if r.hold {
		in.ObjectLockLegalHoldStatus = types.ObjectLockLegalHoldStatusOn
	}
	if _, err := b.client.PutObject(ctx, in); err != nil {
		return b.failed("store", u.key, err)
	}
	return nil
}

// compare demands that a version has the bytes of an upload.
func (b *Bucket) compare(ctx context.Context, u upload, v *version) error {
	digest, size, err := b.digest(ctx, v)
	if err != nil {
		return err
	}
	if size != u.size || digest != u.digest {
		return fmt.Errorf("%s: %w", b.address(v), ErrConflict)
	}
	return nil
}

// digest returns the SHA-256 and the size of a version: those that the server
// keeps, which it checked when it took the object, or if it keeps none, of the
// bytes that it gives.
func (b *Bucket) digest(ctx context.Context, v *version) (digest [sha256.Size]byte, size int64, err error) {
	call, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	head, err := b.client.HeadObject(call, &s3.HeadObjectInput{
		Bucket: &b.name, Key: &v.key, VersionId: &v.id, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return digest, 0, b.failed("look at", v.key, err)
	}
	sum, err := base64.StdEncoding.Strict().DecodeString(aws.ToString(head.ChecksumSHA256))
	if err != nil || len(sum) != sha256.Size || head.ChecksumType == types.ChecksumTypeComposite {
		return b.readDigest(ctx, v)
	}
	return [sha256.Size]byte(sum), aws.ToInt64(head.ContentLength), nil
}

// readDigest reads all bytes of a version.
func (b *Bucket) readDigest(ctx context.Context, v *version) (digest [sha256.Size]byte, size int64, err error) {
	r := b.read(ctx, v)
	defer r.Close()
	h := sha256.New()
	if size, err = io.Copy(h, r); err != nil {
		return digest, 0, err
	}
	return [sha256.Size]byte(h.Sum(nil)), size, nil
}

// lock demands that a version is locked as a retention says, extends the lock if
// it is not, and believes only what the server says afterwards.
func (b *Bucket) lock(ctx context.Context, u upload, r retention, v *version) (*Locked, error) {
	got, err := b.inspectLock(ctx, u, r, v)
	if !errors.Is(err, ErrNotLocked) {
		return got, err
	}
	until := r.demanded(u.recorded, v.stored)
	var extended error
	if !r.takes(got.Mode) || got.Until.Before(until) {
		extended = b.extend(ctx, v, r.mode, until)
	}
	if r.hold && !got.LegalHold {
		extended = errors.Join(extended, b.hold(ctx, v))
	}
	got, err = b.inspectLock(ctx, u, r, v)
	if errors.Is(err, ErrNotLocked) && extended != nil {
		err = fmt.Errorf("%w; %w", err, extended)
	}
	return got, err
}

// inspect says of a version whether it is the upload, locked as demanded.
func (b *Bucket) inspect(ctx context.Context, u upload, r retention, v *version) (*Locked, error) {
	if err := b.compare(ctx, u, v); err != nil {
		return nil, err
	}
	return b.inspectLock(ctx, u, r, v)
}

// inspectLock returns how a version is locked, also with an ErrNotLocked.
func (b *Bucket) inspectLock(ctx context.Context, u upload, r retention, v *version) (*Locked, error) {
	got, err := b.locked(ctx, v)
	if err != nil {
		return nil, err
	}
	got.Digest = u.digest
	return got, got.satisfies(r, r.demanded(u.recorded, v.stored))
}

// satisfies says what a lock lacks.
func (l *Locked) satisfies(r retention, until time.Time) error {
	switch {
	case l.Mode == "":
		return fmt.Errorf("%s: %w: it has no retention", l, ErrNotLocked)
	case !r.takes(l.Mode):
		return fmt.Errorf("%s: %w: its mode is %s, not %s", l, ErrNotLocked, l.Mode, r.mode)
	case l.Until.Before(until):
		return fmt.Errorf("%s: %w: until %s, not %s", l, ErrNotLocked, l.Until.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	case r.hold && !l.LegalHold:
		return fmt.Errorf("%s: %w: it has no legal hold", l, ErrNotLocked)
	}
	return nil
}

func (b *Bucket) address(v *version) string {
	l := Locked{Bucket: b.name, Key: v.key, VersionID: v.id}
	return l.String()
}
