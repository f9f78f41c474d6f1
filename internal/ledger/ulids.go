// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// ulids makes ULIDs. Those of one millisecond increase.
type ulids struct {
	entropy *ulid.MonotonicEntropy
	last    ulid.ULID
}

func newULIDs() *ulids { return &ulids{entropy: newEntropy()} }

func newEntropy() *ulid.MonotonicEntropy { return ulid.Monotonic(rand.Reader, 0) }

// ulidTimeBytes of a ULID are its time, and the others are entropy.
const ulidTimeBytes = 6

// next returns a ULID of a time, spelled.
func (u *ulids) next(now time.Time) (text [ulid.EncodedSize]byte, err error) {
	ms := ulid.Timestamp(now)
	if err = u.last.SetTime(ms); err == nil {
		err = u.entropy.MonotonicRead(ms, u.last[ulidTimeBytes:])
	}
	if errors.Is(err, ulid.ErrMonotonicOverflow) {
		u.entropy = newEntropy()
		err = u.entropy.MonotonicRead(ms, u.last[ulidTimeBytes:])
	}
	if err == nil {
		err = u.last.MarshalTextTo(text[:])
	}
	if err != nil {
		return text, fmt.Errorf("make an id: %w", err)
	}
	return text, nil
}
