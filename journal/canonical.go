// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// maxDepth is the deepest nesting of an entry (contract 2); the entry's own
// object is the first level.
const maxDepth = 64

// maxDigits are the digits of the largest number in an entry.
var maxDigits = strconv.FormatInt(record.MaxInteger, 10)

var (
	errNotCanonical = errors.New("line is not its own RFC 8785 form")
	errNumber       = errors.New("number is not a plain integer of at most 2^53-1")
	errDepth        = fmt.Errorf("nesting is deeper than %d", maxDepth)
)

// whyNotCanonical says why an outline refuses a line: what keeps it from being one
// JSON value in its own RFC 8785 form within the bounds of contract 2. Errors hold
// nothing of the line.
func whyNotCanonical(line []byte) error {
	// Canonicalizing rounds numbers to doubles, so they are judged before.
	if err := checkTokens(line); err != nil {
		return err
	}
	form := jsontext.Value(bytes.Clone(line))
	if err := form.Canonicalize(); err != nil {
		return syntaxError(err)
	}
	return errNotCanonical
}

// checkTokens demands valid JSON (RFC 7493: no duplicate names, no invalid
// UTF-8, no lone surrogates), plain integers and bounded nesting.
func checkTokens(line []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(line))
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return syntaxError(err)
		}
		if d.StackDepth() > maxDepth {
			return errDepth
		}
		if token.Kind() == jsontext.KindNumber && !isPlainInteger(token.String()) {
			return errNumber
		}
	}
}

// isPlainInteger takes a valid JSON number literal.
func isPlainInteger(literal string) bool {
	digits := strings.TrimPrefix(literal, "-")
	if strings.ContainsAny(digits, ".eE") || literal == "-0" {
		return false
	}
	return len(digits) < len(maxDigits) || len(digits) == len(maxDigits) && digits <= maxDigits
}

// syntaxError keeps the place of an error and drops its text, which may quote
// the line.
func syntaxError(err error) error {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) {
		return errors.New("line is not valid JSON")
	}
	if errors.Is(s.Err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("line has a duplicate member name at byte %d", s.ByteOffset)
	}
	return fmt.Errorf("line is not valid JSON at byte %d", s.ByteOffset)
}
