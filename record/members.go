// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

// This file names the members of bodies that telemetry gives, and of those of the journal
// itself, in the order of RFC 8785.

func (r *Read) write(w *writer) {
	w.strings("action_ids", r.ActionIDs)
	w.basis("basis", r.Basis)
	if r.Boundary != nil {
		w.member("boundary", r.Boundary)
	}
	w.member("capture", &r.Capture)
	w.unlessEmpty("correlation", &r.Correlation)
	if r.Documents != nil {
		list(w, "documents", r.Documents)
	}
	w.given("event_id", r.EventID)
	w.string("event_type", r.EventType)
	w.string("execution_id", r.ExecutionID)
	if r.Memory != nil {
		w.member("memory", r.Memory)
	}
	w.unlessEmpty("observed_by", &r.ObservedBy)
	w.time("occurred_at", r.OccurredAt)
	w.string("read_id", r.ReadID)
	w.unlessEmpty("request", &r.Request)
	w.member("response", &r.Response)
	w.member("retention", &r.Retention)
	if r.Retrieval != nil {
		w.member("retrieval", r.Retrieval)
	}
	w.member("source", &r.Source)
	w.given("tool_call_id", r.ToolCallID)
}

func (j *Journal) write(w *writer) {
	w.unlessEmpty("correlation", &j.Correlation)
	w.detail("detail", j.Detail)
	j.Header.writeRest(w)
}

func (l *Lineage) write(w *writer) {
	w.unlessEmpty("correlation", &l.Correlation)
	l.Header.writeRest(w)
}

// writeRest writes what of a header follows its correlation.
func (h *Header) writeRest(w *writer) {
	w.given("event_id", h.EventID)
	w.string("event_type", h.EventType)
	w.unlessEmpty("observed_by", &h.ObservedBy)
	w.time("occurred_at", h.OccurredAt)
}

func (c *Correlation) write(w *writer) {
	w.given("call_id", c.CallID)
	w.given("correlation_id", c.CorrelationID)
	w.given("execution_id", c.ExecutionID)
	w.given("parent_event_id", c.ParentEventID)
	w.given("parent_span_id", c.ParentSpanID)
	w.given("request_id", c.RequestID)
	w.given("span_id", c.SpanID)
	w.given("step_id", c.StepID)
	w.given("trace_id", c.TraceID)
}

func (o *ObservedBy) write(w *writer) {
	w.given("dialect", o.Dialect)
	w.given("id_problem", string(o.IDProblem))
	if o.ReceivedContext != nil {
		w.member("received_context", o.ReceivedContext)
	}
	w.given("sampling", o.Sampling)
	w.given("scope_name", o.ScopeName)
	w.given("scope_version", o.ScopeVersion)
	w.given("signal", string(o.Signal))
	w.given("upstream_context_source", o.UpstreamContextSource)
}

func (c *ReceivedContext) write(w *writer) {
	w.given("parent_span_id", c.ParentSpanID)
	w.given("trace_id", c.TraceID)
}

func (s *Source) write(w *writer) {
	w.string("kind", string(s.Kind))
	w.given("system", s.System)
	w.given("tool_id", s.ToolID)
	w.given("tool_version", s.ToolVersion)
}

func (r *Request) write(w *writer) {
	w.given("arguments_canonicalization", r.ArgumentsCanonicalization)
	w.given("arguments_digest", r.ArgumentsDigest)
	w.number("arguments_size", r.ArgumentsSize)
	w.strings("record_refs", r.RecordRefs)
}

func (r *Response) write(w *writer) {
	w.time("as_of", r.AsOf)
	w.given("result_canonicalization", r.ResultCanonicalization)
	w.given("result_digest", r.ResultDigest)
	w.number("result_size", r.ResultSize)
	w.given("source_record_version", r.SourceRecordVersion)
	w.string("status", string(r.Status))
}

