// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/content"
)

// Entry is an entry of a context and the value that the model was given.
type Entry struct {
	// Recorded is the entry as the record has it, a JSON object.
	Recorded jsontext.Value
	// Value is JSON.
	Value jsontext.Value
}

// valueMember is the member that an entry has only while it is digested.
const valueMember = "value"

// digestMembers are what the record adds to an entry: the digest of its value and
// what stands beside that. They are no part of the context.
var digestMembers = []string{"value_digest", "value_canonicalization", "value_size"}

// EntriesBytes returns what the digest over entries covers: the array of the
// entries in the order in which the model was given them, each as the record has
// it, without the digest of its value and with the value itself.
func EntriesBytes(entries []Entry) ([]byte, content.Form, error) {
	out, form := []byte{'['}, content.FormJCS
	for i := range entries {
		if i > 0 {
			out = append(out, ',')
		}
		b, f, err := entries[i].bytes()
		if err != nil {
			return nil, "", fmt.Errorf("entry %d of the context: %w", i+1, err)
		}
		out, form = append(out, b...), wider(form, f)
	}
	if len(entries) == 0 {
		return nil, "", ErrNoInput
	}
	return append(out, ']'), form, nil
}

func (e *Entry) bytes() ([]byte, content.Form, error) {
	if len(e.Value) == 0 {
		return nil, "", errors.New("its value is not there")
	}
	out := []byte{'{'}
	err := eachMember(e.Recorded, func(name string, raw jsontext.Value) error {
		switch {
		case name == valueMember:
			return errors.New("it holds a value, which no record does")
		case slices.Contains(digestMembers, name):
			return nil
		}
		var err error
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return errNotJSON
		}
		out = append(append(append(out, ':'), raw...), ',')
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	out = append(append(append(out, `"`+valueMember+`":`...), e.Value...), '}')
	return canonical(out)
}

// EntriesDigest digests entries with a key, content.Plain for none.
func EntriesDigest(key *content.Key, entries []Entry) (content.Digest, error) {
	b, form, err := EntriesBytes(entries)
	if err != nil {
		return content.Digest{}, err
	}
	return digest(key, b, form), nil
}

// ParseValues reads the values of entries that somebody took from the source: a
// JSON object with the id of each entry and its value.
func ParseValues(text []byte) (map[string]jsontext.Value, error) {
	values := map[string]jsontext.Value{}
	err := eachMember(text, func(id string, raw jsontext.Value) error {
		values[id] = raw.Clone()
		return nil
	})
	return values, err
}
