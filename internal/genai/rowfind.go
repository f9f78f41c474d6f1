// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// keyFilter is a set of keys by their length and three of their bytes. It may
// take another key for one of its own, but tells sooner than a map or a list what
// it does not hold.
type keyFilter [filterBits / 64]uint64

const filterBits = 4096

func (f *keyFilter) add(bit uint32) { f[bit/64] |= 1 << (bit % 64) }

func (f *keyFilter) mayHold(bit uint32) bool { return f[bit/64]&(1<<(bit%64)) != 0 }

// filterBit returns the bit that stands for a key.
func filterBit(key string) uint32 {
	const golden = 0x9e3779b1 // 2^32 divided by the golden ratio
	if key == "" {
		return 0
	}
	n := len(key)
	mixed := uint32(key[0]) | uint32(key[n/2])<<8 | uint32(key[n-1])<<16 | uint32(n)<<24
	return mixed * golden >> 20 % filterBits
}

// keyRows finds rows by the value of a key.
type keyRows struct {
	key string
	// next are those of another key with the same bit.
	next    *keyRows
	any     rowSet
	byValue map[string]*rowSet
	longest int // value, in bytes
}

// of returns those of a key among the ones with the same bit, or nil.
func (k *keyRows) of(key string) *keyRows {
	for k != nil && k.key != key {
		k = k.next
	}
	return k
}

func (k *keyRows) find(v pcommon.Value, candidates *rowSet) {
	candidates.unite(&k.any)
	if len(k.byValue) == 0 {
		return
	}
	var set *rowSet
	switch v.Type() {
	case pcommon.ValueTypeStr:
		if s := v.Str(); len(s) <= k.longest {
			set = k.byValue[s]
		}
	case pcommon.ValueTypeInt:
		var buf [20]byte
		if digits := strconv.AppendInt(buf[:0], v.Int(), 10); len(digits) <= k.longest {
			set = k.byValue[string(digits)]
		}
	}
	if set != nil {
		candidates.unite(set)
	}
}

// nameIndex finds rows by a name or the beginning of one.
type nameIndex struct {
	exact    map[string]*rowSet
	filter   keyFilter // of the exact names
	prefixes []rowPrefix
	begins   [256]bool // the first bytes of prefixes
}

type rowPrefix struct {
	prefix string
	rows   rowSet
}

// rowsOf returns where the rows of a key are added.
func (x *rowIndex) rowsOf(key string) *keyRows {
	bit := filterBit(key)
	if rows := x.byKey[bit].of(key); rows != nil {
		return rows
	}
	x.keys.add(bit)
	x.byKey[bit] = &keyRows{key: key, next: x.byKey[bit]}
	return x.byKey[bit]
}

func (x *nameIndex) add(name string, row int) {
	prefix, isPrefix := strings.CutSuffix(name, "*")
	if !isPrefix {
		addTo(&x.exact, name, row)
		x.filter.add(filterBit(name))
		return
	}
	i := slices.IndexFunc(x.prefixes, func(p rowPrefix) bool { return p.prefix == prefix })
	if i < 0 {
		i = len(x.prefixes)
		x.prefixes = append(x.prefixes, rowPrefix{prefix: prefix})
		x.begins[prefix[0]] = true
	}
	x.prefixes[i].rows.add(row)
}

func addTo(sets *map[string]*rowSet, key string, row int) {
	if *sets == nil {
		*sets = map[string]*rowSet{}
	}
	set := (*sets)[key]
	if set == nil {
		set = &rowSet{}
		(*sets)[key] = set
	}
	set.add(row)
}

func (x *nameIndex) find(name string, candidates *rowSet) {
	if x.filter.mayHold(filterBit(name)) {
		if set := x.exact[name]; set != nil {
			candidates.unite(set)
		}
	}
	if name == "" || !x.begins[name[0]] {
		return
	}
	for i := range x.prefixes {
		if strings.HasPrefix(name, x.prefixes[i].prefix) {
			candidates.unite(&x.prefixes[i].rows)
		}
	}
}

// rowsOfScope returns the rows that a scope's name finds.
func (b *before) rowsOfScope(x *rowIndex, scope string) *rowSet {
	if b.table != x || b.scope != scope {
		b.table, b.scope, b.scoped = x, scope, rowSet{}
		x.scopes.find(scope, &b.scoped)
	}
	return &b.scoped
}
