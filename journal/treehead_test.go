// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
)

func TestAHeadOfATreeIsThatOfAnotherImplementation(t *testing.T) {
	other := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	var head treeHead
	for n := range 300 {
		leaf := LeafHash([32]byte{byte(n), byte(n >> 8)})
		require.NoError(t, other.Append(leaf[:], nil))
		head.add(leaf)
		want, err := other.GetRootHash(nil)
		require.NoError(t, err)
		got := head.root()
		require.Equal(t, want, got[:], "%d leaves", n+1)
		var digits []string
		for i, h := range other.Hashes() {
			require.Equal(t, h, head.hashes[i][:])
			digits = append(digits, hex.EncodeToString(h))
		}
		again, ok := treeHeadOf(uint64(n+1), digits)
		require.True(t, ok)
		require.Equal(t, head, again)
	}
	_, ok := treeHeadOf(3, []string{"00", "00"})
	require.False(t, ok)
}
