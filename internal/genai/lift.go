// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// lifting is what is known of an item while its record is built.
type lifting struct {
	*item
	row *compiledRow
	// rule is what the configuration says about the source of a read.
	rule   *compiledRule
	keying keying
	copies copies
	header record.Header
	// traceID and spanID are "" if invalid.
	traceID, spanID string
	status          record.Status
	toolName        string
	toolCallID      string
	indexID         string
	storeID         string
	noted           []note
}

// own returns a value that an application may have set, and notes it.
func (l *lifting) own(member string, shape func(string) string, keys ...string) string {
	s := textOf(l.item, shape, keys...)
	if s != "" {
		l.from(member, record.BasisAttribute)
	}
	return s
}

// execution returns the execution that the application or its framework names.
func (l *lifting) execution() string {
	if id := l.own("execution_id", givenID, ownExecutionID, stableExecutionID); id != "" {
		return id
	}
	if id := ofResource(l.item, givenID, ownExecutionID); id != "" {
		l.from("execution_id", record.BasisAttribute)
		return id
	}
	return l.row.accepted(l.item, executionID, givenID)
}

// call returns the id of the call that a model asked for.
func (l *lifting) call() string {
	if l.toolCallID != "" {
		return l.toolCallID
	}
	return l.own("correlation.call_id", givenID, stableCallID)
}

// correlate fills the header's correlation. An execution that nobody names is
// the trace (contract 3).
func (l *lifting) correlate(parentSpanID string) {
	c := &l.header.Correlation
	c.TraceID, c.SpanID, c.ParentSpanID = l.traceID, l.spanID, parentSpanID
	if c.ExecutionID = l.execution(); c.ExecutionID == "" && l.traceID != "" {
		c.ExecutionID = record.TraceExecution(l.traceID)
	}
	c.CorrelationID = l.own("correlation.correlation_id", givenID, ownCorrelationID)
	if c.CorrelationID == "" {
		c.CorrelationID = l.row.accepted(l.item, conversationID, identifier)
	}
	c.StepID = l.own("correlation.step_id", givenID, ownStepID)
	c.RequestID = l.own("correlation.request_id", givenID, ownRequestID, stableRequestID)
	if c.RequestID == "" {
		c.RequestID = l.row.accepted(l.item, requestID, identifier)
	}
	c.CallID = l.call()
	l.header.EventID = given(l.item, ownEventID)
}

// build makes the read record of an item whose class is a read, except for its
// id, which can depend on the rest. It fails if the read names more documents
// than an entry can hold, or would keep more than a read may.
func (l *Lifter) build(in *lifting) (*record.Read, bool) {
	r := &record.Read{
		Header:     in.header,
		ToolCallID: in.toolCallID,
		Response:   record.Response{Status: in.status},
		Retention:  record.Retention{RedactionProfile: in.rule.profile(l.profile)},
	}
	asked, basis := in.row.find(in.item, arguments)
	arg := content.Digest{State: record.CapturedPlaceholder}
	if uri, secret := in.resource(); !secret || asked.raw != nil || asked.data != uri.data {
		arg = in.digest(asked)
	}
	r.Request.ArgumentsDigest, r.Request.ArgumentsCanonicalization, r.Request.ArgumentsSize = arg.Value, form(arg), arg.Size
	if arg.Value != "" {
		in.from("request.arguments_digest", basis)
	}
	answered, basis := in.row.find(in.item, result)
	if mcpFailed(answered) {
		in.status = record.StatusError
		r.Response.Status = in.status
	}
	res := in.digest(answered)
	r.Response.ResultDigest, r.Response.ResultCanonicalization, r.Response.ResultSize = res.Value, form(res), res.Size
	if res.Value != "" {
		in.from("response.result_digest", basis)
	}
	searched, _ := in.row.find(in.item, query)
	q := in.digest(searched)

	found := in.row.documentsFrom(in.item)
	if in.row.class == ClassTool && in.saysRetrieval() {
		found = documentsOf(in.item, answered)
	}
	if len(found.list) > maxDocuments {
		return nil, false
	}
	r.Capture = record.Capture{Request: state(arg, q), Response: state(res)}
	switch {
	case in.row.class == ClassMemory:
		r.Memory = in.memory(found)
	case in.row.class == ClassRetrieval || in.saysRetrieval():
		var texts []content.Digest
		r.Retrieval, texts = in.retrieval(q, found)
		if r.Capture.Response == record.CapturedNothing && found.answered {
			// Documents without a text say what was found all the same.
			if r.Capture.Response = state(texts...); r.Capture.Response == record.CapturedNothing {
				r.Capture.Response = record.CapturedContent
			}
		}
	}
	if found.cutOff && r.Capture.Response == record.CapturedContent {
		r.Capture.Response = record.CapturedTruncated
	}
	c := &contents{arguments: &tree{value: asked}, result: &tree{value: answered}}
	l.attribute(in, r, c)
	if d := in.document(r.Response.Status); d != nil {
		r.Documents = []record.Document{*d}
	}
	r.EventType = eventTypes[in.readClass()]
	return r, in.retain(r, c)
}

