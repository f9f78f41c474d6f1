// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAReadOfDigestsIsCheckableIfItsContentCanBeFoundAgain(t *testing.T) {
	asOf := NewTime(time.Unix(1, 0))
	for _, c := range []struct {
		stored      ContentStored
		version     string
		asOf        Time
		location    string
		uncheckable bool
	}{
		{DigestOnly, "v41", Time{}, "crm-eu history", false},
		{DigestOnly, "", asOf, "crm-eu history", false},
		{DigestOnly, "v41", asOf, "", true},
		{DigestOnly, "", Time{}, "crm-eu history", true},
		{DigestOnly, "", Time{}, "", true},
		{Fields, "", Time{}, "", false},
		{EvidenceCopy, "", Time{}, "", false},
	} {
		r := Read{
			Response:  Response{SourceRecordVersion: c.version, AsOf: c.asOf},
			Retention: Retention{ContentStored: c.stored, ContentLocation: c.location},
		}
		assert.Equal(t, c.uncheckable, r.Uncheckable(), c)
	}
}
