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

func TestAnIndexADocumentAndAMemoryHaveVersionsOfTheirOwn(t *testing.T) {
	written := NewTime(time.Unix(1, 0))
	for name, c := range map[string]struct {
		read        Read
		uncheckable bool
	}{
		"a build of an index":       {Read{Retrieval: &Retrieval{BuildVersion: "7"}}, false},
		"an index":                  {Read{Retrieval: &Retrieval{IndexID: "policies"}}, true},
		"versions of documents":     {Read{Documents: []Document{{DocumentID: "a", ObjectVersionID: "1"}, {DocumentID: "b", ObjectVersionID: "2"}}}, false},
		"a document without":        {Read{Documents: []Document{{DocumentID: "a", ObjectVersionID: "1"}, {DocumentID: "b", ChecksumSHA256: "2"}}}, true},
		"dated entries of a memory": {Read{Memory: &Memory{Entries: []MemoryEntry{{ID: "a", WrittenAt: written}}}}, false},
		"an entry without a date":   {Read{Memory: &Memory{Entries: []MemoryEntry{{ID: "a", WrittenAt: written}, {ID: "b"}}}}, true},
		"a memory without entries":  {Read{Memory: &Memory{}}, true},
	} {
		c.read.Retention.ContentStored = DigestOnly
		assert.True(t, c.read.Uncheckable(), name)
		c.read.Retention.ContentLocation = "archive"
		assert.Equal(t, c.uncheckable, c.read.Uncheckable(), name)
	}
}
