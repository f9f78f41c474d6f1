// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// readAttempts is how often a stream that breaks is taken up again without
// having given a byte.
const readAttempts = 3

// read returns the bytes of a version as a stream. A connection that breaks is
// made anew where it broke; a version that ends before its size is an error.
// Nothing is buffered.
func (b *Bucket) read(ctx context.Context, v *version) io.ReadCloser {
	return &stream{ctx: ctx, bucket: b, version: v}
}

// stream reads one version.
type stream struct {
	ctx     context.Context
	bucket  *Bucket
	version *version
	body    io.ReadCloser
	offset  int64
	failed  int
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if s.offset == s.version.size {
			return 0, io.EOF
		}
		n, err := s.readOnce(p)
		s.offset += int64(n)
		if n > 0 {
			s.failed = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		if err := s.ctx.Err(); err != nil {
			return 0, err
		}
		if s.failed++; s.failed >= readAttempts {
			return 0, s.bucket.failed("read", s.version.key, err)
		}
	}
}

// readOnce reads from the open connection, or from a new one. One that failed or
// ended is closed.
func (s *stream) readOnce(p []byte) (int, error) {
	if s.body == nil {
		if err := s.connect(); err != nil {
			return 0, err
		}
	}
	rest := s.version.size - s.offset
	n, err := s.body.Read(p[:min(int64(len(p)), rest)])
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	s.body.Close()
	s.body = nil
	return n, err
}

func (s *stream) connect() error {
	in := &s3.GetObjectInput{Bucket: &s.bucket.name, Key: &s.version.key, VersionId: &s.version.id}
	if s.offset > 0 {
		from := fmt.Sprintf("bytes=%d-", s.offset)
		in.Range = &from
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.bucket.uploadTimeout)
	got, err := s.bucket.client.GetObject(ctx, in)
	if err != nil {
		cancel()
		return err
	}
	if s.offset > 0 && got.ContentRange == nil {
		cancel()
		return errors.Join(errors.New("the server does not read from an offset"), got.Body.Close())
	}
	s.body = &connection{got.Body, cancel}
	return nil
}

// connection ends its call with its body.
type connection struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (c *connection) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// Close implements io.Closer.
func (s *stream) Close() error {
	if s.body == nil {
		return nil
	}
	body := s.body
	s.body = nil
	return body.Close()
}
