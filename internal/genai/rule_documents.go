// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"

	"github.com/theory/jsonpath"

	"github.com/readtrail/readtrail/record"
)

// DocumentsRule says which documents a read brought. It makes a tool call a
// read.document.
//
// From is the path to a list of documents or to one. With it the paths of the
// other values that look into the same side (arguments or result) start at each
// document; without it they start at the whole, and if they name several
// documents nothing but their ids is known.
type DocumentsRule struct {
	From            Value `mapstructure:"from"`
	DocumentID      Value `mapstructure:"document_id"`
	ChecksumSHA256  Value `mapstructure:"checksum_sha256"`
	ObjectVersionID Value `mapstructure:"object_version_id"`
	ReceivedAt      Value `mapstructure:"received_at"`
	// WithContent is false for a tool that names documents without bringing
	// them, such as one that lists a folder.
	WithContent *bool `mapstructure:"with_content"`

	_ struct{}
}

// RetrievalRule says which index a read searched and what it found. It makes a
// tool call a read.retrieval.
type RetrievalRule struct {
	IndexID      Value `mapstructure:"index_id"`
	BuildVersion Value `mapstructure:"build_version"`
	// Query is a path; its value is digested.
	Query  Value      `mapstructure:"query"`
	TopK   Value      `mapstructure:"top_k"`
	Chunks *ChunkRule `mapstructure:"chunks"`

	_ struct{}
}

// ChunkRule says where the chunks stand. The paths of the other values start at
// each chunk.
type ChunkRule struct {
	From    Value `mapstructure:"from"`
	ID      Value `mapstructure:"id"`
	Score   Value `mapstructure:"score"`
	Content Value `mapstructure:"content"`

	_ struct{}
}

// MemoryRule says which memory a tool accessed. It makes a tool call a
// read.memory.
type MemoryRule struct {
	StoreID Value `mapstructure:"store_id"`
	// Operation is what the tool does, so that a write is not taken for a read.
	Operation Value      `mapstructure:"operation"`
	Entries   *EntryRule `mapstructure:"entries"`

	_ struct{}
}

// EntryRule says where the entries of a memory stand. The paths of the other
// values start at each entry.
type EntryRule struct {
	From      Value `mapstructure:"from"`
	ID        Value `mapstructure:"id"`
	WrittenAt Value `mapstructure:"written_at"`
	Content   Value `mapstructure:"content"`

	_ struct{}
}

// listed are the members of a rule that name many things.
type listed struct {
	documents compiledDocuments
	retrieval compiledRetrieval
	memory    compiledMemory
}

type compiledDocuments struct {
	given                             bool
	from                              compiledValue
	id, checksum, version, receivedAt compiledValue
	withContent                       *bool
}

type compiledRetrieval struct {
	given                              bool
	indexID, buildVersion, query, topK compiledValue
	chunks                             compiledList
}

type compiledMemory struct {
	given              bool
	storeID, operation compiledValue
	entries            compiledList
}

// compiledList says where chunks or entries and their parts stand.
type compiledList struct {
	from, id, score, writtenAt, content compiledValue
}

// values compiles the values of a rule and collects what is wrong with them.
type values struct{ errs []error }

func (c *values) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// shaped checks what the operator wrote: it will stand in a journal, and a value
// that telemetry could not have given would be refused there too.
func (c *values) shaped(path, s, what string, shape func(string) string) {
	if s != "" && shape(s) == "" {
		c.fail("%s: value is no %s", path, what)
	}
}

func (c *values) value(path string, v Value, what string, shape func(string) string) compiledValue {
	out, err := v.compile(path)
	if err != nil {
		c.errs = append(c.errs, err)
	}
	c.shaped(path, v.literal, what, shape)
	return out
}

// place compiles where something stands that is no text of one line. The path
// has to lead there step by step: the part has to be found again as it was
// received, and a path with descendants leads to every level.
func (c *values) place(path string, v Value) compiledValue {
	out := c.value(path, v, "", func(s string) string { return s })
	switch {
	case v.literal != "":
		c.fail("%s: not a place; give {arguments: PATH} or {result: PATH}", path)
	case descends(out.arguments) || descends(out.result):
		c.fail("%s: the path has a .. that leads to every level; name each step", path)
	}
	return out
}

func descends(p *jsonpath.Path) bool {
	if p == nil {
		return false
	}
	for _, segment := range p.Query().Segments() {
		if segment.IsDescendant() {
			return true
		}
	}
	return false
}

