// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"fmt"
	"io"

	"github.com/readtrail/readtrail/record"
)

// OfReader digests everything that r holds, as OfBytes does. What is larger
// than MaxJSONBytes is streamed.
func (k *Key) OfReader(r io.Reader) (Digest, error) {
	var head bytes.Buffer
	if _, err := io.CopyN(&head, r, MaxJSONBytes+1); err == io.EOF {
		return k.OfBytes(head.Bytes()), nil
	} else if err != nil {
		return Digest{}, fmt.Errorf("read content to digest: %w", err)
	}
	h := k.newHash()
	var tail tailWriter
	n, err := io.Copy(io.MultiWriter(h, &tail), io.MultiReader(&head, r))
	if err != nil {
		return Digest{}, fmt.Errorf("read content to digest: %w", err)
	}
	state := record.CapturedContent
	if endsTruncated(tail.last) {
		state = record.CapturedTruncated
	}
	return k.end(h, nil, FormBytes, n, state), nil
}

// tailWriter remembers the end of what is written to it, which is where a
// library says that it cut a value.
type tailWriter struct{ last []byte }

func (t *tailWriter) Write(p []byte) (int, error) {
	t.last = append(t.last, p[max(0, len(p)-maxTruncatedSuffix):]...)
	t.last = append(t.last[:0], t.last[max(0, len(t.last)-maxTruncatedSuffix):]...)
	return len(p), nil
}
