// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/readtrail/readtrail/internal/content"
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
	// touched is the row of the external system that the item touched.
	touched *compiledRow
	// requestsMCP says that the item is a request which an MCP client sends.
	requestsMCP bool
	header      record.Header
	// traceID and spanID are "" if invalid.
	traceID, spanID string
	status          record.Status
	toolName        string
	toolCallID      string
	noted           []note
	claims          [len(claimable)]record.Basis
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
	if id := l.own("execution_id", l.before.givenExecution, ownExecutionID, stableExecutionID); id != "" {
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
		c.CorrelationID = l.row.accepted(l.item, conversationID, joinID)
	}
	c.StepID = l.own("correlation.step_id", givenID, ownStepID)
	c.RequestID = l.own("correlation.request_id", givenID, ownRequestID, stableRequestID)
	if c.RequestID == "" {
		c.RequestID = l.row.accepted(l.item, requestID, joinID)
	}
	c.CallID = l.call()
	l.header.EventID = given(l.item, ownEventID)
}

// build makes the read record of an item whose class is a read, except for its
// id, which can depend on the rest. It fails if the read names more documents
// than an entry can hold, or would keep more than a read may.
func (l *Lifter) build(in *lifting, r *record.Read) bool {
	in.claim()
	r.Header = in.header
	r.ToolCallID = in.toolCallID
	r.Response.Status = in.status
	r.Retention.RedactionProfile = in.rule.profile(l.profile)
	asked, basis := in.row.find(in.item, arguments)
	arg := content.Digest{State: record.CapturedPlaceholder}
	if uri, secret := in.resource(); !secret || !asked.same(uri) {
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
	c := in.contents(asked, answered)
	q := content.Digest{State: record.CapturedNothing}
	if in.reads(ClassRetrieval) {
		q = in.digest(in.query(c))
	}
	r.Capture = record.Capture{Request: state(arg, q), Response: state(res)}
	if in.reads(ClassRetrieval) {
		found := in.found(c, ClassRetrieval)
		if len(found.list) > maxDocuments {
			return false
		}
		var texts []content.Digest
		r.Retrieval, texts = in.retrieval(q, found, c)
		r.Capture.Response = answeredBy(r.Capture.Response, found, texts)
	}
	if in.reads(ClassMemory) {
		found := in.found(c, ClassMemory)
		if len(found.list) > maxDocuments {
			return false
		}
		r.Memory = in.memory(found, c)
		r.Capture.Response = answeredBy(r.Capture.Response, found, nil)
	}
	var ok bool
	if r.Documents, ok = in.documents(c, in.status); !ok {
		return false
	}
	if !l.attribute(in, r, c) {
		return false
	}
	r.EventType = eventTypes[in.readClass()]
	return in.retain(r, c)
}

// contents returns what was asked and answered, in the form that rules read.
func (l *lifting) contents(asked, answered value) *contents {
	p := l.paper
	p.arguments.value, p.result.value = asked, answered
	p.contents.arguments, p.contents.result = &p.arguments, &p.result
	return &p.contents
}

// answeredBy says what was captured of the answer, given what was captured of
// it as a whole and the documents that it held.
func answeredBy(whole record.Captured, found documents, texts []content.Digest) record.Captured {
	switch {
	case whole == record.CapturedContent && found.cutOff:
		return record.CapturedTruncated
	case whole != record.CapturedNothing || !found.answered:
		return whole
	}
	if texts := state(texts...); texts != record.CapturedNothing {
		return texts
	}
	return record.CapturedContent // documents without a text say what was found all the same
}

// digest digests a value, and keeps it if the rule of the source wants a copy
// of everything.
func (l *lifting) digest(v value) content.Digest {
	d := l.digestAlone(v)
	if l.rule.retention.content == record.EvidenceCopy {
		l.copies.add(v, d)
	}
	return d
}

// digestAlone digests a value as received. Where a dialect writes empty JSON in
// place of content it is a placeholder.
func (l *lifting) digestAlone(v value) content.Digest {
	if !v.ok {
		return content.Digest{State: record.CapturedNothing}
	}
	d := v.digest(l.cache)
	if l.row.noise {
		d = l.cache.Key().EmptyAsPlaceholder(d)
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
func (l *lifting) retrieval(q content.Digest, found documents, c *contents) (*record.Retrieval, []content.Digest) {
	r := &record.Retrieval{
		IndexID:               l.index(c),
		BuildVersion:          l.said("retrieval.build_version", identifier, ownBuildVersion, l.rule.retrieval.buildVersion.text(c, identifier)),
		QueryDigest:           q.Value,
		QueryCanonicalization: form(q),
		QuerySize:             q.Size,
		Chunks:                []record.Chunk{},
	}
	if r.TopK = textCount(l.said("retrieval.top_k", countText, ownTopK, l.rule.retrieval.topK.text(c, countText))); r.TopK == 0 {
		top, _ := l.row.find(l.item, topK)
		r.TopK = count(top)
	}
	texts := make([]content.Digest, 0, len(found.list))
	for _, d := range found.list {
		c := l.digest(d.content)
		texts = append(texts, c)
		r.Chunks = append(r.Chunks, record.Chunk{
			ID: l.idOrDigest(d.id), Score: d.score,
			ContentDigest: c.Value, ContentCanonicalization: form(c), ContentSize: c.Size,
		})
	}
	if found.ok { // no chunks with a basis are an answer; without one nobody knows
		l.from("retrieval.chunks", found.basis)
	}
	return r, texts
}

func (l *lifting) memory(found documents, c *contents) *record.Memory {
	m := &record.Memory{
		StoreID:   l.store(c),
		Operation: l.said("memory.operation", token, ownMemoryOperation, l.rule.memory.operation.text(c, token)),
		Entries:   []record.MemoryEntry{},
	}
	if m.Operation == "" {
		m.Operation = l.row.accepted(l.item, memoryOperation, token)
	}
	for _, d := range found.list {
		c := l.digest(d.content)
		m.Entries = append(m.Entries, record.MemoryEntry{
			ID: l.idOrDigest(d.id), WrittenAt: d.writtenAt,
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
