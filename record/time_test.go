// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzParseTime holds that what is taken is what the library takes and writes
// again in the same way.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		"2026-10-09T08:12:03.418000000Z", "2024-02-29T23:59:59.999999999Z", "2023-02-29T00:00:00.000000000Z", "0000-01-01T00:00:00.000000000Z", "0001-01-01T00:00:00.000000000Z",
		"9999-12-31T23:59:59.999999999Z", "2026-13-01T00:00:00.000000000Z", "2026-00-01T00:00:00.000000000Z", "2026-01-00T00:00:00.000000000Z", "2026-04-31T00:00:00.000000000Z",
		"2026-10-09T24:00:00.000000000Z", "2026-10-09T08:60:03.418000000Z", "2026-10-09T08:12:60.418000000Z", "2026-10-09T08:12:03,418000000Z", "2026-10-09T08:12:03.41800000 Z",
		"2026-10-09t08:12:03.418000000Z", "2026-10-09T08:12:03.418000000z", "+026-10-09T08:12:03.418000000Z", "2026-10-09T08:12:03.418Z", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		std, err := time.Parse(timeLayout, s)
		want := err == nil && NewTime(std).String() == s
		got, err := ParseTime(s)
		require.Equal(t, want, err == nil, "%q", s)
		if want {
			require.True(t, got.Std().Equal(std))
		}
	})
}
