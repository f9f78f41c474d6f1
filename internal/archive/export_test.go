// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CheckLocate demands of every key that is taken for one of an archive that it is
// spelled as the archive does, and that it leads below a directory.
func CheckLocate(t *testing.T, key string) {
	b := &Bucket{name: "evidence", prefix: "readtrail"}
	l, ours := b.locate(key)
	if !ours {
		return
	}
	require.Equal(t, key, b.key(l.Place, l.part, l.name))
	require.True(t, filepath.IsLocal(filepath.Join(l.dir(), l.part, l.name)))
}
