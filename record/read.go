// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "slices"

// The event types of read records (contract 9).
const (
	EventReadTool      = "read.tool"
	EventReadDocument  = "read.document"
	EventReadRetrieval = "read.retrieval"
	EventReadMemory    = "read.memory"
)

// Read is the body of a read_record: one observation of one read (requirement
// A1, contract 9). It names source, request, response, boundary and retention
// and holds digests, never content.
type Read struct {
	Header      `json:",inline"`
	ReadID      string     `json:"read_id"`
	ExecutionID string     `json:"execution_id"`
	ToolCallID  string     `json:"tool_call_id,omitzero"`
	Source      Source     `json:"source"`
	Request     Request    `json:"request,omitzero"`
	Response    Response   `json:"response"`
	Retrieval   *Retrieval `json:"retrieval,omitzero"`
	Documents   []Document `json:"documents,omitzero"`
	Memory      *Memory    `json:"memory,omitzero"`
	Boundary    *Boundary  `json:"boundary,omitzero"`
	Retention   Retention  `json:"retention"`
	Capture     Capture    `json:"capture"`
	ActionIDs   []string   `json:"action_ids,omitzero"`
	// Basis says for a member path ("source.system") where its value came
	// from; a member without an entry was read from the convention's own
	// attribute.
	Basis map[string]Basis `json:"basis,omitzero"`
}

// SourceKind is the kind of system that was read.
type SourceKind string

// The source kinds of contract 9.
const (
	SourceAPI      SourceKind = "api"
	SourceDatabase SourceKind = "database"
	SourceDocument SourceKind = "document"
	SourceIndex    SourceKind = "index"
	SourceMemory   SourceKind = "memory"
	SourceWeb      SourceKind = "web"
	SourceOther    SourceKind = "other"
)

// Source names the system that was read and the tool that read it.
type Source struct {
	System string     `json:"system,omitzero"`
	Kind   SourceKind `json:"kind"`
	// ToolID is the tool's name as the model called it.
	ToolID      string `json:"tool_id,omitzero"`
	ToolVersion string `json:"tool_version,omitzero"`
}

// Request is what was asked.
type Request struct {
	ArgumentsDigest           string `json:"arguments_digest,omitzero"`
	ArgumentsCanonicalization string `json:"arguments_canonicalization,omitzero"`
	ArgumentsSize             int64  `json:"arguments_size,omitzero"`
	// RecordRefs are identifiers, or keyed digests of identifiers if the
	// configuration says so.
	RecordRefs []string `json:"record_refs,omitzero"`
}

// Status is the outcome of a read as the telemetry told it.
type Status string

// The statuses of contract 9.
const (
	StatusOK      Status = "ok"
	StatusError   Status = "error"
	StatusUnknown Status = "unknown"
)

// Response is what was answered.
type Response struct {
	Status                 Status `json:"status"`
	ResultDigest           string `json:"result_digest,omitzero"`
	ResultCanonicalization string `json:"result_canonicalization,omitzero"`
	ResultSize             int64  `json:"result_size,omitzero"`
	SourceRecordVersion    string `json:"source_record_version,omitzero"`
	AsOf                   Time   `json:"as_of,omitzero"`
}

// Retrieval describes a read from an index (requirement A2).
type Retrieval struct {
	IndexID               string  `json:"index_id,omitzero"`
	BuildVersion          string  `json:"build_version,omitzero"`
	QueryDigest           string  `json:"query_digest,omitzero"`
	QueryCanonicalization string  `json:"query_canonicalization,omitzero"`
	QuerySize             int64   `json:"query_size,omitzero"`
	TopK                  int64   `json:"top_k,omitzero"`
	Chunks                []Chunk `json:"chunks"`
}

// Chunk is one passage that a retrieval returned, in the order returned.
type Chunk struct {
	ID string `json:"id,omitzero"`
	// Score is the shortest decimal that reads back to the same value.
	Score                   string `json:"score,omitzero"`
	ContentDigest           string `json:"content_digest,omitzero"`
	ContentCanonicalization string `json:"content_canonicalization,omitzero"`
	ContentSize             int64  `json:"content_size,omitzero"`
}

// Document is one document that the step received.
type Document struct {
	DocumentID string `json:"document_id"`
	// ChecksumSHA256 is 64 lowercase hex digits without "sha256:".
	ChecksumSHA256  string `json:"checksum_sha256,omitzero"`
	ObjectVersionID string `json:"object_version_id,omitzero"`
	ReceivedAt      Time   `json:"received_at,omitzero"`
	WithContent     bool   `json:"with_content"`
}

// Memory describes an access to an agent's memory.
type Memory struct {
	StoreID string `json:"store_id,omitzero"`
	// Operation is the operation as the convention names it (search_memory,
	// upsert_memory, ...), so that a write is never taken for a read.
	Operation string        `json:"operation,omitzero"`
	Entries   []MemoryEntry `json:"entries"`
}

