// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// Cache remembers the digests of the values of one span or log record. It
// belongs to one goroutine. A nil Cache remembers nothing.
//
// A structure is known by its address, which it keeps when attributes around
// it are removed; nothing changes the inside of a structure between two uses.
type Cache struct {
	strings map[string]content.Digest
	maps    map[pcommon.Map]content.Digest
	slices  map[pcommon.Slice]content.Digest
}

// Digest returns the digest of the value of an attribute, of a log body or of a
// part of either.
func (c *Cache) Digest(v pcommon.Value) content.Digest {
	if c == nil {
		return content.OfNode(Node(v))
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return remember(&c.strings, v.Str(), v)
	case pcommon.ValueTypeMap:
		return remember(&c.maps, v.Map(), v)
	case pcommon.ValueTypeSlice:
		return remember(&c.slices, v.Slice(), v)
	default: // cheaper to digest than to remember
		return content.OfNode(Node(v))
	}
}

func remember[K comparable](known *map[K]content.Digest, key K, v pcommon.Value) content.Digest {
	if d, ok := (*known)[key]; ok {
		return d
	}
	if *known == nil {
		*known = make(map[K]content.Digest)
	}
	d := content.OfNode(Node(v))
	(*known)[key] = d
	return d
}

// Reset forgets everything.
func (c *Cache) Reset() {
	if c != nil {
		clear(c.strings)
		clear(c.maps)
		clear(c.slices)
	}
}
