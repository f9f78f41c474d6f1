// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/v2"
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/readtrail/readtrail/record"
)

// Shortcomings returns everything that keeps a draft from fitting its schema, as JSON
// Pointers into the body, sorted: the members that are missing, and those that do not
// fit. Other errors are like those of Validate.
func Shortcomings(d *record.Draft) (missing, invalid []string, err error) {
	c, found := schemas[key{d.Kind(), d.Version()}]
	if !found {
		return nil, nil, ErrUnsupported
	}
	s, err := c.body()
	if err != nil {
		return nil, nil, err
	}
	var document any
	if err := json.Unmarshal(completed(d), &document); err != nil {
		return nil, nil, err
	}
	err = s.Validate(document)
	wrong, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, nil, err
	}
	for _, leaf := range leaves(nil, wrong) {
		if lacking, isRequired := leaf.ErrorKind.(*kind.Required); isRequired {
			for _, name := range lacking.Missing {
				missing = append(missing, pointerOf(slices.Concat(leaf.InstanceLocation, []string{name})))
			}
			continue
		}
		invalid = append(invalid, location(leaf))
	}
	slices.Sort(missing)
	slices.Sort(invalid)
	missing = slices.Compact(missing)
	// What is missing may also be what a rule across members is about.
	invalid = slices.DeleteFunc(slices.Compact(invalid), func(p string) bool { return slices.Contains(missing, p) })
	if len(invalid) == 0 {
		invalid = nil
	}
	return missing, invalid, nil
}
