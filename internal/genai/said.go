// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// This file puts together what the application says of documents, indexes and
// memories, what the configuration says of them, and what the convention tells,
// in this order.

// claimable are the classes of read that somebody may say a tool is.
var claimable = [...]Class{ClassDocument, ClassRetrieval, ClassMemory}

// claim notes who says that a tool is a read of these classes.
func (l *lifting) claim() {
	if l.row.class != ClassTool {
		return
	}
	l.claims = [...]record.Basis{
		claimedBy(given(l.item, ownDocumentID) != "" || hasAny(l.item, ownDocuments), l.rule.documents.given),
		claimedBy(given(l.item, ownIndexID) != "" || hasAny(l.item, ownChunks), l.rule.retrieval.given),
		claimedBy(given(l.item, ownStoreID) != "" || hasAny(l.item, ownEntries), l.rule.memory.given),
	}
}

func claimedBy(application, rule bool) record.Basis {
	switch {
	case application:
		return record.BasisAttribute
	case rule:
		return record.BasisRule
	default:
		return ""
	}
}

// readClass is the class of the read: that of the row, unless somebody says
// that a tool read documents, searched an index or accessed a memory.
func (l *lifting) readClass() Class {
	for _, who := range []record.Basis{record.BasisAttribute, record.BasisRule} {
		if i := slices.Index(l.claims[:], who); i >= 0 {
			return claimable[i]
		}
	}
	return l.row.class
}

// reads reports whether the read is of a class, perhaps among others: a tool
// can search an index and bring documents.
func (l *lifting) reads(class Class) bool {
	i := slices.Index(claimable[:], class)
	return l.row.class == class || l.claims[i] != ""
}

// index returns the id of the index that was searched.
func (l *lifting) index(c *contents) string {
	id := l.said("retrieval.index_id", givenID, ownIndexID, l.rule.retrieval.indexID.text(c, l.idOrDigest))
	if id == "" {
		id = l.row.accepted(l.item, indexID, l.idOrDigest)
	}
	return id
}

// store returns the id of the memory.
func (l *lifting) store(c *contents) string {
	id := l.said("memory.store_id", givenID, ownStoreID, l.rule.memory.storeID.text(c, l.idOrDigest))
	if id == "" {
		id = l.row.accepted(l.item, storeID, l.idOrDigest)
	}
	return id
}

// query returns the text of a search.
func (l *lifting) query(c *contents) value {
	if ruled := l.rule.retrieval.query.part(c); ruled.ok && l.reads(ClassRetrieval) {
		l.from("retrieval.query_digest", record.BasisRule)
		return ruled
	}
	searched, _ := l.row.find(l.item, query)
	return searched
}

// found returns the chunks of a retrieval or the entries of a memory.
func (l *lifting) found(c *contents, class Class) documents {
	own, ruled := ownChunks, l.rule.retrieval.chunks
	if class == ClassMemory {
		own, ruled = ownEntries, l.rule.memory.entries
	}
	if found := documentsOf(l.value(own)); found.ok {
		found.basis, found.answered = record.BasisAttribute, true
		return found
	}
	if found := ruled.found(c); found.ok {
		return found
	}
	if l.row.class == ClassTool {
		return documentsOf(c.result.value)
	}
	return l.row.documentsFrom(l.item)
}

// resource returns the URI of the resource that the item read, and whether it
// may hold a credential, so that it has no digest.
func (l *lifting) resource() (uri value, secret bool) {
	uri, _ = l.row.find(l.item, documentURI)
	if s, isString := uri.str(); isString && uri.raw != nil {
		uri = valueOf(pcommon.NewValueStr(s)) // a part of JSON, to be looked at as any other
	}
	return uri, uri.ok && uri.raw == nil && telemetry.HoldsCredential(uri.data)
}

// documents returns the documents that the item read. A resource is named by
// the digest of its URI, which is as free a text as any, unless somebody gives it
// an id. One whose URI has no digest has no name. They are not ok if there are
// more than an entry can hold.
//
// A document is with content if the read did not fail and nobody says that it
// was only named: telemetry that leaves content out says nothing of what the
// agent received.
func (l *lifting) documents(c *contents, status record.Status) ([]record.Document, bool) {
	named, basis := ownDocumentsOf(l.item), record.BasisAttribute
	if len(named) == 0 && l.rule.documents.given {
		named, basis = l.rule.documents.named(l.item, c), record.BasisRule
	}
	if len(named) > maxDocuments {
		return nil, false
	}
	var out []record.Document
	seen := make(map[record.Document]struct{}, len(named))
	for _, d := range named {
		d.WithContent = status == record.StatusOK
		if d.withContent != nil {
			d.WithContent = *d.withContent && status != record.StatusError
		}
		if _, repeated := seen[d.Document]; repeated || d.DocumentID == "" {
			continue
		}
		seen[d.Document] = struct{}{}
		out = append(out, d.Document)
	}
	if len(out) > 0 {
		l.from("documents", basis)
		return out, true
	}
	if uri, secret := l.resource(); l.row.class == ClassDocument && uri.ok && !secret {
		if id := uri.digest(l.cache).Value; id != "" {
			out = []record.Document{{DocumentID: id, WithContent: status == record.StatusOK}}
		}
	}
	return out, true
}
