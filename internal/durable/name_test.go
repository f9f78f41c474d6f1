// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/readtrail/readtrail/internal/durable"
)

func FuzzNamesNeverShareAPathElement(f *testing.F) {
	f.Add("..", ".")
	f.Add("a/b", "a%2Fb")
	f.Add("", "%")
	f.Fuzz(func(t *testing.T, a, b string) {
		ea, eb := durable.PathElement(a), durable.PathElement(b)
		assert.Equal(t, a == b, ea == eb)
		assert.NotContains(t, ea, "/")
		assert.NotEqual(t, "..", ea)
		assert.NotEqual(t, ".", ea)
	})
}
