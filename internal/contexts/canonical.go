// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"unicode/utf8"

	"github.com/readtrail/readtrail/internal/content"
)

// Errors of values that have no canonical form. They name no value.
var (
	errNotJSON = errors.New("is not JSON that can be digested: a name stands twice in an object, a text is not UTF-8, or it nests too deep")
	errTooDeep = errors.New("nests deeper than 1000")
)

// canonical returns RFC 8785 of JSON. If a number would not survive that, its
// literal stays as it is and the form is json (contract 2).
func canonical(raw jsontext.Value) (jsontext.Value, content.Form, error) {
	form, err := formOf(raw)
	if err != nil {
		return nil, "", err
	}
	out := bytes.Clone(raw)
	v := jsontext.Value(out)
	exact := form == content.FormJCS
	if err := v.Canonicalize(jsontext.CanonicalizeRawInts(exact), jsontext.CanonicalizeRawFloats(exact)); err != nil {
		return nil, "", errNotJSON
	}
	return v, form, nil
}

// formOf looks at every number of a JSON value, and at its depth.
func formOf(raw jsontext.Value) (content.Form, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	form := content.FormJCS
	for read := false; !read || d.StackDepth() > 0; read = true {
		t, err := d.ReadToken()
		switch {
		case err != nil:
			return "", errNotJSON
		case d.StackDepth() > content.MaxJSONDepth:
			return "", errTooDeep
		case t.Kind() == jsontext.KindNumber && !content.NumberSurvives(t.String()):
			form = content.FormJSON
		}
	}
	return form, nil
}

// wider returns the form of what holds both.
func wider(a, b content.Form) content.Form {
	switch {
	case a == content.FormOTLPJSON || b == content.FormOTLPJSON:
		return content.FormOTLPJSON
	case a == content.FormJSON || b == content.FormJSON:
		return content.FormJSON
	default:
		return content.FormJCS
	}
}

// quoted spells a text as a JSON string.
func quoted(text []byte) (jsontext.Value, error) {
	if !utf8.Valid(text) {
		return nil, errNotJSON
	}
	return jsontext.AppendQuote(nil, text)
}
