// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
)

var errNoObject = errors.New("is no JSON object")

// eachMember calls f for each member of a JSON object, which ends where the text
// does. The value is good until f returns.
func eachMember(text []byte, f func(name string, raw jsontext.Value) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != jsontext.KindBeginObject {
		return errNoObject
	}
	if _, err := d.ReadToken(); err != nil {
		return errNoObject
	}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return errNotJSON
		}
		member := name.String()
		raw, err := d.ReadValue()
		if err != nil {
			return errNotJSON
		}
		if err := f(member, raw); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return errNotJSON
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return nil
}
