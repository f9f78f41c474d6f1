// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/readtrail/readtrail/record"
)

// pattern compiles a pattern of a schema.
func pattern(text string) (jsonschema.Regexp, error) {
	if text == record.SecretPattern {
		return secretPattern{}, nil
	}
	return regexp.Compile(text)
}

// secretPattern is record.SecretPattern, by far the longest of all and asked of most
// texts: the package knows how to say no to nearly all of them at once.
type secretPattern struct{}

func (secretPattern) MatchString(s string) bool { return record.LooksLikeSecret(s) }

func (secretPattern) String() string { return record.SecretPattern }