// list compiles the place of a list, which can't do without one.
func (c *values) list(path string, v Value) compiledValue {
	if v == (Value{}) {
		c.fail("%s: missing; give {arguments: PATH} or {result: PATH} of the list", path)
	}
	return c.place(path, v)
}

func (c *values) documents(r *DocumentsRule) compiledDocuments {
	if r == nil {
		return compiledDocuments{}
	}
	if r.DocumentID == (Value{}) {
		c.fail("documents.document_id: missing; without an id a document can't be named")
	}
	return compiledDocuments{
		given:       true,
		from:        c.place("documents.from", r.From),
		id:          c.value("documents.document_id", r.DocumentID, identifierText, identifier),
		checksum:    c.value("documents.checksum_sha256", r.ChecksumSHA256, "SHA-256 of 64 hex digits", checksum),
		version:     c.value("documents.object_version_id", r.ObjectVersionID, identifierText, identifier),
		receivedAt:  c.value("documents.received_at", r.ReceivedAt, timeKind, timeText),
		withContent: r.WithContent,
	}
}

func (c *values) retrieval(r *RetrievalRule) compiledRetrieval {
	if r == nil {
		return compiledRetrieval{}
	}
	out := compiledRetrieval{
		given:        true,
		indexID:      c.value("retrieval.index_id", r.IndexID, identifierText, identifier),
		buildVersion: c.value("retrieval.build_version", r.BuildVersion, identifierText, identifier),
		query:        c.place("retrieval.query", r.Query),
		topK:         c.value("retrieval.top_k", r.TopK, "integer from 1 to 2^53-1", countText),
	}
	if l := r.Chunks; l != nil {
		out.chunks = compiledList{
			from:    c.list("retrieval.chunks.from", l.From),
			id:      c.value("retrieval.chunks.id", l.ID, identifierText, identifier),
			score:   c.place("retrieval.chunks.score", l.Score),
			content: c.place("retrieval.chunks.content", l.Content),
		}
	}
	return out
}

func (c *values) memory(r *MemoryRule) compiledMemory {
	if r == nil {
		return compiledMemory{}
	}
	out := compiledMemory{
		given:     true,
		storeID:   c.value("memory.store_id", r.StoreID, identifierText, identifier),
		operation: c.value("memory.operation", r.Operation, "word of letters, digits and _.:/- (at most 64)", token),
	}
	if l := r.Entries; l != nil {
		out.entries = compiledList{
			from:      c.list("memory.entries.from", l.From),
			id:        c.value("memory.entries.id", l.ID, identifierText, identifier),
			writtenAt: c.value("memory.entries.written_at", l.WrittenAt, timeKind, timeText),
			content:   c.place("memory.entries.content", l.Content),
		}
	}
	return out
}

// named returns the documents that a rule names, with those that have no id.
func (d *compiledDocuments) named(it *item, c *contents) []namedDocument {
	elements := []*contents{c}
	if d.from.isPlace() {
		elements, _ = d.from.each(c)
	} else if ids := d.id.texts(c); len(ids) > 1 {
		var out []namedDocument
		for _, id := range ids {
			out = append(out, namedDocument{record.Document{DocumentID: it.idOrDigest(id)}, d.withContent})
		}
		return out
	}
	var out []namedDocument
	for _, e := range elements {
		out = append(out, namedDocument{record.Document{
			DocumentID:      d.id.text(e, it.idOrDigest),
			ChecksumSHA256:  d.checksum.text(e, checksum),
			ObjectVersionID: d.version.text(e, identifier),
			ReceivedAt:      timeOf(d.receivedAt.text(e, timeText)),
		}, d.withContent})
	}
	return out
}

// anyText takes a text whatever its shape.
func anyText(s string) string { return s }

// found returns the chunks or entries that a rule names. They are not ok if its
// path leads nowhere; then a convention may know better.
func (l *compiledList) found(c *contents) documents {
	elements, ok := l.from.each(c)
	found := documents{basis: record.BasisRule, answered: l.from.result != nil, ok: ok}
	for _, e := range elements {
		found.list = append(found.list, document{
			id:        l.id.text(e, anyText),
			score:     score(l.score.part(e)),
			content:   l.content.part(e),
			writtenAt: timeOf(l.writtenAt.text(e, timeText)),
		})
	}
	return found
}
