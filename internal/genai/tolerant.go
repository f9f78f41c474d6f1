// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"slices"

	"github.com/readtrail/readtrail/internal/content"
)

// Libraries write JSON that no standard knows: NaN and Infinity as Python does,
// a name twice, text that is not UTF-8, halves of surrogate pairs. The parts of
// such a text can still be told apart, and each is digested as it was received.
var (
	errCutOff  = errors.New("JSON ends too early")
	errNotJSON = errors.New("text is no JSON")
)

// tolerant finds the parts of JSON text. It looks at the structure only: what
// stands in a string is not its business.
type tolerant struct {
	text []byte
	at   int
}

// checkTolerantly reports whether text is one value of JSON.
func checkTolerantly(text []byte) error {
	t := tolerant{text: text}
	if err := t.value(0); err != nil {
		return err
	}
	if t.peek(); t.at < len(text) {
		return errNotJSON
	}
	return nil
}

// partsOf calls f for each element of an array or each member of an object
// until f wants no more. Names are as they stand, in quotes.
func partsOf(text []byte, f func(name, part jsontext.Value) bool) error {
	t := tolerant{text: text}
	switch t.peek() {
	case '{', '[':
		return t.container(0, f)
	default:
		return errNotJSON
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (t *tolerant) peek() byte {
	for t.at < len(t.text) {
		switch c := t.text[t.at]; c {
		case ' ', '\t', '\n', '\r':
			t.at++
		default:
			return c
		}
	}
	return 0
}

func (t *tolerant) value(depth int) error {
	switch t.peek() {
	case '{', '[':
		return t.container(depth, nil)
	case '"':
		return t.string()
	default:
		return t.word()
	}
}

func (t *tolerant) container(depth int, f func(name, part jsontext.Value) bool) error {
	if depth >= content.MaxJSONDepth {
		return errNotJSON
	}
	object := t.text[t.at] == '{'
	end := byte(']')
	if object {
		end = '}'
	}
	t.at++
	if t.peek() == end {
		t.at++
		return nil
	}
	for {
		var name jsontext.Value
		if object {
			from := t.next()
			if err := t.name(); err != nil {
				return err
			}
			name = t.text[from:t.at]
			if err := t.expect(':'); err != nil {
				return err
			}
		}
		from := t.next()
		if err := t.value(depth + 1); err != nil {
			return err
		}
		if f != nil && !f(name, t.text[from:t.at]) {
			return nil
		}
		if t.peek() == end {
			t.at++
			return nil
		}
		if err := t.expect(','); err != nil {
			return err
		}
	}
}

// next returns where the next value begins.
func (t *tolerant) next() int {
	t.peek()
	return t.at
}

func (t *tolerant) name() error {
	if c := t.peek(); c != '"' && c != 0 {
		return errNotJSON
	}
	return t.string()
}

func (t *tolerant) expect(c byte) error {
	switch t.peek() {
	case c:
		t.at++
		return nil
	case 0:
		return errCutOff
	default:
		return errNotJSON
	}
}

func (t *tolerant) string() error {
	for t.at++; t.at < len(t.text); t.at++ {
		switch t.text[t.at] {
		case '\\':
			t.at++
		case '"':
			t.at++
			return nil
		}
	}
	return errCutOff
}

// words are the values of JSON that are no strings or numbers, and those that
// Python has besides.
var words = []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"}

func (t *tolerant) word() error {
	rest := t.text[t.at:]
	end := bytes.IndexAny(rest, " \t\n\r,:]}[{\"")
	if end < 0 {
		end = len(rest)
	}
	word := string(rest[:min(end, maxWord)])
	if end > maxWord || !slices.Contains(words, word) && !isNumber(word) {
		if end == len(rest) {
			return errCutOff
		}
		return errNotJSON
	}
	t.at += end
	return nil
}

// maxWord is the longest number in JSON that is read tolerantly, in bytes.
const maxWord = 4 << 10
