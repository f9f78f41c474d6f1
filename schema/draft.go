// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"time"

	"github.com/readtrail/readtrail/record"
)

// specimen is what a writer adds, as far as schemas look at it.
var specimen = record.Completion{
	EventID: "evt_specimen", JournalID: "jrn_specimen", Sequence: 2, RecordedAt: record.NewTime(time.Unix(0, 0)), CollectorID: "specimen",
	Scope: record.Scope{OrganizationRef: "specimen", Environment: "specimen", RetentionClass: "specimen"},
}

// ValidateDraft checks a draft against the schema of its body, as the body that it
// would become; what an entry has beside the body is its writer's. The location of
// an InvalidError is relative to the body. Like those of Validate, other errors wrap
// ErrUnsupported.
func ValidateDraft(d *record.Draft) error {
	c, found := schemas[key{d.Kind(), d.Version()}]
	if !found {
		return ErrUnsupported
	}
	return fits(c.body, completed(d))
}

// completed returns the body that a draft would become.
func completed(d *record.Draft) []byte {
	own := specimen
	if id := d.EventID(); id != "" {
		own.EventID = id
	}
	own.Parts = d.Parts()
	return d.Complete(own)
}
