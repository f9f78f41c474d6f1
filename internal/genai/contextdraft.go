// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"slices"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// ContextDraft makes the draft of the context that the item tells of. What an
// application says of a context is checked as what it says through the API is: by
// the rules and the schema, so that no verifier ever finds what it gave invalid.
// The shapes of what is lifted leave of the schema only what looks like a secret to
// be asked for, which is asked only of a body that may hold such a thing: it takes
// far longer than all the rest.
func (o *Observation) ContextDraft() (*record.Draft, error) {
	if err := o.Context.Check(); err != nil {
		return nil, err
	}
	d, err := record.NewBodyDraft(record.KindContext, record.SchemaVersion, o.Given, o.Context)
	if err != nil || !mayHoldSecret(d.Body()) {
		return d, err
	}
	if err := schema.ValidateDraft(d); err != nil {
		return nil, err
	}
	return d, nil
}

// secretMarks are in everything that the schemas take for a secret (noSecret).
var secretMarks = [][]byte{[]byte("earer "), []byte("uthorization:"), []byte("eyJ"), []byte("-----BEGIN"), []byte("assword="), []byte("://")}

func mayHoldSecret(body []byte) bool {
	return slices.ContainsFunc(secretMarks, func(mark []byte) bool { return bytes.Contains(body, mark) })
}
