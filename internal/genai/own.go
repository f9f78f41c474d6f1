// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
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
	ownIndexID             = "readtrail.retrieval.index_id"
	ownBuildVersion        = "readtrail.retrieval.build_version"
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

// ofResource returns an attribute of the resource that has a shape, or "".
func ofResource(it *item, shape func(string) string, key string) string {
	v, ok := it.resource.Get(key)
	if !ok {
		return ""
	}
	return shape(scalar(v))
}

// maxRefs bounds the record refs of one read.
const maxRefs = 1000

// ownRefs reads the record refs that an application gave: one, or several.
func ownRefs(it *item) []string {
	v, ok := it.get(ownRecordRefs)
	if !ok {
		return nil
	}
	if v.Type() != pcommon.ValueTypeSlice {
		return refs([]string{scalar(v)})
	}
	var out []string
	for i := range min(v.Slice().Len(), maxRefs) {
		out = append(out, scalar(v.Slice().At(i)))
	}
	return refs(out)
}

// refs leaves out what is no identifier and what is there already.
func refs(candidates []string) []string {
	var out []string
	seen := make(map[string]struct{}, len(candidates))
	for _, c := range candidates {
		if identifier(c) == "" || len(out) == maxRefs {
			continue
		}
		if _, repeated := seen[c]; !repeated {
			seen[c] = struct{}{}
			out = append(out, c)
		}
	}
	return out
}

// ownDocument returns the document that an application says it read, or nil.
func ownDocument(it *item) *record.Document {
	id := given(it, ownDocumentID)
	if id == "" {
		return nil
	}
	return &record.Document{
		DocumentID:      id,
		ChecksumSHA256:  checksum(it.text(ownDocumentChecksum)),
		ObjectVersionID: textOf(it, identifier, ownDocumentVersion),
		ReceivedAt:      timeOf(it.text(ownDocumentReceivedAt)),
	}
}

// checksum returns 64 hex digits in lower case, or "".
func checksum(s string) string {
	const digits = 64
	if s = strings.ToLower(s); len(s) != digits || strings.Trim(s, "0123456789abcdef") != "" {
		return ""
	}
	return s
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
