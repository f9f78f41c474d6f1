// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"encoding/json/jsontext"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheExampleOfTheFormatIsWhatIsDigested(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	require.NoError(t, err)
	entries := []Entry{{jsontext.Value(`{"side":"data","entry_id":"e1","object_id":"c-1","object_type":"Customer","property":"risk_class",
		"origin":{"source":"crm-eu","line":41}}`), jsontext.Value(`"medium"`)}}
	b, _, err := EntriesBytes(entries)
	require.NoError(t, err)
	assert.Contains(t, string(page), "\n    "+string(b)+"\n")
	assert.Contains(t, string(page), "`"+plain(t, entries).Value+"`")
}
