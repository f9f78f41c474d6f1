// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseDigest(f *testing.F) {
	f.Add(Plain.Sum("a"))
	f.Add("hmac-sha256:k-1:" + strings.Repeat("0f", 32))
	f.Add("hmac-sha256::")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDigest(s); err == nil {
			require.Equal(t, s, d.String())
		}
	})
}