func (r *Retrieval) write(w *writer) {
	w.given("build_version", r.BuildVersion)
	list(w, "chunks", r.Chunks)
	w.given("index_id", r.IndexID)
	w.given("query_canonicalization", r.QueryCanonicalization)
	w.given("query_digest", r.QueryDigest)
	w.number("query_size", r.QuerySize)
	w.number("top_k", r.TopK)
}

func (c *Chunk) write(w *writer) {
	w.given("content_canonicalization", c.ContentCanonicalization)
	w.given("content_digest", c.ContentDigest)
	w.number("content_size", c.ContentSize)
	w.given("id", c.ID)
	w.given("score", c.Score)
}

func (d *Document) write(w *writer) {
	w.given("checksum_sha256", d.ChecksumSHA256)
	w.string("document_id", d.DocumentID)
	w.given("object_version_id", d.ObjectVersionID)
	w.time("received_at", d.ReceivedAt)
	w.bool("with_content", d.WithContent)
}

func (m *Memory) write(w *writer) {
	list(w, "entries", m.Entries)
	w.given("operation", m.Operation)
	w.given("store_id", m.StoreID)
}

func (e *MemoryEntry) write(w *writer) {
	w.given("content_canonicalization", e.ContentCanonicalization)
	w.given("content_digest", e.ContentDigest)
	w.number("content_size", e.ContentSize)
	w.given("id", e.ID)
	w.time("written_at", e.WrittenAt)
}

func (b *Boundary) write(w *writer) {
	w.string("data_boundary_ref", b.DataBoundaryRef)
	w.string("purpose", b.Purpose)
}

func (r *Retention) write(w *writer) {
	w.given("access_policy_ref", r.AccessPolicyRef)
	w.given("classification", r.Classification)
	w.given("content_location", r.ContentLocation)
	w.string("content_stored", string(r.ContentStored))
	w.given("copy_ref", r.CopyRef)
	if r.Fields != nil {
		list(w, "fields", r.Fields)
	}
	w.string("redaction_profile", r.RedactionProfile)
}

func (f *Field) write(w *writer) {
	w.string("canonicalization", f.Canonicalization)
	w.string("digest", f.Digest)
	w.string("in", f.In)
	w.string("path", f.Path)
	w.number("size", f.Size)
}

func (c *Capture) write(w *writer) {
	w.string("request", string(c.Request))
	w.string("response", string(c.Response))
}

func (s *Span) write(w *writer) {
	w.given("action_id", s.ActionID)
	if s.Agent != nil {
		w.member("agent", s.Agent)
	}
	w.string("class", s.Class)
	w.given("edge_type", string(s.EdgeType))
	if s.Effect != nil {
		w.member("effect", s.Effect)
	}
	w.time("ended_at", s.EndedAt)
	w.string("kind", s.Kind)
	if s.Links != nil {
		list(w, "links", s.Links)
	}
	w.given("model", s.Model)
	w.given("name", s.Name)
	w.given("name_digest", s.NameDigest)
	w.given("parent_span_id", s.ParentSpanID)
	w.given("read_id", s.ReadID)
	w.string("span_id", s.SpanID)
	w.time("started_at", s.StartedAt)
	w.string("status", string(s.Status))
	w.given("tool_call_id", s.ToolCallID)
}

func (l *Link) write(w *writer) {
	w.string("span_id", l.SpanID)
	w.string("trace_id", l.TraceID)
}

func (a *Agent) write(w *writer) {
	w.given("id", a.ID)
	w.given("name", a.Name)
	w.given("version", a.Version)
}

func (e *Effect) write(w *writer) {
	w.given("collection", e.Collection)
	w.given("namespace", e.Namespace)
	w.given("operation", e.Operation)
	w.given("path_template", e.PathTemplate)
	w.given("query_canonicalization", e.QueryCanonicalization)
	w.given("query_capture", string(e.QueryCapture))
	w.given("query_digest", e.QueryDigest)
	w.number("query_size", e.QuerySize)
	if e.Rows != nil {
		w.integer("rows", *e.Rows)
	}
	w.given("status", e.Status)
	w.given("system", e.System)
	w.given("target", e.Target)
}
