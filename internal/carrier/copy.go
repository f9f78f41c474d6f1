// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"context"
	"fmt"
	"io"
)

// Keeper is what processor and exporter know of an evidence store: Put returns
// when every copy is durable, or an error and the sender retries.
type Keeper interface {
	Put(ctx context.Context, organization, class string, copies []Copy) error
}

// A copy is content. Whatever prints a batch, a log or an error, it shows of a
// copy the digest only.

// Format prints the digest with every verb.
func (c Copy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Digest) }

// MarshalText makes encoders, such as that of JSON logs, write the digest.
func (c Copy) MarshalText() ([]byte, error) { return []byte(c.Digest), nil }
