// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"maps"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/record"
)

// This file knows the shapes in which libraries and stores return documents:
// LangChain, LlamaIndex, Haystack, Dify, Chroma, Pinecone, Weaviate, Qdrant,
// Milvus, Elasticsearch and OpenSearch, Azure AI Search, Amazon Bedrock, OpenAI
// file search, Cohere, Vertex AI, and memories such as Mem0 and LangGraph's.
//
// An id, a score and a text are what a name says that a library chose. What
// stands under names that a user chose (metadata, payload, _source) may be a
// text and is neither id nor score. A distance is no score: whether more is
// better depends on the metric, which no answer names.

// Names of members under which libraries put what a document consists of, in
// order of preference.
var (
	documentWrappers = []string{
		"documents", "results", "matches", "nodes", "docs", "memories", "records", "result",
		"source_nodes", "source_documents", "retrievalResults", "hits", "points", "objects", "contexts", "value", "data",
		"chunks", "passages", "search_results", "memoryRecordSummaries", "output", "outputs",
	}
	// documentInner hold a document, of which the members around it say more.
	documentInner = []string{"document", "node", "kwargs", "_additional"}
	// documentFields hold what a user stored.
	documentFields   = []string{"_source", "payload", "entity", "properties", "fields"}
	documentMetadata = []string{"metadata", "meta"}
	documentIDs      = []string{
		"chunk_id", "chunkId", "id", "_id", "id_", "uuid", "node_id", "document_id", "documentId", "doc_id", "file_id", "memoryRecordId", "key",
	}
	documentScores   = []string{"score", "relevance_score", "relevanceScore", "similarity", "_score", "@search.score"}
	documentContents = []string{
		"content", "page_content", "pageContent", "text", "chunk", "chunk_text", "document", "memory", "fact", "value",
	}
	documentTimes = []string{"written_at", "updated_at", "updatedAt", "created_at", "createdAt"}
	// Of metadata only what a store or library put there itself.
	metadataIDs      = []string{"chunk_id", "chunkId", "x-amz-bedrock-kb-chunk-id"}
	metadataScores   = []string{"relevance_score", "relevanceScore"}
	metadataContents = []string{"text"} // Pinecone has no other place
)

// maxWrappers bounds the wrappers around a list of documents.
const maxWrappers = 4

// documentsOf reads documents from a value as it is, or from what it carries if
// it is the result of an MCP tool.
func documentsOf(v value) documents {
	list, ok := documentList(v, maxWrappers)
	if !ok {
		list, ok = documentList(mcpPayload(v), maxWrappers)
	}
	return documents{basis: record.BasisUnwrapped, list: list, ok: ok}
}

func documentList(v value, wrappers int) ([]document, bool) {
	if elements, ok := v.elements(maxDocuments); ok {
		return documentsOfElements(elements), true
	}
	members, ok := v.object()
	if !ok || wrappers == 0 {
		return nil, false
	}
	if list, ok := inColumns(members); ok {
		return list, true
	}
	for _, name := range documentWrappers {
		if elements, ok := members[name].elements(maxDocuments); ok {
			return documentsOfElements(elements), true
		}
	}
	if classes, isObject := members["Get"].object(); isObject && len(classes) == 1 { // Weaviate's GraphQL
		for _, class := range classes {
			return documentList(class, wrappers-1)
		}
	}
	// One document alone, unless its content is the parts of a message.
	_, isMessage := members["content"].array()
	if d := documentWith(maps.Clone(members)); d.content.isText() && !isMessage || d.id != "" && d.score != "" {
		return []document{d}, true
	}
	for _, name := range documentWrappers {
		if list, ok := documentList(members[name], wrappers-1); ok {
			return list, true
		}
	}
	return nil, false
}

// documentsOfElements reads a list. Where several searches were asked at once
// there is a list for each.
func documentsOfElements(elements []value) []document {
	var list []document
	for _, e := range elements {
		if inner, ok := e.array(); ok && !isScored(inner) {
			for _, d := range inner {
				list = append(list, documentOf(d))
			}
		} else {
			list = append(list, documentOf(e))
		}
		if len(list) > maxDocuments {
			break
		}
	}
	return list
}

// isScored reports whether an array is a document and a number, as LangChain
// returns what it calls a score, which for some stores is a distance.
func isScored(array []value) bool {
	if len(array) != 2 {
		return false
	}
	_, isObject := array[0].object()
	return isObject && array[1].isNumber()
}

