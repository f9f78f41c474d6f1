// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import "slices"

// Origins are where the statements of an entry come from.
type Origins struct {
	// Originals are the entries that are derived from no other.
	Originals []string
	// Unknown are entries that something is derived from and that no context of
	// the execution holds.
	Unknown []string
	// Circular are entries that are derived from themselves.
	Circular []string
}

// maxOrigins bounds the entries that are followed from one.
const maxOrigins = 100_000

// OriginsOf follows derived_from from an entry to the entries that it comes from
// in the end, each named once, in order of their ids. derivedFrom returns what an
// entry is derived from, and whether it is known at all.
func OriginsOf(entryID string, derivedFrom func(entryID string) (ids []string, known bool)) Origins {
	type visit struct {
		id   string
		ids  []string
		next int
	}
	var out Origins
	const open, done = 1, 2
	state := map[string]int{}
	var path []visit // a stack of our own: a chain of summaries can be of any length
	enter := func(id string) {
		ids, known := derivedFrom(id)
		switch {
		case !known:
			out.Unknown = append(out.Unknown, id)
			state[id] = done
		case len(ids) == 0:
			out.Originals = append(out.Originals, id)
			state[id] = done
		default:
			state[id] = open
			path = append(path, visit{id: id, ids: ids})
		}
	}
	enter(entryID)
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.next == len(top.ids) {
			state[top.id] = done
			path = path[:len(path)-1]
			continue
		}
		id := top.ids[top.next]
		top.next++
		switch {
		case state[id] == open:
			out.Circular = append(out.Circular, id)
		case state[id] == 0 && len(state) < maxOrigins:
			enter(id)
		case state[id] == 0:
			out.Unknown = append(out.Unknown, id)
		}
	}
	for _, ids := range []*[]string{&out.Originals, &out.Unknown, &out.Circular} {
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
	return out
}
