// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"strconv"
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

// null is JSON's null where it says something, as a value that is chosen.
var null = value{raw: jsontext.Value("null"), ok: true}

// digest digests the value as it was received.
func (v value) digest(cache *telemetry.Cache) content.Digest {
	if v.raw == nil {
		return cache.Digest(v.data)
	}
	if s, isString := v.str(); isString {
		return cache.Key().OfString(s)
	}
	return cache.Key().OfBytes(v.raw)
}

// preimage returns a copy of the bytes that the value's digest covers, if that
// has the form.
func (v value) preimage(form content.Form) []byte {
	if v.raw == nil {
		return content.PreimageOfNode(telemetry.Node(v.data), form)
	}
	if s, isString := v.str(); isString {
		return content.PreimageOfString(s, form)
	}
	return content.PreimageOfBytes(v.raw, form)
}

// cutOff reports whether the value is JSON that ends too early.
func (v value) cutOff() bool {
	s, isString := v.str()
	if !isString || len(s) > content.MaxJSONBytes {
		return false
	}
	s = strings.TrimSpace(s)
	return s != "" && strings.ContainsRune("{[", rune(s[0])) && errors.Is(checkTolerantly([]byte(s)), errCutOff)
}

// same reports whether two values are one, or the same text.
func (v value) same(as value) bool {
	if s, isString := v.str(); isString {
		other, isString := as.str()
		return isString && s == other
	}
	return v.raw == nil && as.raw == nil && v.data == as.data
}

// isTrue reports whether the value is the bool true.
func (v value) isTrue() bool {
	if v.raw != nil {
		return v.raw.Kind() == jsontext.KindTrue
	}
	return v.ok && v.data.Type() == pcommon.ValueTypeBool && v.data.Bool()
}

// bool returns what a bool says, or nil.
func (v value) bool() *bool {
	says := v.isTrue()
	if !says && !(v.raw != nil && v.raw.Kind() == jsontext.KindFalse || v.raw == nil && v.ok && v.data.Type() == pcommon.ValueTypeBool) {
		return nil
	}
	return &says
}

// str returns a string value. A string in JSON that has no exact spelling in
// UTF-8 is none, so that two of them never become one.
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

// isText reports whether the value is a string or an integer that is not empty.
func (v value) isText() bool { return v.text() != "" }

// maxUnwraps is how often JSON stands in a string of JSON before it is text.
const maxUnwraps = 3

// mayBeJSON reports whether a text begins as an object, an array or a string in
// JSON does.
func mayBeJSON(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && strings.IndexByte(`{["`, s[0]) >= 0
}

// opened returns the value with JSON that stands in a string taken out of it.
func (v value) opened() value {
	for range maxUnwraps {
		s, isString := v.str()
		if !isString || len(s) > content.MaxJSONBytes {
			return v
		}
		if !mayBeJSON(s) {
			return v
		}
		s = strings.TrimSpace(s)
		raw := jsontext.Value(s)
		if checkTolerantly(raw) != nil {
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
	var out []value
	err := partsOf(v.raw, func(_, part jsontext.Value) bool {
		out = append(out, valueOfText(part))
		return len(out) <= limit
	})
	return out, err == nil
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

// object returns the members of an object. Of a repeated name the first
// counts.
func (v value) object() (map[string]value, bool) {
	v = v.opened()
	if v.raw == nil {
		return v.dataObject()
	}
	if v.raw.Kind() != jsontext.KindBeginObject {
		return nil, false
	}
	out := map[string]value{}
	err := partsOf(v.raw, func(name, part jsontext.Value) bool {
		key, _ := jsontext.AppendUnquote(nil, name)
		if _, repeated := out[string(key)]; !repeated {
			out[string(key)] = valueOfText(part)
		}
		return true
	})
	return out, err == nil
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

// at follows names of members, and indices of elements of arrays, and returns
// the part that stands there.
func (v value) at(path []string) value {
	for _, name := range path {
		if members, ok := v.object(); ok {
			v = members[name]
			continue
		}
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= maxGathered {
			return value{}
		}
		elements, _ := v.elements(i)
		if i >= len(elements) {
			return value{}
		}
		v = elements[i]
	}
	return v
}