// saysRetrieval reports whether the application says that the item searched an
// index, as it does for a tool that does.
func (l *lifting) saysRetrieval() bool { return given(l.item, ownIndexID) != "" }

// readClass is the class of the read: that of the row, unless the application
// says that a tool read a document or searched an index.
func (l *lifting) readClass() Class {
	switch {
	case given(l.item, ownDocumentID) != "":
		return ClassDocument
	case l.row.class == ClassTool && l.saysRetrieval():
		return ClassRetrieval
	default:
		return l.row.class
	}
}

// digest digests a value as received. Where a dialect writes empty JSON in
// place of content it is a placeholder. What is digested is kept if the rule of
// the source wants a copy of everything.
func (l *lifting) digest(v value) content.Digest {
	if !v.ok {
		return content.Digest{State: record.CapturedNothing}
	}
	d := v.digest(l.cache)
	if l.row.noise {
		d = l.cache.Key().EmptyAsPlaceholder(d)
	}
	if l.rule.retention.content == record.EvidenceCopy {
		l.copies.add(v, d)
	}
	return d
}

func form(d content.Digest) string {
	if d.Value == "" {
		return ""
	}
	return string(d.Form)
}

// state says what was captured of several contents that together are one side
// of a read.
func state(digests ...content.Digest) record.Captured {
	out := record.CapturedNothing
	for _, d := range digests {
		switch d.State {
		case record.CapturedTruncated:
			return record.CapturedTruncated
		case record.CapturedContent:
			out = record.CapturedContent
		case record.CapturedPlaceholder:
			if out == record.CapturedNothing {
				out = record.CapturedPlaceholder
			}
		}
	}
	return out
}

// retrieval describes a search in an index, and returns the digests of the texts
// of what it found.
func (l *lifting) retrieval(q content.Digest, found documents) (*record.Retrieval, []content.Digest) {
	r := &record.Retrieval{
		IndexID:               l.indexID,
		BuildVersion:          l.own("retrieval.build_version", identifier, ownBuildVersion),
		QueryDigest:           q.Value,
		QueryCanonicalization: form(q),
		QuerySize:             q.Size,
		Chunks:                []record.Chunk{},
	}
	if l.saysRetrieval() {
		l.from("retrieval.index_id", record.BasisAttribute)
	}
	top, _ := l.row.find(l.item, topK)
	r.TopK = count(top)
	texts := make([]content.Digest, 0, len(found.list))
	for _, d := range found.list {
		c := l.digest(d.content)
		texts = append(texts, c)
		r.Chunks = append(r.Chunks, record.Chunk{
			ID: d.id, Score: d.score,
			ContentDigest: c.Value, ContentCanonicalization: form(c), ContentSize: c.Size,
		})
	}
	if found.ok { // no chunks with a basis are an answer; without one nobody knows
		l.from("retrieval.chunks", found.basis)
	}
	return r, texts
}

func (l *lifting) memory(found documents) *record.Memory {
	m := &record.Memory{
		StoreID:   l.storeID,
		Operation: l.row.accepted(l.item, memoryOperation, token),
		Entries:   []record.MemoryEntry{},
	}
	for _, d := range found.list {
		c := l.digest(d.content)
		m.Entries = append(m.Entries, record.MemoryEntry{
			ID: d.id, WrittenAt: d.writtenAt,
			ContentDigest: c.Value, ContentCanonicalization: form(c), ContentSize: c.Size,
		})
	}
	if found.ok {
		l.from("memory.entries", found.basis)
	}
	if len(found.list) > 0 {
		return m
	}
	if id := l.row.accepted(l.item, entryID, l.idOrDigest); id != "" {
		m.Entries = append(m.Entries, record.MemoryEntry{ID: id})
	}
	return m
}

// resource returns the URI of the resource that the item read, and whether it
// may hold a credential, so that it has no digest.
func (l *lifting) resource() (uri value, secret bool) {
	uri, _ = l.row.find(l.item, documentURI)
	return uri, uri.ok && uri.raw == nil && telemetry.HoldsCredential(uri.data)
}

// document returns the document that the item read, or nil. A resource is
// named by the digest of its URI, which is as free a text as any, unless the
// application gives it an id. One whose URI has no digest has no name.
func (l *lifting) document(status record.Status) *record.Document {
	d := ownDocument(l.item)
	if d != nil {
		l.from("documents", record.BasisAttribute)
	} else if l.row.class == ClassDocument {
		uri, secret := l.resource()
		if secret || !uri.ok {
			return nil
		}
		id := uri.digest(l.cache).Value
		if id == "" {
			return nil
		}
		d = &record.Document{DocumentID: id}
	}
	if d != nil {
		d.WithContent = status == record.StatusOK
	}
	return d
}
