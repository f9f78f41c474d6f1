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

// Names of members under which libraries put what a document consists of, in
// order of preference.
var (
	documentWrappers = []string{"documents", "results", "matches", "nodes", "docs", "memories", "records", "result"}
	documentInner    = []string{"document", "node", "kwargs"}
	documentIDs      = []string{"id", "document_id", "doc_id", "chunk_id", "id_", "node_id"}
	documentScores   = []string{"score", "relevance_score", "relevanceScore", "similarity"}
	documentContents = []string{"content", "page_content", "pageContent", "text", "document", "memory"}
	documentTimes    = []string{"written_at", "updated_at", "updatedAt", "created_at", "createdAt"}
)

// documentsIn reads documents from a value: an array of objects or texts, as
// a structure, as JSON, as an array of JSON strings, alone or in a wrapper; or
// one document alone.
func documentsIn(sources []source) documentSource {
	return documentSource{keys: keysOf(sources), find: func(it *item) documents {
		var cutOff bool
		for _, s := range sources {
			v := s.at(it)
			if found := documentsOf(it, v); found.ok {
				return found
			}
			cutOff = cutOff || v.cutOff()
		}
		return documents{cutOff: cutOff}
	}}
}

// documentsOf reads documents from a value as it is, or from what it carries if
// it is the result of an MCP tool.
func documentsOf(it *item, v value) documents {
	elements, ok := documentList(it, v)
	if !ok {
		elements, ok = documentList(it, mcpPayload(v))
	}
	found := documents{basis: record.BasisUnwrapped, ok: ok}
	for _, e := range elements {
		found.list = append(found.list, documentOf(it, e))
	}
	return found
}

func documentList(it *item, v value) ([]value, bool) {
	if elements, ok := v.elements(maxDocuments); ok {
		return elements, true
	}
	members, ok := v.object()
	if !ok {
		return nil, false
	}
	for _, name := range documentWrappers {
		if elements, ok := members[name].elements(maxDocuments); ok {
			return elements, true
		}
	}
	if d := documentOf(it, v); d.content.isText() || d.id != "" && d.score != "" {
		return []value{v}, true
	}
	return nil, false
}

func documentOf(it *item, v value) document {
	members, ok := v.object()
	if !ok {
		if _, isString := v.str(); isString {
			return document{content: v}
		}
		return document{}
	}
	inner := map[string]value{}
	for _, name := range documentInner {
		if m, isObject := members[name].object(); isObject {
			inner = m
			delete(members, name) // so that it is not taken for the content
			break
		}
	}
	pick := func(names []string, fits func(value) bool) value {
		for _, m := range []map[string]value{members, inner} {
			for _, name := range names {
				if v := m[name]; v.ok && fits(v) {
					return v
				}
			}
		}
		return value{}
	}
	whatever := func(value) bool { return true }
	d := document{
		id:        it.idOrDigest(pick(documentIDs, value.isText).text()),
		score:     score(pick(documentScores, whatever)),
		content:   pick(documentContents, whatever),
		writtenAt: timeOf(pick(documentTimes, value.isText).text()),
	}
	if metadata, isObject := pick([]string{"metadata"}, whatever).object(); isObject && d.writtenAt.IsZero() {
		inner = metadata
		d.writtenAt = timeOf(pick(documentTimes, value.isText).text())
	}
	return d
}

// flattened reads documents of which each part is an attribute of its own:
// prefix, index, infix, then id, score or content.
func flattened(prefix, infix string) documentSource {
	return documentSource{keys: []string{prefix + "**"}, find: func(it *item) documents {
		byIndex := map[int]*document{}
		for key, v := range it.attrs.All() {
			rest, ok := strings.CutPrefix(key, prefix)
			if !ok {
				continue
			}
			digits, leaf, ok := strings.Cut(rest, infix)
			index, err := strconv.Atoi(digits)
			if !ok || err != nil || index < 0 || strconv.Itoa(index) != digits {
				continue
			}
			d := byIndex[index]
			if d == nil {
				if len(byIndex) > maxDocuments {
					break
				}
				d = &document{}
				byIndex[index] = d
			}
			switch leaf {
			case "id":
				d.id = it.idOrDigest(valueOf(v).text())
			case "score":
				d.score = score(valueOf(v))
			case "content":
				d.content = valueOf(v)
			}
		}
		return documents{list: inOrder(byIndex), answered: true, ok: len(byIndex) > 0}
	}}
}

func inOrder(byIndex map[int]*document) []document {
	indices := make([]int, 0, len(byIndex))
	for i := range byIndex {
		indices = append(indices, i)
	}
	slices.Sort(indices)
	list := make([]document, 0, len(indices))
	for _, i := range indices {
		list = append(list, *byIndex[i])
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

// inEvents reads documents of which each is a span event.
func inEvents(event, id, score_, content string) documentSource {
	return documentSource{keys: []string{content}, find: func(it *item) documents {
		var list []document
		for _, e := range it.events {
			if e.Name() != event {
				continue
			}
			var d document
			if v, ok := e.Attributes().Get(id); ok {
				d.id = it.idOrDigest(scalar(v))
			}
			if v, ok := e.Attributes().Get(score_); ok {
				d.score = score(valueOf(v))
			}
			if v, ok := e.Attributes().Get(content); ok {
				d.content = valueOf(v)
			}
			list = append(list, d)
		}
		return documents{list: list, answered: true, ok: len(list) > 0}
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
			found.list = append(found.list, document{id: documentOf(it, e).id, content: e.opened()})
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
