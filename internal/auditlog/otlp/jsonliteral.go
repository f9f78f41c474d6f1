// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json/jsontext"
	"math"
	"strconv"
	"strings"
)

func (p *jsonReader) text() (string, error) {
	if p.in.PeekKind() != jsontext.KindString {
		return "", p.mistyped()
	}
	token, err := p.in.ReadToken()
	if err != nil {
		return "", p.wrong(errJSON)
	}
	return token.String(), nil
}

// literal reads a number, or a string that holds one, as it is spelled.
func (p *jsonReader) literal() (string, error) {
	switch p.in.PeekKind() {
	case jsontext.KindString:
		return p.text()
	case jsontext.KindNumber:
		raw, err := p.in.ReadValue()
		if err != nil {
			return "", p.wrong(errJSON)
		}
		return string(raw), nil
	default:
		return "", p.mistyped()
	}
}

func (p *jsonReader) unsigned(name string) (uint64, error) {
	p.enter(name)
	defer p.leave(1)
	text, err := p.literal()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, p.wrong(errType)
	}
	return n, nil
}

func (p *jsonReader) count() (uint32, error) {
	text, err := p.literal()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, p.wrong(errType)
	}
	return uint32(n), nil
}

func (p *jsonReader) signed() (uint64, error) {
	text, err := p.literal()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, p.wrong(errType)
	}
	return uint64(n), nil
}

func (p *jsonReader) double() (uint64, error) {
	text, err := p.literal()
	if err != nil {
		return 0, err
	}
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_pP") {
		return 0, p.wrong(errType)
	}
	if math.IsNaN(d) {
		d = math.NaN() // one of them
	}
	return math.Float64bits(d), nil
}

func (p *jsonReader) bool() (uint64, error) {
	switch p.in.PeekKind() {
	case jsontext.KindTrue:
		return 1, p.skipped()
	case jsontext.KindFalse:
		return 0, p.skipped()
	default:
		return 0, p.mistyped()
	}
}

func (p *jsonReader) skipped() error {
	if err := p.in.SkipValue(); err != nil {
		return p.wrong(errJSON)
	}
	return nil
}

// base64 reads bytes in standard or URL-safe base64, with padding or without, as
// protobuf's JSON mapping allows.
func (p *jsonReader) base64() (string, error) {
	text, err := p.text()
	if err != nil {
		return "", err
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	b, err := encoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return "", p.wrong(errBytes)
	}
	return string(b), nil
}

func (p *jsonReader) id(name string, into []byte) error {
	p.enter(name)
	defer p.leave(1)
	text, err := p.text()
	if err != nil || text == "" {
		return err
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(into) {
		return p.wrong(errID)
	}
	copy(into, b)
	return nil
}
