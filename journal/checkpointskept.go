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

// Add takes checkpoints of a place that is not a directory. It ends with the first
// error of the place; one that holds none is among the Problems.
func (c *Checkpoints) Add(place string, kept iter.Seq2[KeptCheckpoint, error]) error {
	defer c.sort()
	empty := true
	for k, err := range kept {
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		empty = false
		s, err := ParseCheckpoint(k.Note)
		if err != nil {
			c.misread = append(c.misread, fmt.Errorf("checkpoint %s: %w", k.Path, err))
			continue
		}
		c.keep(s, k.Path, k.Timestamps)
	}
	if empty {
		c.misread = append(c.misread, holdsNone(place))
	}
	return nil
}
