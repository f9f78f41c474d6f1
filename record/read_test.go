// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADigestIsCheckableOnlyWithAVersionAndALocation(t *testing.T) {
	asOf := TimeFromUnixNano(1791533523418000000)
	for _, c := range []struct {
		version  string
		asOf     Time
		location string
		stored   ContentStored
		want     bool
	}{
		{"", Time{}, "", DigestOnly, true},
		{"v41", Time{}, "", DigestOnly, true},
		{"", asOf, "", DigestOnly, true},
		{"", Time{}, "crm", DigestOnly, true},
		{"v41", Time{}, "crm", DigestOnly, false},
		{"", asOf, "crm", DigestOnly, false},
		{"", Time{}, "", "evidence_copy", false},
	} {
		r := exampleRead()
		r.Response.SourceRecordVersion, r.Response.AsOf = c.version, c.asOf
		r.Retention.ContentLocation, r.Retention.ContentStored = c.location, c.stored
		require.Equal(t, c.want, r.Uncheckable(), c)
	}
}
