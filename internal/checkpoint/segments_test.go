// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func TestATreeEndsWhereTheJournalIsDurable(t *testing.T) {
	r := newRig(t)
	r.open()
	last := r.append(20)
	r.close()
	segments, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	require.NoError(t, err)
	f, err := os.OpenFile(segments[0], os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"integrity":{"canonicalization":"RFC8785","hash_`)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	signed := func(c *journal.SignedCheckpoint) bool { return c.SignedBy(signer.PublicKey()) }
	for name, trusted := range map[string]func(*journal.SignedCheckpoint) bool{
		"from the cached tree": signed,
		"from the segments":    func(*journal.SignedCheckpoint) bool { return false },
	} {
		from := checkpoint.Journal{FS: durable.OS{}, Dir: r.dir, ID: r.signed[0].Origin, Trusted: trusted, UpTo: last, Scratch: t.TempDir()}
		tree, _, err := checkpoint.OpenTree(t.Context(), from)
		require.NoError(t, err, name)
		assert.GreaterOrEqual(t, tree.Size(), last, name)
		from.UpTo = 0
		_, _, err = checkpoint.OpenTree(t.Context(), from)
		require.Error(t, err, "%s: half a line is no entry", name)
	}
}
