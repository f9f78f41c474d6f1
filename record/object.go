// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json/jsontext"
	"slices"
	"strings"
)

// object is an object in RFC 8785 form, and where its members stand in it.
type object struct {
	raw     []byte
	members []place // sorted by name
}

// place is where the value of a member stands in an object.
type place struct {
	name       string
	begin, end int
}

// member is a member apart from its object.
type member struct {
	name string
	raw  []byte
}

func (o object) value(p place) []byte { return o.raw[p.begin:p.end:p.end] }

// get returns the value of a member.
func (o object) get(name string) (value []byte, found bool) {
	i, found := slices.BinarySearchFunc(o.members, name, func(p place, name string) int { return strings.Compare(p.name, name) })
	if !found {
		return nil, false
	}
	return o.value(o.members[i]), true
}

// split finds the members of a canonical object, whose bytes it keeps.
func split(raw []byte) (object, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw)) // which needs no copy
	if _, err := d.ReadToken(); err != nil {
		return object{}, err
	}
	o := object{raw: raw}
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return object{}, err
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return object{}, err
		}
		end := int(d.InputOffset())
		o.members = append(o.members, place{name, end - len(value), end})
	}
	return o, nil
}

// joined spells members, whose names need no escapes, as a canonical object.
func joined(members []member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.name) + len(m.raw) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for _, m := range members {
		out = appendMember(out, m.name, m.raw)
	}
	return append(out, '}')
}

func appendMember(dst []byte, name string, raw []byte) []byte {
	return append(appendName(dst, name), raw...)
}

// appendName begins another member of an object.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}