// inColumns reads the answer of Chroma: a list of ids, a list of texts, and so
// on, or lists of such lists where several searches were asked at once.
func inColumns(members map[string]value) ([]document, bool) {
	ids, ok := members["ids"].elements(maxDocuments)
	_, hasTexts := members["documents"]
	_, hasMetadata := members["metadatas"]
	if !ok || !hasTexts && !hasMetadata {
		return nil, false
	}
	texts, ok := column(members["documents"], len(ids))
	metadata, alsoOK := column(members["metadatas"], len(ids))
	if !ok || !alsoOK {
		return nil, false
	}
	var list []document
	for i := range ids {
		if inner, isArray := ids[i].array(); isArray && len(inner) <= maxDocuments {
			found, ok := inColumns(map[string]value{"ids": ids[i], "documents": texts[i], "metadatas": metadata[i]})
			if !ok {
				return nil, false
			}
			list = append(list, found...)
		} else {
			list = append(list, documentWith(map[string]value{"id": ids[i], "document": texts[i], "metadata": metadata[i]}))
		}
		if len(list) > maxDocuments {
			break
		}
	}
	return list, true
}

// column returns the elements of a column, which is as long as the ids or has
// been left out: what belongs to which id is not guessed.
func column(v value, n int) ([]value, bool) {
	if !v.ok {
		return make([]value, n), true
	}
	elements, ok := v.elements(maxDocuments)
	return elements, ok && len(elements) == n
}

func documentOf(v value) document {
	if pair, ok := v.array(); ok && isScored(pair) {
		v = pair[0]
	}
	members, ok := v.object()
	if !ok {
		if _, isString := v.str(); isString {
			return document{content: v}
		}
		return document{}
	}
	return documentWith(members)
}

// documentWith reads a document from its members, which it takes apart.
func documentWith(members map[string]value) document {
	var inner map[string]value
	if name, object := objectIn(members, documentInner); object != nil {
		inner = object
		delete(members, name) // so that it is not taken for the content
	}
	fieldsName, fields := objectIn(members, documentFields)
	_, metadata := objectIn(members, documentMetadata)
	if metadata == nil {
		_, metadata = objectIn(inner, documentMetadata)
	}
	d := document{
		id:        pick(value.isText, in(documentIDs, members, inner), in(metadataIDs, metadata)).text(),
		score:     score(pick(isScore, in(documentScores, members, inner), in(metadataScores, metadata))),
		content:   textIn(pick(isPresent, in(documentContents, members, inner, fields), in(metadataContents, metadata))),
		writtenAt: timeOf(pick(value.isText, in(documentTimes, members, inner, metadata)).text()),
	}
	if fieldsName == "properties" && d.score == "" { // Weaviate, whose metadata is its own
		d.score = score(metadata["score"])
	}
	if !d.content.ok {
		d.content = members[fieldsName]
	}
	return d
}

// choice are objects that may have one of some members.
type choice struct {
	names   []string
	objects []map[string]value
}

func in(names []string, objects ...map[string]value) choice { return choice{names, objects} }

// pick returns the first member that fits.
func pick(fits func(value) bool, choices ...choice) value {
	for _, c := range choices {
		for _, object := range c.objects {
			for _, name := range c.names {
				if v := object[name]; v.ok && fits(v) {
					return v
				}
			}
		}
	}
	return value{}
}

func isPresent(v value) bool { return v.ok }

func isScore(v value) bool { return score(v) != "" }

// objectIn returns the first member of one of the names that is an object.
func objectIn(members map[string]value, names []string) (string, map[string]value) {
	for _, name := range names {
		if object, isObject := members[name].object(); isObject {
			return name, object
		}
	}
	return "", nil
}

// textIn returns the text that content is wrapped around, as parts of messages
// are: an object of a text and its type, or an array of one.
func textIn(v value) value {
	part := v
	if array, ok := v.array(); ok && len(array) == 1 {
		part = array[0]
	}
	if _, isString := part.str(); isString {
		return v
	}
	members, ok := part.object()
	if _, isString := members["text"].str(); !ok || !isString {
		return v
	}
	for name := range members {
		if name != "text" && name != "type" {
			return v
		}
	}
	return members["text"]
}

// array returns the elements of an array that is not text.
func (v value) array() ([]value, bool) {
	if _, isString := v.str(); isString {
		return nil, false
	}
	return v.elements(maxDocuments)
}

// isNumber reports whether the value is a number.
func (v value) isNumber() bool {
	if v.raw != nil {
		return v.raw.Kind() == jsontext.KindNumber
	}
	return v.ok && (v.data.Type() == pcommon.ValueTypeInt || v.data.Type() == pcommon.ValueTypeDouble)
}
