// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json/jsontext"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// value is a value of telemetry or a part of one. Libraries carry the same
// thing as a structured value, as JSON in a string, as JSON in JSON and as an
// array of JSON strings; a value looks the same to those who read its parts.
type value struct {
	data pcommon.Value
	// raw is the value if it is a part of a JSON text; then data is unused.
	raw jsontext.Value
	ok  bool
}

func valueOf(v pcommon.Value) value {
	return value{data: v, ok: v.Type() != pcommon.ValueTypeEmpty}
}

func valueOfText(raw jsontext.Value) value {
	return value{raw: raw, ok: len(raw) > 0 && raw.Kind() != jsontext.KindNull}
}

// digest digests the value as it was received.
func (v value) digest(cache *telemetry.Cache) content.Digest {
	if v.raw == nil {
		return cache.Attribute("", v.data)
	}
	if s, isString := v.str(); isString {
		return content.OfString(s)
	}
	return content.OfBytes(v.raw)
}

// str returns a string value.
func (v value) str() (string, bool) {
	if v.raw == nil {
		if !v.ok || v.data.Type() != pcommon.ValueTypeStr {
			return "", false
		}
		return v.data.Str(), true
	}
	if v.raw.Kind() != jsontext.KindString {
		return "", false
	}
	s, err := jsontext.AppendUnquote(nil, v.raw)
	return string(s), err == nil
}

// text returns a string or an integer, or "".
func (v value) text() string {
	if !v.ok {
		return ""
	}
	if v.raw == nil {
		return scalar(v.data)
	}
	if s, isString := v.str(); isString {
		return s
	}
	if v.raw.Kind() == jsontext.KindNumber && !bytes.ContainsAny(v.raw, ".eE") {
		return string(v.raw)
	}
	return ""
}

// maxUnwraps is how often JSON stands in a string of JSON before it is text.
const maxUnwraps = 3

// opened returns the value with JSON that stands in a string taken out of it.
func (v value) opened() value {
	for range maxUnwraps {
		s, isString := v.str()
		if !isString || len(s) > content.MaxJSONBytes {
			return v
		}
		s = strings.TrimSpace(s)
		if s == "" || !strings.ContainsRune(`{["`, rune(s[0])) {
			return v
		}
		raw := jsontext.Value(s)
		if !raw.IsValid() {
			return v
		}
		v = valueOfText(raw)
	}
	return v
}

// elements returns the elements of an array, at most limit+1 of them, so that
// the caller sees that there are more.
func (v value) elements(limit int) ([]value, bool) {
	v = v.opened()
	if v.raw == nil {
		return v.dataElements(limit)
	}
	if v.raw.Kind() != jsontext.KindBeginArray {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v.raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	var out []value
	for d.PeekKind() != jsontext.KindEndArray && len(out) <= limit {
		raw, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		out = append(out, valueOfText(bytes.Clone(raw)))
	}
	return out, true
}

func (v value) dataElements(limit int) ([]value, bool) {
	if !v.ok || v.data.Type() != pcommon.ValueTypeSlice {
		return nil, false
	}
	s := v.data.Slice()
	out := make([]value, 0, min(s.Len(), limit+1))
	for i := range cap(out) {
		out = append(out, valueOf(s.At(i)))
	}
	return out, true
}

// object returns the members of an object. Of a repeated name in a structured
// value the first counts; a JSON text with a repeated name is not opened.
func (v value) object() (map[string]value, bool) {
	v = v.opened()
	if v.raw == nil {
		return v.dataObject()
	}
	if v.raw.Kind() != jsontext.KindBeginObject {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v.raw))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	out := map[string]value{}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		raw, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		out[key] = valueOfText(bytes.Clone(raw))
	}
	return out, true
}

func (v value) dataObject() (map[string]value, bool) {
	if !v.ok || v.data.Type() != pcommon.ValueTypeMap {
		return nil, false
	}
	out := map[string]value{}
	for name, member := range v.data.Map().All() {
		if _, repeated := out[name]; !repeated {
			out[name] = valueOf(member)
		}
	}
	return out, true
}

// at follows names of members and returns the part that stands there.
func (v value) at(path []string) value {
	for _, name := range path {
		members, ok := v.object()
		if !ok {
			return value{}
		}
		v = members[name]
	}
	return v
}