// MemoryEntry is one entry of a memory.
type MemoryEntry struct {
	ID                      string `json:"id,omitzero"`
	WrittenAt               Time   `json:"written_at,omitzero"`
	ContentDigest           string `json:"content_digest,omitzero"`
	ContentCanonicalization string `json:"content_canonicalization,omitzero"`
	ContentSize             int64  `json:"content_size,omitzero"`
}

// Boundary names the data boundary and the purpose that the read ran under.
type Boundary struct {
	DataBoundaryRef string `json:"data_boundary_ref"`
	Purpose         string `json:"purpose"`
}

// ContentStored says what was kept of the content (requirement A6).
type ContentStored string

// The choices of contract 9. A read of which nothing could be kept says
// digest_only, whatever its source's rule wants.
const (
	// DigestOnly: the journal holds digests and the source keeps the content.
	DigestOnly ContentStored = "digest_only"
	// Fields: an evidence store holds the values that Retention.Fields names.
	Fields ContentStored = "fields"
	// EvidenceCopy: an evidence store holds the bytes of every digest of
	// arguments, result, query, chunks and memory entries.
	EvidenceCopy ContentStored = "evidence_copy"
)

// Retention says what was kept of the content and where the rest can be found.
type Retention struct {
	ContentStored   ContentStored `json:"content_stored"`
	ContentLocation string        `json:"content_location,omitzero"`
	// Fields are the values that were kept one by one.
	Fields []Field `json:"fields,omitzero"`
	// CopyRef is the id of the evidence store that holds what was kept. Each
	// object in it is found by the record's scope and its digest.
	CopyRef string `json:"copy_ref,omitzero"`
	// Classification and AccessPolicyRef are the source's and hold for the
	// copies too. Both are there if content was kept.
	Classification  string `json:"classification,omitzero"`
	AccessPolicyRef string `json:"access_policy_ref,omitzero"`
	// RedactionProfile is the mode, the version of the tables and, if a rule of
	// the configuration matched, its name: strict/2/crm.
	RedactionProfile string `json:"redaction_profile"`
}

// The sides of a read that a kept value can be from.
const (
	FieldInArguments = "arguments"
	FieldInResult    = "result"
)

// Field is one value that was kept of a read.
type Field struct {
	// Path is the RFC 9535 path as the configuration has it. Names of members
	// that it does not spell out are content and stand nowhere, so that several
	// values of one path are told apart by their order only: that of their
	// normalized paths, indices as numbers and names by bytes.
	Path string `json:"path"`
	// In is arguments or result.
	In               string `json:"in"`
	Digest           string `json:"digest"`
	Canonicalization string `json:"canonicalization"`
	// Size is in bytes, rounded up to a multiple of 64 if the digest is keyed.
	Size int64 `json:"size,omitzero"`
}

// Uncheckable reports whether nobody can be sure to find the content again of
// which the read holds digests only: its version or the time as of which it was
// read is missing, or where it is (requirement A6).
func (r *Read) Uncheckable() bool {
	return r.Retention.ContentStored == DigestOnly && (!r.versioned() || r.Retention.ContentLocation == "")
}

// versioned reports whether the record says in which version the content was: by
// the source's record version or as-of time, else by what requirement A2 has in
// their place: of an index its build, of documents the version of each object,
// of memory entries when each was written.
func (r *Read) versioned() bool {
	switch {
	case r.Response.SourceRecordVersion != "", !r.Response.AsOf.IsZero():
		return true
	case r.Retrieval != nil:
		return r.Retrieval.BuildVersion != ""
	case r.Memory != nil:
		unknown := func(e MemoryEntry) bool { return e.ID == "" || e.WrittenAt.IsZero() }
		return len(r.Memory.Entries) > 0 && !slices.ContainsFunc(r.Memory.Entries, unknown)
	}
	return len(r.Documents) > 0 && !slices.ContainsFunc(r.Documents, func(d Document) bool { return d.ObjectVersionID == "" })
}

// Captured says whether telemetry carried a content at all (requirement A4).
type Captured string

// The capture states of contract 9.
const (
	CapturedContent     Captured = "captured"
	CapturedNothing     Captured = "not_captured"
	CapturedPlaceholder Captured = "placeholder"
	CapturedTruncated   Captured = "truncated"
)

// Capture is the capture state of request and response.
type Capture struct {
	Request  Captured `json:"request"`
	Response Captured `json:"response"`
}

// Basis says where a member's value came from.
type Basis string

// The bases of contract 9.
const (
	BasisAttribute   Basis = "attribute"
	BasisRule        Basis = "rule"
	BasisUnwrapped   Basis = "unwrapped"
	BasisReassembled Basis = "reassembled"
)
