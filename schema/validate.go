// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"cmp"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/readtrail/readtrail/record"
)

// ErrUnsupported says that this version has no schema for a body.
var ErrUnsupported = errors.New("schema is not supported")

// InvalidError says where an entry does not fit its schema. It names members
// and keywords, never values, which may be content.
type InvalidError struct {
	// Location is the JSON Pointer of the member, also of one that is not there,
	// shortened if it is long.
	Location string
	// Keyword is the keyword of the schema that the member does not satisfy, false
	// if it may not be there.
	Keyword string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%q does not satisfy %q", e.Location, e.Keyword)
}

// Validate checks a whole entry, without its LF, against the schema of its
// body. Errors are InvalidErrors, or wrap ErrUnsupported.
func Validate(kind record.Kind, version string, entry []byte) error {
	c, found := schemas[key{kind, version}]
	if !found {
		return ErrUnsupported
	}
	return fits(c.get, entry)
}

// ValidateManifest checks the manifest of an evidence bundle against its schema,
// with errors like those of Validate.
func ValidateManifest(version string, manifest []byte) error {
	c, found := manifests[version]
	if !found {
		return ErrUnsupported
	}
	return fits(c.get, manifest)
}

func fits(get func() (*jsonschema.Schema, error), text []byte) error {
	s, err := get()
	if err != nil {
		return err
	}
	document, err := read(text)
	if err != nil {
		return err
	}
	return judge(s, document)
}

// read decodes what is checked. Numbers become doubles, which hold every integer that an
// entry may.
func read(text []byte) (document any, err error) {
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, &InvalidError{Keyword: "type"}
	}
	return document, nil
}

func judge(s *jsonschema.Schema, document any) error {
	err := s.Validate(document)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return firstLeaf(invalid)
	}
	return err
}

const maxLocation = 200

// memberName is what a member of a schema or a path in basis looks like; any
// other name in an entry may be content.
var memberName = regexp.MustCompile(`^[a-z0-9_.\[\]]{1,64}$`)

// firstLeaf returns where the schema really was not met, the first by its location
// if there are several, so that one entry always has one error.
func firstLeaf(e *jsonschema.ValidationError) *InvalidError {
	var first *InvalidError
	for _, leaf := range leaves(nil, e) {
		invalid := &InvalidError{Location: location(leaf), Keyword: keyword(leaf.ErrorKind)}
		if first == nil || cmp.Or(cmp.Compare(invalid.Location, first.Location), cmp.Compare(invalid.Keyword, first.Keyword)) < 0 {
			first = invalid
		}
	}
	return first
}

// keyword returns the keyword of an error. Two have none of the library's.
func keyword(of jsonschema.ErrorKind) string {
	switch of.(type) {
	case *kind.Not:
		return "not"
	case *kind.FalseSchema:
		return "false"
	default:
		return strings.Join(of.KeywordPath(), "/")
	}
}

func leaves(found []*jsonschema.ValidationError, e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return append(found, e)
	}
	for _, cause := range e.Causes {
		found = leaves(found, cause)
	}
	return found
}

// location returns the JSON Pointer of what does not fit: of a member that is not
// there, where it belongs.
func location(e *jsonschema.ValidationError) string {
	names := e.InstanceLocation
	switch lacking := e.ErrorKind.(type) {
	case *kind.Required:
		names = slices.Concat(names, lacking.Missing[:1])
	case *kind.DependentRequired:
		names = slices.Concat(names, lacking.Missing[:1])
	}
	return pointerOf(names)
}

// pointerOf spells names as a JSON Pointer that holds no content.
func pointerOf(names []string) string {
	var pointer strings.Builder
	for _, name := range names {
		if !memberName.MatchString(name) {
			name = "?"
		}
		if pointer.Len()+len(name) > maxLocation {
			pointer.WriteString("/...")
			break
		}
		pointer.WriteString("/" + name)
	}
	return pointer.String()
}
