// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/readtrail/readtrail/record"
)

// specimen is what a writer adds, as far as schemas look at it.
var specimen = record.Completion{
	EventID: "evt_specimen", JournalID: "jrn_specimen", Sequence: 2, RecordedAt: record.NewTime(time.Unix(0, 0)), CollectorID: "specimen",
	Scope: record.Scope{OrganizationRef: "specimen", Environment: "specimen", RetentionClass: "specimen"},
}

// A Completed is the body that a draft would become.
type Completed struct {
	schema  *jsonschema.Schema
	members any
}

// Complete completes a draft as a writer would. Errors wrap ErrUnsupported, apart from
// an InvalidError for what is no JSON.
func Complete(d *record.Draft) (*Completed, error) {
	c, found := schemas[key{d.Kind(), d.Version()}]
	if !found {
		return nil, ErrUnsupported
	}
	s, err := c.body()
	if err != nil {
		return nil, err
	}
	members, err := read(completed(d))
	if err != nil {
		return nil, err
	}
	return &Completed{s, members}, nil
}

// Members are those of the body as encoding/json decodes them. They must not be changed.
func (c *Completed) Members() any { return c.members }

// Validate checks the body against its schema; what an entry has beside the body is its
// writer's. The location of an InvalidError is relative to the body. Like those of the
// function Validate, other errors wrap ErrUnsupported.
func (c *Completed) Validate() error { return judge(c.schema, c.members) }

// ValidateDraft checks a draft against the schema of its body, as the body that it
// would become. Errors are those of Complete and of the method Validate.
func ValidateDraft(d *record.Draft) error {
	c, err := Complete(d)
	if err != nil {
		return err
	}
	return c.Validate()
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
