// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/readtrail/readtrail/internal/content"
)

func (p *protobuf) attributes(f field, member, droppedMember protowire.Number, into *Value, dropped *uint32) error {
	switch f.number {
	case member:
		p.enter("attributes")
		defer p.leave(1)
		return p.keyValue(f, 1, into)
	case droppedMember:
		var n uint64
		err := p.number(f, protowire.VarintType, &n)
		if dropped != nil {
			*dropped = uint32(min(n, math.MaxUint32))
		} else if n > 0 {
			*p.ignored++
		}
		return err
	default:
		return p.unknown(f)
	}
}

func (p *protobuf) keyValue(f field, depth int, into *Value) error {
	var m Member
	var named, valued bool
	err := p.inside(f, p.ignored, func(f field) error {
		switch f.number {
		case 1:
			if named {
				return p.failed(errTwice)
			}
			named = true
			m.Name = string(f.bytes)
			return p.isText(f)
		case 2:
			if valued {
				return p.failed(errTwice)
			}
			valued = true
			return p.value(f, depth, &m.Value)
		default:
			return p.unknown(f)
		}
	})
	if err == nil && !valued {
		err = p.countValue(depth)
	}
	into.children = append(into.children, m)
	return err
}

// value reads an AnyValue.
func (p *protobuf) value(f field, depth int, v *Value) error {
	if err := p.countValue(depth); err != nil {
		return err
	}
	return p.inside(f, p.ignored, func(f field) error {
		if f.number < 1 || f.number > 7 {
			return p.unknown(f)
		}
		if v.kind != content.KindEmpty {
			return p.failed(errKinds)
		}
		switch f.number {
		case 1:
			v.kind, v.text = content.KindString, string(f.bytes)
			return p.isText(f)
		case 2:
			v.kind = content.KindBool
			err := p.number(f, protowire.VarintType, &v.bits)
			v.bits = min(v.bits, 1)
			return err
		case 3:
			v.kind = content.KindInt
			return p.number(f, protowire.VarintType, &v.bits)
		case 4:
			v.kind = content.KindDouble
			return p.number(f, protowire.Fixed64Type, &v.bits)
		case 5:
			v.kind = content.KindArray
			return p.inside(f, p.ignored, func(f field) error {
				if f.number != 1 {
					return p.unknown(f)
				}
				v.children = append(v.children, Member{})
				return p.value(f, depth+1, &v.children[len(v.children)-1].Value)
			})
		case 6:
			v.kind = content.KindMap
			return p.inside(f, p.ignored, func(f field) error {
				if f.number != 1 {
					return p.unknown(f)
				}
				return p.keyValue(f, depth+1, v)
			})
		default:
			v.kind, v.text = content.KindBytes, string(f.bytes)
			if f.kind != protowire.BytesType {
				return p.failed(errType)
			}
			return nil
		}
	})
}

func (p *protobuf) number(f field, kind protowire.Type, into *uint64) error {
	if f.kind != kind {
		return p.failed(errType)
	}
	*into = f.bits
	return nil
}

func (p *protobuf) isText(f field) error {
	switch {
	case f.kind != protowire.BytesType:
		return p.failed(errType)
	case !utf8.Valid(f.bytes):
		return p.failed(errText)
	}
	return nil
}

// id reads an id, which may be empty.
func (p *protobuf) id(f field, into []byte) error {
	if f.kind != protowire.BytesType || len(f.bytes) != 0 && len(f.bytes) != len(into) {
		return p.failed(errID)
	}
	copy(into, f.bytes)
	return nil
}
