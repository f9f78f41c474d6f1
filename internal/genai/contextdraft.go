// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

// ContextDraft makes the draft of the context that the item tells of. What an
// application says of a context is checked as what it says through the API is: by
// the rules and for what looks like a secret. The shapes of what is lifted leave
// nothing of the schema to be asked for, which would take far longer than all the rest.
func (o *Observation) ContextDraft() (*record.Draft, error) {
	if err := o.Context.Check(); err != nil {
		return nil, err
	}
	d, err := record.NewBodyDraft(record.KindContext, record.SchemaVersion, o.Given, o.Context)
	if err != nil {
		return nil, err
	}
	if _, found := record.SecretIn(d.Body()); found {
		return nil, record.ErrSecret
	}
	return d, nil
}
