// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

// The attributes by which an application says what conventions have no
// attribute for. They win over the rules of the configuration.
const (
	ownReadID              = carrier.ReadIDAttribute
	ownExecutionID         = "readtrail.execution.id"
	ownCorrelationID       = "readtrail.correlation.id"
	ownStepID              = "readtrail.step.id"
	ownRequestID           = "readtrail.request.id"
	ownEventID             = "readtrail.event.id"
	ownEdgeType            = "readtrail.edge.type"
	ownActionID            = "readtrail.action.id"
	ownSystem              = "readtrail.source.system"
	ownKind                = "readtrail.source.kind"
	ownToolVersion         = "readtrail.tool.version"
	ownRecordRefs          = "readtrail.record_refs"
	ownSourceRecordVersion = "readtrail.source.record_version"
	ownAsOf                = "readtrail.source.as_of"
	ownDataBoundary        = "readtrail.data_boundary"
	ownPurpose             = "readtrail.purpose"
	ownContentLocation     = "readtrail.content_location"
	ownDocumentID          = "readtrail.document.id"
	ownDocumentChecksum    = "readtrail.document.checksum_sha256"
	ownDocumentVersion     = "readtrail.document.object_version_id"
	ownDocumentReceivedAt  = "readtrail.document.received_at"
	ownDocumentWithContent = "readtrail.document.with_content"
	ownDocuments           = "readtrail.documents"
	ownIndexID             = "readtrail.retrieval.index_id"
	ownBuildVersion        = "readtrail.retrieval.build_version"
	ownTopK                = "readtrail.retrieval.top_k"
	ownChunks              = "readtrail.retrieval.chunks"
	ownStoreID             = "readtrail.memory.store_id"
	ownMemoryOperation     = "readtrail.memory.operation"
	ownEntries             = "readtrail.memory.entries"

	ownContextID          = "readtrail.context.id"
	ownContextPlanKind    = "readtrail.context.plan.kind"
	ownContextPlanVersion = "readtrail.context.plan.version"
	ownContextPerson      = "readtrail.context.rights.person_ref"
	ownContextRole        = "readtrail.context.rights.agent_role"
	ownContextObjects     = "readtrail.context.objects"
	ownContextEntries     = "readtrail.context.entries"
	ownContextDigest      = "readtrail.context.digest"
	ownContextRanking     = "readtrail.context.selection.ranking"
	ownContextLeftOut     = "readtrail.context.selection.left_out"
	ownContextClaims      = "readtrail.context.claims"
)

// The stable attributes of requirement E8 that an application may set too.
const (
	stableExecutionID = "execution_id"
	stableRequestID   = "request_id"
	stableCallID      = "call_id"
)

// given returns the first of the attributes that is an id which an application
// may give.
func given(it *item, keys ...string) string { return textOf(it, givenID, keys...) }

// givenExecution is givenID for the id of an execution, which has many items.
func (b *before) givenExecution(s string) string {
	if s != "" && s == b.execution {
		return s
	}
	id := givenID(s)
	if id != "" {
		b.execution = id
	}
	return id
}

// ofResource returns an attribute of the resource that has a shape, or "".
func ofResource(it *item, shape func(string) string, key string) string {
	v, ok := it.resource.Get(key)
	if !ok {
		return ""
	}
	return shape(scalar(v))
}

// maxRefs bounds the record refs of one read: naming some as if they were all
// would be worse than no record.
const maxRefs = 1000

// ownRefs reads the record refs that an application gave: one, or several.
func ownRefs(it *item) []string { return refsUnder(it, ownRecordRefs) }

func refsUnder(it *item, key string) []string {
	v, ok := it.get(key)
	if !ok {
		return nil
	}
	if v.Type() != pcommon.ValueTypeSlice {
		return refs([]string{scalar(v)})
	}
	var out []string
	for i := range v.Slice().Len() {
		out = append(out, scalar(v.Slice().At(i)))
	}
	return refs(out)
}

