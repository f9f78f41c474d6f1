// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/jsontext"
	"errors"
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

// specimen is what a writer adds, as far as schemas look at it.
var specimen = record.Completion{
	EventID: "evt_specimen", JournalID: "jrn_specimen", Sequence: 2, RecordedAt: record.NewTime(time.Unix(0, 0)), CollectorID: "specimen",
	Scope: record.Scope{OrganizationRef: "specimen", Environment: "specimen", RetentionClass: "specimen"},
}

// integrity is one that every schema takes.
var integrity = `{"canonicalization":"RFC8785","hash_algorithm":"SHA-256",` +
	`"previous_event_hash":"sha256:` + strings.Repeat("0", 64) + `","record_hash":"sha256:` + strings.Repeat("0", 64) + `",` +
	`"signature":{"algorithm":"Ed25519","key_id":"` + strings.Repeat("A", 43) + `","public_key":"` + strings.Repeat("A", 43) + `=",` +
	`"value":"` + strings.Repeat("A", 86) + `=="},` +
	`"verification":{"failure_codes":[],"status":"not_performed","verifier_version":"specimen"}}`

// ValidateDraft checks a draft against the schema of its body as the entry that it
// would become. The location of an InvalidError is relative to the body. Like those
// of Validate, other errors wrap ErrUnsupported.
func ValidateDraft(d *record.Draft) error {
	text, err := completed(d)
	if err != nil {
		return err
	}
	err = Validate(d.Kind(), d.Version(), text)
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		invalid.Location = strings.TrimPrefix(invalid.Location, "/"+string(d.Kind()))
	}
	return err
}

// completed returns the entry that a draft would become.
func completed(d *record.Draft) ([]byte, error) {
	own := specimen
	if id := d.EventID(); id != "" {
		own.EventID = id
	}
	own.Parts = d.Parts()
	text := append(make([]byte, 0, d.Size()+len(integrity)+1<<10), `{"`...)
	text = append(append(text, d.Kind()...), `":`...)
	text = d.AppendComplete(text, &own)
	text = append(append(text, `,"integrity":`...), integrity...)
	version, err := jsontext.AppendQuote(append(text, `,"schema_version":`...), d.Version())
	if err != nil {
		return nil, ErrUnsupported
	}
	return append(version, '}'), nil
}
