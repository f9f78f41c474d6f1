// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// MaxInteger is the largest magnitude of a number in an entry (contract 2).
const MaxInteger = 1<<53 - 1

// members write themselves in the order of RFC 8785. That says the same as
// json.Marshal and then Canonicalize, in one step and without reflection, since
// every read and every action is written so.
type members interface{ write(*writer) }

// A writer spells a body in RFC 8785 form. Names are plain ASCII.
//
// Every number in a body is an integer of at most MaxInteger, so that its digits are its
// canonical form.
type writer struct {
	text []byte
	// open is how many objects are not yet closed.
	open int
	// places are those of the outermost object's members.
	places []place
	err    error
	// bodies and members are what the objects that it made are of.
	bodies  block[byte]
	members block[place]
}

// object writes an object.
func (w *writer) object(m members) {
	w.text = append(w.text, '{')
	w.open++
	m.write(w)
	w.open--
	w.text = append(w.text, '}')
	if w.open == 0 && len(w.places) > 0 {
		w.places[len(w.places)-1].end = len(w.text) - len(`}`)
	}
}

// name begins a member.
func (w *writer) name(name string) {
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, name...)
	w.text = append(w.text, '"', ':')
	if w.open != 1 {
		return
	}
	begin := len(w.text)
	if n := len(w.places); n > 0 {
		w.places[n-1].end = begin - len(`,"":`) - len(name)
	}
	w.places = append(w.places, place{name: name, begin: begin})
}

// member writes a member that is an object.
func (w *writer) member(name string, m members) {
	w.name(name)
	w.object(m)
}

// unlessEmpty writes a member that is an object, unless that has no members.
func (w *writer) unlessEmpty(name string, m members) {
	text, places := len(w.text), len(w.places)
	w.member(name, m)
	if bytes.HasSuffix(w.text, []byte(`:{}`)) {
		w.text, w.places = w.text[:text], w.places[:places]
	}
}

// string writes a member that is a text, and given one unless it is empty.
func (w *writer) string(name, s string) {
	w.name(name)
	w.quote(s)
}

func (w *writer) given(name, s string) {
	if s != "" {
		w.string(name, s)
	}
}

// integer writes a member that is a number.
func (w *writer) integer(name string, n int64) {
	if n < -MaxInteger || n > MaxInteger {
		w.err = fmt.Errorf("%s is no number that an entry may hold", name)
	}
	w.name(name)
	w.text = strconv.AppendInt(w.text, n, 10)
}

// number writes a member that is a number unless it is 0.
func (w *writer) number(name string, n int64) {
	if n != 0 {
		w.integer(name, n)
	}
}

func (w *writer) bool(name string, b bool) {
	w.name(name)
	w.text = strconv.AppendBool(w.text, b)
}

// time writes a member unless it is absent.
func (w *writer) time(name string, t Time) {
	if t.IsZero() {
		return
	}
	w.name(name)
	w.text = append(w.text, '"')
	var err error
	if w.text, err = t.AppendText(w.text); err != nil {
		w.err = err
	}
	w.text = append(w.text, '"')
}

// strings writes a list of texts, unless there is none.
func (w *writer) strings(name string, list []string) {
	if list == nil {
		return
	}
	w.name(name)
	w.text = append(w.text, '[')
	for i, s := range list {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.quote(s)
	}
	w.text = append(w.text, ']')
}

// list writes a list of objects.
func list[T any, P interface {
	*T
	members
}](w *writer, name string, elements []T) {
	w.name(name)
	w.text = append(w.text, '[')
	for i := range elements {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.object(P(&elements[i]))
	}
	w.text = append(w.text, ']')
}

// basis writes a map of member paths, which are ASCII, so that the order of
// bytes is that of RFC 8785.
func (w *writer) basis(name string, basis map[string]Basis) {
	if basis == nil {
		return
	}
	paths := make([]string, 0, 16)
	for path := range basis {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	w.name(name)
	w.text = append(w.text, '{')
	for i, path := range paths {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.quote(path)
		w.text = append(w.text, ':')
		w.quote(string(basis[path]))
	}
	w.text = append(w.text, '}')
}

// detail writes what is rare and of any type, unless there is none.
func (w *writer) detail(name string, v any) {
	if v == nil {
		return
	}
	raw, err := json.Marshal(v)
	value := jsontext.Value(raw)
	if err == nil {
		err = value.Canonicalize()
	}
	if err != nil {
		w.err = err
		return
	}
	w.name(name)
	w.text = append(w.text, value...)
}

// isPlain are the bytes that stand in a JSON string as they are.
var isPlain = func() (set [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()

func (w *writer) quote(s string) {
	for i := range len(s) {
		if !isPlain[s[i]] {
			w.escape(s)
			return
		}
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, s...)
	w.text = append(w.text, '"')
}

func (w *writer) escape(s string) {
	text, err := jsontext.AppendQuote(w.text, s)
	if err != nil {
		w.err = err
		return
	}
	w.text = text
}

// paper is where a body is written before its size is known, to be used again.
// What is larger is written elsewhere.
const paper = 4 << 10

var writers = sync.Pool{New: func() any { return &writer{text: make([]byte, 0, paper)} }}

// newObject returns a body in RFC 8785 form.
func newObject(body members) (object, error) {
	w := writers.Get().(*writer)
	defer writers.Put(w)
	text := w.text[:0]
	w.open, w.places, w.err = 0, w.places[:0], nil
	w.text = text
	w.object(body)
	written := w.text
	w.text = text
	if w.err != nil {
		return object{}, w.err
	}
	return object{w.bodies.clone(written, bodiesBlock), w.members.clone(w.places, membersBlock)}, nil
}

// The lengths of blocks: several bodies of reads, in bytes, and their members.
const (
	bodiesBlock  = 8 << 10
	membersBlock = 128
)

// block is memory out of which small things are made that stand next to each
// other, so that a body costs a share of an allocation. It is free when the last of
// them is: drafts live as long as their request, and those of a block are mostly of
// one.
type block[T any] []T

// clone copies what is much smaller than a block into one, else elsewhere.
func (b *block[T]) clone(s []T, length int) []T {
	const share = 4
	if len(s) > length/share {
		return slices.Clone(s)
	}
	if cap(*b)-len(*b) < len(s) {
		*b = make([]T, 0, length)
	}
	begin := len(*b)
	*b = append(*b, s...)
	return (*b)[begin:len(*b):len(*b)]
}
