// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/v2"
	"sync"
)

// HasMember reports whether a schema of this package has a member of this name
// anywhere. Any other name was made up by whoever wrote the text, and may be content.
func HasMember(name string) bool { return members()[name] }

var members = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, c := range schemas {
		var document any
		if err := json.Unmarshal(c.text, &document); err != nil {
			panic(err) // a file of this package
		}
		addMembers(names, document)
	}
	return names
})

// addMembers adds the names of the properties of a schema and of those in it.
func addMembers(names map[string]bool, schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
		for _, below := range schema {
			addMembers(names, below)
		}
	case []any:
		for _, below := range schema {
			addMembers(names, below)
		}
	}
}
