// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"regexp"
	"slices"
)

// ErrSecret says that a text of a body looks like a token, a key or a password, which
// no record may hold (requirement H3).
var ErrSecret = errors.New("a text looks like a secret")

// SecretPattern matches a text that looks like a secret: what the schemas of bodies that
// only clients give refuse as noSecret.
const SecretPattern = `([Bb]earer [A-Za-z0-9]|[Aa]uthorization:|eyJ[A-Za-z0-9_-]*\.|-----BEGIN|[Pp]assword=[^{]|://[^/@]*:[^/@]*@)`

var secret = regexp.MustCompile(SecretPattern)

// secretMarks are in whatever secret matches: most bodies have none of them, and to
// look for them takes no time.
var secretMarks = [][]byte{[]byte("earer "), []byte("uthorization:"), []byte("eyJ"), []byte("-----BEGIN"), []byte("assword="), []byte("://")}

// SecretIn returns the place of the first text in a JSON value that looks like a
// secret.
func SecretIn(value jsontext.Value) (at jsontext.Pointer, found bool) {
	escaped := bytes.IndexByte(value, '\\') >= 0
	if !escaped && !slices.ContainsFunc(secretMarks, func(mark []byte) bool { return bytes.Contains(value, mark) }) {
		return "", false
	}
	d := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return "", false // the end
		}
		if token.Kind() == jsontext.KindString && secret.MatchString(token.String()) {
			return d.StackPointer(), true
		}
	}
}
