// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheClientsReferenceHasEveryCode(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	var table strings.Builder
	for _, code := range slices.Sorted(maps.Keys(Codes)) {
		fmt.Fprintf(&table, "| %d | `%s` | %s |\n", Codes[code].Status, code, strings.TrimSuffix(Codes[code].Detail, ".")+".")
	}
	require.Contains(t, string(text), table.String())
}
