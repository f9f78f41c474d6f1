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
//
// The zero Cache makes plain digests, as a nil one does.
type Cache struct {
	// Forgetful says that no value is digested twice, so that there is nothing to
	// remember.
	Forgetful bool

	// Trail remembers what stripping found of the keys and texts of the item before.
	Trail content.Trail

	key *content.Key
	// texts are the first few strings. Comparing two is cheaper than hashing one,
	// since they are the same memory or differ early.
	texts   []digested
	strings map[string]content.Digest
	maps    map[pcommon.Map]content.Digest
	slices  map[pcommon.Slice]content.Digest
}

// maxTexts is the length of Cache.texts.
const maxTexts = 8

type digested struct {
	text   string
	digest content.Digest
}

// Use has the digests that follow made with a key, those of values that were
// digested with another one too.
func (c *Cache) Use(k *content.Key) {
	if c.key != k {
		c.Reset()
		c.key = k
	}
}

// Key returns the key that digests of this item are made with; nil if they are
// plain.
func (c *Cache) Key() *content.Key {
	if c == nil {
		return content.Plain
	}
	return c.key
}

// Digest returns the digest of the value of an attribute, of a log body or of a
// part of either.
func (c *Cache) Digest(v pcommon.Value) content.Digest {
	switch {
	case v.Type() == pcommon.ValueTypeStr && (c == nil || c.Forgetful):
		return c.Key().OfString(v.Str())
	case c == nil || c.Forgetful:
		return c.Key().OfNode(Node(v))
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return c.text(v)
	case pcommon.ValueTypeMap:
		return remember(c.key, &c.maps, v.Map(), v)
	case pcommon.ValueTypeSlice:
		return remember(c.key, &c.slices, v.Slice(), v)
	default: // cheaper to digest than to remember
		return c.key.OfNode(Node(v))
	}
}

func (c *Cache) text(v pcommon.Value) content.Digest {
	text := v.Str()
	for i := range c.texts {
		if c.texts[i].text == text {
			return c.texts[i].digest
		}
	}
	if len(c.texts) == maxTexts {
		return remember(c.key, &c.strings, text, v)
	}
	d := c.key.OfString(text)
	c.texts = append(c.texts, digested{text, d})
	return d
}

func remember[K comparable](with *content.Key, known *map[K]content.Digest, key K, v pcommon.Value) content.Digest {
	if d, ok := (*known)[key]; ok {
		return d
	}
	if *known == nil {
		*known = make(map[K]content.Digest)
	}
	d := with.OfNode(Node(v))
	(*known)[key] = d
	return d
}

// Reset forgets every digest; the key stays.
func (c *Cache) Reset() {
	if c != nil {
		clear(c.texts)
		c.texts = c.texts[:0]
		clear(c.strings)
		clear(c.maps)
		clear(c.slices)
	}
}
