// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"iter"
)

// KeptCheckpoint is a checkpoint of a store that is not a directory.
type KeptCheckpoint struct {
	// Path says where it is.
	Path string
	Note []byte
	// Timestamps are the TimeStampResps beside it.
	Timestamps [][]byte
}

// Add takes checkpoints of a store that is not a directory. It ends with the first
// error of the store.
func (c *Checkpoints) Add(kept iter.Seq2[KeptCheckpoint, error]) error {
	defer c.sort()
	for k, err := range kept {
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		s, err := ParseCheckpoint(k.Note)
		if err != nil {
			c.misread = append(c.misread, fmt.Errorf("checkpoint %s: %w", k.Path, err))
			continue
		}
		c.keep(s, k.Path, k.Timestamps)
	}
	return nil
}
