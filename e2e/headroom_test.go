// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// collection is a line of GODEBUG=gctrace=1.
var collection = regexp.MustCompile(`(?m)^gc \d+ @`)

// TestTheDistributionLeavesRoomForGarbage: while it starts, it collects less often than
// any Go program, unless the operator says otherwise.
func TestTheDistributionLeavesRoomForGarbage(t *testing.T) {
	collections := func(gogc string) int {
		h := newHouse(t, "examples/synchronous.yaml")
		h.extraEnv = []string{"GODEBUG=gctrace=1", "GOGC=" + gogc, "READTRAIL_CHECKPOINTS=" + t.TempDir()}
		c := h.start()
		require.NoError(t, c.Stop())
		return len(collection.FindAllString(c.Output(), -1))
	}
	require.Less(t, collections(""), collections("100"))
}
