// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// document is one document of a retrieval or one entry of a memory.
type document struct {
	// id is as it came; a record names it as idOrDigest says.
	id, score string
	content   value
	writtenAt record.Time
}

// documents is what a documentSource found.
type documents struct {
	list []document
	// basis is set if the documents are parts of a larger value.
	basis record.Basis
	// answered says that they are what was answered, although no value holds
	// the answer as a whole.
	answered bool
	// cutOff says that there is a value which ends too early to be read.
	cutOff bool
	ok     bool
}

// documentSource is one place where documents can stand.
type documentSource struct {
	find func(*item) documents
	// keys are the attributes that are read (see source).
	keys []string
}

// maxDocuments bounds the documents of one read. More would not fit into an
// entry.
const maxDocuments = 10_000

// documentsIn reads documents from a value: an array of objects or texts, as
// a structure, as JSON, as an array of JSON strings, alone or in a wrapper; or
// one document alone.
func documentsIn(sources []source) documentSource {
	return documentSource{keys: keysOf(sources), find: func(it *item) documents {
		var cutOff bool
		for _, s := range sources {
			v := s.at(it)
			if found := documentsOf(v); found.ok {
				return found
			}
			cutOff = cutOff || v.cutOff()
		}
		return documents{cutOff: cutOff}
	}}
}

// flattened reads documents of which each part is an attribute of its own:
// prefix, index, infix, then the name of the part.
func flattened(prefix, infix string) documentSource {
	return documentSource{keys: []string{prefix + "**"}, find: func(it *item) documents {
		byIndex := map[int]map[string]value{}
		for key, v := range it.attrs.All() {
			index, leaf, ok := indexed(key, prefix, infix)
			if !ok {
				continue
			}
			if byIndex[index] == nil {
				if len(byIndex) > maxDocuments {
					break
				}
				byIndex[index] = map[string]value{}
			}
			byIndex[index][leaf] = valueOf(v)
		}
		var list []document
		for _, members := range inOrder(byIndex) {
			list = append(list, documentWith(members))
		}
		return documents{list: list, answered: true, ok: len(byIndex) > 0}
	}}
}

// indexed splits what follows a prefix into an index and, behind an infix, the
// leaf.
func indexed(key, prefix, infix string) (index int, leaf string, ok bool) {
	rest, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return 0, "", false
	}
	digits, leaf, ok := strings.Cut(rest, infix)
	index, err := strconv.Atoi(digits)
	return index, leaf, ok && err == nil && index >= 0 && strconv.Itoa(index) == digits
}

// inOrder returns values in the order of their indices.
func inOrder[T any](byIndex map[int]T) []T {
	indices := make([]int, 0, len(byIndex))
	for i := range byIndex {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	list := make([]T, 0, len(indices))
	for _, i := range indices {
		list = append(list, byIndex[i])
	}
	return list
}

// asked reads documents that were given to be ranked: they are what was asked.
func asked(given documentSource) documentSource {
	return documentSource{keys: given.keys, find: func(it *item) documents {
		found := given.find(it)
		found.answered = false
		return found
	}}
}

// ranked reads documents that are JSON each, as a whole, in the order of a
// ranking, whose elements name the index of a document and its relevance.
// Without a ranking the documents stand in the order in which they were given.
func ranked(documentsKey, rankingKey string) documentSource {
	return documentSource{keys: []string{documentsKey, rankingKey}, find: func(it *item) documents {
		found := documents{basis: record.BasisUnwrapped}
		given, ok := it.value(documentsKey).elements(maxDocuments)
		for _, e := range given {
			found.list = append(found.list, document{id: documentOf(e).id, content: e.opened()})
		}
		found.ok = ok
		places, ok := it.value(rankingKey).elements(maxDocuments)
		if !ok {
			return found
		}
		order := make([]document, 0, len(places))
		for _, p := range places {
			members, _ := p.object()
			var d document
			if i, err := strconv.Atoi(members["index"].text()); err == nil && i >= 0 && i < len(found.list) {
				d = found.list[i]
			}
			for _, name := range documentScores {
				if s := score(members[name]); s != "" {
					d.score = s
					break
				}
			}
			order = append(order, d)
		}
		found.list, found.ok = order, true
		return found
	}}
}

// documentsFrom returns what the first source with documents found.
func (r *row) documentsFrom(it *item) documents {
	var none documents
	for _, s := range r.documents {
		found := s.find(it)
		if found.ok {
			return found
		}
		none.cutOff = none.cutOff || found.cutOff
	}
	return none
}
