// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// bounded keeps the beginning of an output and reads the rest, so that the command is
// not stopped by it.
type bounded struct {
	mu   sync.Mutex
	max  int
	buf  bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := min(len(p), b.max-b.buf.Len())
	b.buf.Write(p[:kept])
	b.over = b.over || kept < len(p)
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// countedInput counts what of a command's input was taken to be sent.
type countedInput struct {
	r io.Reader
	n atomic.Int64
}

func (c *countedInput) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
