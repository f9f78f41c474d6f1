// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"crypto/sha256"
	"io"
)

// memory is a body in memory.
type memory struct{ *bytes.Reader }

// Close implements io.Closer.
func (memory) Close() error { return nil }

// uploadOf is the upload of bytes in memory, which hold no entries.
func uploadOf(key string, data []byte) upload {
	return upload{
		key: key, size: int64(len(data)), digest: sha256.Sum256(data),
		open: func() (io.ReadSeekCloser, error) { return memory{bytes.NewReader(data)}, nil },
	}
}
