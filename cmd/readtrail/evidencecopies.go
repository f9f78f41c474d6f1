// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/v2"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// namedCopy is a digest in a record of which a copy is kept.
type namedCopy struct {
	// member is its place in the record.
	member string
	digest string
}

// namedCopies returns the digests of which a read record says that copies are
// kept: with evidence_copy those of all content, with fields those of the fields.
// A choice that this version does not know is an error, and so is a record that
// says that content was kept and names none.
func namedCopies(e *journal.Entry) ([]namedCopy, error) {
	var read record.Read
	if err := json.Unmarshal(e.Body, &read); err != nil {
		return nil, fmt.Errorf("not readable as %s", e.Kind)
	}
	var named []namedCopy
	switch stored := read.Retention.ContentStored; stored {
	case record.DigestOnly:
		return nil, nil
	case record.EvidenceCopy:
		named = contentOf(&read)
	case record.Fields:
		named = fieldsOf(&read)
	default:
		return nil, fmt.Errorf("content_stored is %q, which this version does not know", stored)
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("content_stored is %q, and no digest says of what", read.Retention.ContentStored)
	}
	return named, nil
}

func contentOf(read *record.Read) (named []namedCopy) {
	add := func(digest, format string, args ...any) {
		if digest != "" {
			named = append(named, namedCopy{fmt.Sprintf(format, args...), digest})
		}
	}
	add(read.Request.ArgumentsDigest, "request.arguments_digest")
	add(read.Response.ResultDigest, "response.result_digest")
	if r := read.Retrieval; r != nil {
		add(r.QueryDigest, "retrieval.query_digest")
		for i := range r.Chunks {
			add(r.Chunks[i].ContentDigest, "retrieval.chunks[%d].content_digest", i)
		}
	}
	if m := read.Memory; m != nil {
		for i := range m.Entries {
			add(m.Entries[i].ContentDigest, "memory.entries[%d].content_digest", i)
		}
	}
	return named
}

func fieldsOf(read *record.Read) (named []namedCopy) {
	for i, f := range read.Retention.Fields {
		named = append(named, namedCopy{fmt.Sprintf("retention.fields[%d] %s", i, f.Path), f.Digest})
	}
	return named
}
