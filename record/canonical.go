// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MaxInteger is the largest magnitude of a number in an entry (contract 2).
const MaxInteger = 1<<53 - 1

// An encoder appends a value in RFC 8785 form. It says the same as json.Marshal
// and then Canonicalize, in one step: members are in order from the beginning.
//
// Every number in a body is an integer of at most MaxInteger by its Go type or by
// the callers' bounds, so that its digits are its canonical form.
type encoder interface {
	append(dst []byte, v reflect.Value) ([]byte, error)
}

type encoderFunc func(dst []byte, v reflect.Value) ([]byte, error)

func (f encoderFunc) append(dst []byte, v reflect.Value) ([]byte, error) { return f(dst, v) }

// encoders holds the encoders by type.
var encoders sync.Map

// canonical returns v in RFC 8785 form. Pass a pointer: it saves copies.
func canonical(v any) (jsontext.Value, error) { return appendCanonical(nil, reflect.ValueOf(v)) }

func appendCanonical(dst []byte, v reflect.Value) ([]byte, error) {
	return encoderOf(v.Type()).append(dst, v)
}

func encoderOf(t reflect.Type) encoder {
	if e, ok := encoders.Load(t); ok {
		return e.(encoder)
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

// newEncoder makes the encoder of a type of which a body consists. What it does
// not know it leaves to the library.
func newEncoder(t reflect.Type) encoder {
	switch {
	case t == reflect.TypeFor[Time]():
		return encoderFunc(appendTime)
	case t == reflect.TypeFor[map[string]Basis]():
		return encoderFunc(appendBasis)
	case spellsItself(t) || spellsItself(reflect.PointerTo(t)):
		return encoderFunc(appendByLibrary)
	}
	switch t.Kind() {
	case reflect.String:
		return encoderFunc(func(dst []byte, v reflect.Value) ([]byte, error) { return jsontext.AppendQuote(dst, v.String()) })
	case reflect.Bool:
		return encoderFunc(func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(dst, v.Bool()), nil })
	case reflect.Int, reflect.Int64:
		return encoderFunc(func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(dst, v.Int(), 10), nil })
	case reflect.Uint64:
		return encoderFunc(func(dst []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(dst, v.Uint(), 10), nil })
	case reflect.Pointer, reflect.Interface:
		return encoderFunc(appendElement)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return encoderFunc(appendList)
		}
	case reflect.Struct:
		if object, ok := newObjectEncoder(t); ok {
			return object
		}
	}
	return encoderFunc(appendByLibrary)
}

func spellsItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[json.MarshalerTo]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func appendByLibrary(dst []byte, v reflect.Value) ([]byte, error) {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(raw)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return append(dst, value...), nil
}

func appendElement(dst []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	return appendCanonical(dst, v.Elem())
}

func appendTime(dst []byte, v reflect.Value) ([]byte, error) {
	return pointerTo[Time](v).appendQuoted(dst), nil
}

// pointerTo returns a pointer to v's value, or to a copy of it.
func pointerTo[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}

// appendBasis appends a map of member paths, which are ASCII, so that the order
// of bytes is that of RFC 8785.
func appendBasis(dst []byte, v reflect.Value) ([]byte, error) {
	basis := *pointerTo[map[string]Basis](v)
	names := make([]string, 0, 16)
	for name := range basis {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = jsontext.AppendQuote(dst, name); err != nil {
			return nil, err
		}
		dst = append(dst, ':')
		if dst, err = jsontext.AppendQuote(dst, basis[name]); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, v reflect.Value) ([]byte, error) {
	element := encoderOf(v.Type().Elem())
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = element.append(dst, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// objectEncoder encodes a struct.
type objectEncoder []fieldEncoder // in the order of RFC 8785

type fieldEncoder struct {
	name string
	// begin is the name as it stands before the value.
	begin  string
	index  []int
	absent func(reflect.Value) bool
	encode encoder
}

// newObjectEncoder fails if a tag says something else than a name, omitzero and
// inline.
func newObjectEncoder(t reflect.Type) (objectEncoder, bool) {
	var out objectEncoder
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && options == "inline" && field.Type.Kind() == reflect.Struct:
			inner, ok := newObjectEncoder(field.Type)
			if !ok {
				return nil, false
			}
			for _, f := range inner {
				f.index = append(slices.Clone(field.Index), f.index...)
				out = append(out, f)
			}
		case name == "" || !field.IsExported() || options != "" && options != "omitzero" || strings.Trim(name, plainName) != "":
			return nil, false
		default:
			f := fieldEncoder{name: name, begin: `"` + name + `":`, index: field.Index, encode: encoderOf(field.Type)}
			switch {
			case options != "omitzero":
				f.absent = func(reflect.Value) bool { return false }
			case field.Type == reflect.TypeFor[Time]():
				f.absent = func(v reflect.Value) bool { return pointerTo[Time](v).IsZero() }
			default:
				f.absent = reflect.Value.IsZero
			}
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b fieldEncoder) int { return strings.Compare(a.name, b.name) })
	return out, true
}

// plainName are the bytes of names whose order is the same everywhere and that
// need no escapes.
const plainName = "abcdefghijklmnopqrstuvwxyz0123456789_"

func (o objectEncoder) append(dst []byte, v reflect.Value) ([]byte, error) {
	return o.appendMarked(dst, v, nil)
}

// appendMarked adds the place of every member to marks, if they are wanted.
func (o objectEncoder) appendMarked(dst []byte, v reflect.Value, marks *[]place) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	for i := range o {
		f := &o[i]
		value := v.Field(f.index[0])
		for _, inner := range f.index[1:] {
			value = value.Field(inner)
		}
		if f.absent(value) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.begin...)
		begin := len(dst)
		var err error
		if dst, err = f.encode.append(dst, value); err != nil {
			return nil, err
		}
		if marks != nil {
			*marks = append(*marks, place{f.name, begin, len(dst)})
		}
	}
	return append(dst, '}'), nil
}

// desk is where a body is written before its size is known, to be used again.
// What is larger than its paper is written elsewhere.
type desk struct {
	paper  [4 << 10]byte
	places []place
}

var desks = sync.Pool{New: func() any { return &desk{} }}

// newObject returns a body in RFC 8785 form.
func newObject(body any) (object, error) {
	v := reflect.ValueOf(body).Elem()
	encoder, ok := encoderOf(v.Type()).(objectEncoder)
	if !ok {
		return object{}, fmt.Errorf("%s is no body", v.Type())
	}
	d := desks.Get().(*desk)
	defer desks.Put(d)
	d.places = d.places[:0]
	written, err := encoder.appendMarked(d.paper[:0], v, &d.places)
	if err != nil {
		return object{}, err
	}
	return object{bytes.Clone(written), slices.Clone(d.places)}, nil
}
