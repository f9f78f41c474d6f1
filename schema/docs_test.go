// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"encoding/json/v2"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

func format(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	return string(text)
}

func TestTheDocumentNamesEveryMember(t *testing.T) {
	text := format(t)
	for kind := range valid() {
		var document object
		require.NoError(t, json.Unmarshal(schema.Text(kind, record.SchemaVersion), &document))
		body := document["properties"].(object)[string(kind)].(object)
		require.Contains(t, text, "`"+string(kind)+"`")
		for _, name := range membersIn(body, map[string]bool{}) {
			assert.True(t, strings.Contains(text, "`"+name+"`"), "%s: %s", kind, name)
		}
	}
}

// membersIn are the names that a schema gives to members, without those of the
// header.
func membersIn(s any, seen map[string]bool) (names []string) {
	switch s := s.(type) {
	case object:
		for name, value := range s {
			if properties, ok := value.(object); ok && name == "properties" {
				for member := range properties {
					if !seen[member] && member != "conflicts_with" {
						seen[member] = true
						names = append(names, member)
					}
				}
			}
			names = append(names, membersIn(value, seen)...)
		}
	case []any:
		for _, value := range s {
			names = append(names, membersIn(value, seen)...)
		}
	}
	return names
}

func TestTheDocumentHasTheRules(t *testing.T) {
	var table strings.Builder
	table.WriteString("| rule | of | what it says |\n|---|---|---|\n")
	for _, r := range record.Rules() {
		kinds := make([]string, 0, len(r.Kinds))
		for _, kind := range r.Kinds {
			kinds = append(kinds, "`"+string(kind)+"`")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.ID, strings.Join(kinds, ", "), r.Says)
	}
	require.Contains(t, format(t), table.String())
}
