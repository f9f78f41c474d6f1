// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// Keys under which instrumentations of vector databases put what a match
// consists of, in order of preference. A distance is no score: whether near is
// much or little differs from metric to metric.
var (
	matchIDs      = []string{"db.query.result.id", "db.search.result.id", "_id", "id"}
	matchScores   = []string{"db.query.result.score", "db.search.result.score", "_score", "score"}
	matchContents = []string{"db.query.result.document", "db.search.result.entity", "db.query.result.metadata"}
	matchOthers   = []string{
		"db.query.result.distance", "db.search.result.distance", "db.query.result.vector", "db.search.query.id", "distance",
	}
	// noContents are the keys that are no fields of the match itself.
	noContents = slices.Concat(matchIDs, matchScores, matchOthers)
)

// matchEvents reads matches of which each is a span event of one of the names.
// Where a library writes a match's own fields as attributes, they are its
// content as a whole.
func matchEvents(events ...string) documentSource {
	return documentSource{keys: matchContents, find: func(it *item) documents {
		found := documents{answered: true}
		for _, e := range it.events {
			if !slices.Contains(events, e.Name()) {
				continue
			}
			d, reassembled := matchOf(e)
			if reassembled {
				found.basis = record.BasisReassembled
			}
			found.list = append(found.list, d)
			found.ok = true
		}
		return found
	}}
}

func matchOf(e ptrace.SpanEvent) (d document, reassembled bool) {
	pick := func(keys []string) value {
		for _, key := range keys {
			if v, ok := e.Attributes().Get(key); ok && v.Type() != pcommon.ValueTypeEmpty && v.AsString() != "" {
				return valueOf(v)
			}
		}
		return value{}
	}
	d = document{id: pick(matchIDs).text(), score: score(pick(matchScores)), content: pick(matchContents)}
	if d.content.ok {
		return d, false
	}
	d.content = attributesOf(e, noContents)
	return d, d.content.ok
}

// matchAttributes reads matches of which each part is an attribute of its own:
// prefix, index, a dot, then id, score, document or metadata. The metadata of
// a match can also be the attributes of a span event: event, index, a dot and
// metadata.
func matchAttributes(prefix, event string) documentSource {
	return documentSource{keys: []string{prefix + "**"}, find: func(it *item) documents {
		byIndex := map[int]*document{}
		for key, v := range it.attrs.All() {
			index, leaf, ok := indexed(key, prefix, ".")
			if !ok {
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
				d.id = valueOf(v).text()
			case "score":
				d.score = score(valueOf(v))
			case "document":
				d.content = valueOf(v)
			case "metadata":
				if !d.content.ok {
					d.content = valueOf(v)
				}
			}
		}
		for _, e := range it.events {
			index, leaf, ok := indexed(e.Name(), event, ".")
			if d := byIndex[index]; ok && leaf == "metadata" && d != nil && !d.content.ok {
				d.content = attributesOf(e, nil)
			}
		}
		var list []document
		for _, d := range inOrder(byIndex) {
			list = append(list, *d)
		}
		return documents{list: list, answered: true, ok: len(byIndex) > 0}
	}}
}

// maxCounted bounds the documents that a number alone stands for, so that a
// short span makes no long entry. Of more nothing is known.
const maxCounted = 256

// counted reads how many documents were found, of which nothing else is
// recorded.
func counted(keys ...string) documentSource {
	return documentSource{find: func(it *item) documents {
		for _, key := range keys {
			if n := count(it.value(key)); 0 < n && n <= maxCounted {
				return documents{list: make([]document, n), ok: true}
			}
		}
		return documents{}
	}}
}