// ownActions reads the ids of the external actions that a tool led to: one, or
// several (requirement D2). Of more than maxRefs it returns maxRefs+1.
func ownActions(it *item) []string {
	return slices.DeleteFunc(refsUnder(it, ownActionID), func(id string) bool { return givenID(id) == "" })
}

// refs leaves out what is no identifier, what would pass for a keyed digest, and
// what is there already. Of more than maxRefs it returns maxRefs+1.
func refs(candidates []string) []string {
	var out []string
	seen := make(map[string]struct{}, min(len(candidates), maxRefs))
	for _, c := range candidates {
		if len(out) > maxRefs {
			break
		}
		if !record.ValidRecordRef(identifier(c)) {
			continue
		}
		if _, repeated := seen[c]; !repeated {
			seen[c] = struct{}{}
			out = append(out, c)
		}
	}
	return out
}

// ownContent are those of the attributes that hold content, or names of what a
// source holds.
var ownContent = []string{ownDocuments, ownChunks, ownEntries, ownContextPerson, ownContextObjects, ownContextEntries, ownContextClaims}

// ownContext are those that tell what went into a model call.
var ownContext = []string{ownContextID, ownContextEntries, ownContextDigest, ownContextObjects, ownContextClaims}

// namedDocument is a document as somebody names it. Its withContent is nil if
// nobody said whether the read brought it or only named it.
type namedDocument struct {
	record.Document
	withContent *bool
}

// ownDocumentsOf returns the documents that an application says it read: the
// one that has attributes of its own, and those of the list.
func ownDocumentsOf(it *item) []namedDocument {
	var out []namedDocument
	if id := given(it, ownDocumentID); id != "" {
		out = append(out, namedDocument{record.Document{
			DocumentID:      id,
			ChecksumSHA256:  checksum(it.text(ownDocumentChecksum)),
			ObjectVersionID: textOf(it, identifier, ownDocumentVersion),
			ReceivedAt:      timeOf(it.text(ownDocumentReceivedAt)),
		}, it.value(ownDocumentWithContent).bool()})
	}
	list := it.value(ownDocuments)
	elements, isList := list.elements(maxDocuments)
	if _, isOne := list.object(); isOne {
		elements, isList = []value{list}, true
	}
	if !isList {
		return out
	}
	for _, e := range elements {
		members, isObject := e.object()
		if !isObject {
			members = map[string]value{"id": e}
		}
		id := pick(value.isText, in([]string{"id", "document_id"}, members))
		out = append(out, namedDocument{record.Document{
			DocumentID:      it.idOrDigest(id.text()),
			ChecksumSHA256:  checksum(members["checksum_sha256"].text()),
			ObjectVersionID: identifier(members["object_version_id"].text()),
			ReceivedAt:      timeOf(members["received_at"].text()),
		}, members["with_content"].bool()})
	}
	return out
}

// checksum returns a SHA-256 as 64 hex digits in lower case, or "". It reads
// hex digits, alone or as a digest of contract 2, and base64, as object storage
// spells the checksum of an object.
func checksum(s string) string {
	s = strings.TrimPrefix(s, "sha256:")
	sum, err := hex.DecodeString(s)
	if len(s) == base64.StdEncoding.EncodedLen(sha256.Size) {
		sum, err = base64.StdEncoding.Strict().DecodeString(s)
	}
	if err != nil || len(sum) != sha256.Size {
		return ""
	}
	return hex.EncodeToString(sum)
}

var sourceKinds = []record.SourceKind{
	record.SourceAPI, record.SourceDatabase, record.SourceDocument, record.SourceIndex,
	record.SourceMemory, record.SourceWeb, record.SourceOther,
}

func sourceKind(s string) record.SourceKind {
	if k := record.SourceKind(s); slices.Contains(sourceKinds, k) {
		return k
	}
	return ""
}
