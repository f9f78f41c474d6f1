// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
)

// text is a string of JSON that says something. Absent is absent (contract 1):
// null and "" in place of one are mistakes, and reading them as absent could
// hide what was meant to stand there.
type text string

var errNoText = errors.New("must be a string that is not empty")

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != jsontext.KindString || token.String() == "" {
		return errNoText
	}
	*t = text(token.String())
	return nil
}

// readHeld reads an object of the header into one of package record, whose
// members are all optional there: it may have no other ones, and none that is
// null or empty.
func readHeld(object jsontext.Value, into any) error {
	if err := json.Unmarshal(object, into, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	var o outline
	if !o.read(object) || object[0] != '{' {
		return errNoText
	}
	for i := range o.members {
		m := &o.members[i]
		if value := string(o.text(m)); m.level == 1 && (value == "null" || value == `""`) {
			return errNoText
		}
	}
	return nil
}
