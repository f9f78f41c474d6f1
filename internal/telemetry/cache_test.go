// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

func TestACacheGivesTheDigestOfItsKeyHoweverMuchItRemembers(t *testing.T) {
	key, err := content.NewKey("k", make([]byte, 32))
	require.NoError(t, err)
	var remembers Cache
	for _, k := range []*content.Key{content.Plain, key, content.Plain} {
		forgets := Cache{Forgetful: true}
		remembers.Use(k)
		forgets.Use(k)
		for range 2 {
			for i := range 3 * maxTexts {
				v := pcommon.NewValueStr(fmt.Sprintf("text %d", i))
				assert.Equal(t, k.OfString(v.Str()), remembers.Digest(v))
				assert.Equal(t, k.OfString(v.Str()), forgets.Digest(v))
			}
			m := pcommon.NewValueMap()
			m.Map().PutInt("n", 1)
			assert.Equal(t, k.OfNode(Node(m)), remembers.Digest(m))
			assert.Equal(t, k.OfNode(Node(m)), forgets.Digest(m))
		}
		remembers.Reset()
	}
}
