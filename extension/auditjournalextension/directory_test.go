// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJournalDirectoryIsPercentEscaped(t *testing.T) {
	for name, want := range map[journalName]string{
		{"bank_eu", "kyc_10y", reads}: "bank_eu/kyc_10y/reads",
		{"bank.eu-1", "v1.2", reads}:  "bank.eu-1/v1.2/reads",
		{"..", ".", reads}:            "%2E./%2E/reads",
		{"a/b", `c\d`, reads}:         "a%2Fb/c%5Cd/reads",
		{"100%", "Größe 1", reads}:    "100%25/Gr%C3%B6%C3%9Fe%201/reads",
		{"%2E", "con:", reads}:        "%252E/con%3A/reads",
	} {
		t.Run(want, func(t *testing.T) {
			assert.Equal(t, filepath.FromSlash("/srv/journal/"+want), name.directory("/srv/journal"))
		})
	}
}
