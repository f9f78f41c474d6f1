// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"fmt"
	"io"
)

// A copy is content. Whatever prints a batch, a log or an error, it shows of a
// copy the digest only.

// Format prints the digest with every verb.
func (c Copy) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Digest) }

// MarshalText makes encoders, such as that of JSON logs, write the digest.
func (c Copy) MarshalText() ([]byte, error) { return []byte(c.Digest), nil }
