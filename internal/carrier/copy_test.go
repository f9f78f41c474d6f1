// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoPrinterShowsTheContentOfACopy(t *testing.T) {
	const content = "CANARY-copy-1"
	batch := &Batch{Items: []Item{{Copies: []Copy{{Digest: "sha256:00", Content: []byte(content)}}, Store: "evidence_store"}}}
	var printed bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&printed, verb+verb+verb, batch, batch.Items, NewContext(context.Background(), batch))
	}
	asJSON, err := json.Marshal(batch.Items)
	require.NoError(t, err)
	printed.Write(asJSON)
	for _, spelling := range []string{
		content, fmt.Sprintf("%x", content), fmt.Sprintf("%X", content), base64.StdEncoding.EncodeToString([]byte(content)),
		fmt.Sprint([]byte(content))[1:20], fmt.Sprintf("%#v", []byte(content))[7:30],
	} {
		assert.NotContains(t, printed.String(), spelling)
	}
	assert.Contains(t, string(asJSON), `"Copies":["sha256:00"]`)
}
