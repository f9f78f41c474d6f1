// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

// defaultKinds are the kinds of source of the classes of read, if neither
// application nor configuration says what it is.
var defaultKinds = map[Class]record.SourceKind{
	ClassTool:      record.SourceAPI,
	ClassRetrieval: record.SourceIndex,
	ClassMemory:    record.SourceMemory,
	ClassDocument:  record.SourceDocument,
}

// attribute says which source was read and under what boundary: what the
// application set, else what the first matching rule says, else what the
// convention tells. Basis records which it was.
func (l *Lifter) attribute(in *lifting, r *record.Read, c *contents) {
	index := in.indexID
	if index == "" {
		index = in.storeID
	}
	rule := l.ruleFor(in.toolName, index, in.scope.Name())
	pick := func(member string, shape func(string) string, key, ruled string) string {
		if s := in.own(member, shape, key); s != "" {
			return s
		}
		if ruled != "" {
			in.from(member, record.BasisRule)
		}
		return ruled
	}

	r.Source.ToolID = in.toolName
	r.Source.System = pick("source.system", identifier, ownSystem, rule.system)
	kind := pick("source.kind", kindText, ownKind, string(rule.kind))
	if r.Source.Kind = record.SourceKind(kind); kind == "" {
		r.Source.Kind = defaultKinds[in.readClass()]
	}
	r.Source.ToolVersion = pick("source.tool_version", identifier, ownToolVersion, rule.toolVersion.text(c, identifier))
	if r.Source.ToolVersion == "" {
		r.Source.ToolVersion = in.row.accepted(in.item, toolVersion, version)
	}

	if r.Request.RecordRefs = ownRefs(in.item); len(r.Request.RecordRefs) > 0 {
		in.from("request.record_refs", record.BasisAttribute)
	} else {
		var candidates []string
		for _, ref := range rule.recordRefs {
			candidates = append(candidates, ref.texts(c)...)
		}
		if r.Request.RecordRefs = refs(candidates); len(r.Request.RecordRefs) > 0 {
			in.from("request.record_refs", record.BasisRule)
		}
	}
	r.Response.SourceRecordVersion = pick("response.source_record_version", identifier, ownSourceRecordVersion,
		rule.sourceRecordVersion.text(c, identifier))
	r.Response.AsOf = timeOf(pick("response.as_of", timeText, ownAsOf, rule.asOf.text(c, timeText)))

	in.bound(r, rule, pick)
	r.Retention.ContentLocation = pick("retention.content_location", label, ownContentLocation, rule.contentLocation)
}

// bound names the data boundary and the purpose, both or neither.
func (l *lifting) bound(r *record.Read, rule *compiledRule, pick func(string, func(string) string, string, string) string) {
	const refMember, purposeMember = "boundary.data_boundary_ref", "boundary.purpose"
	b := record.Boundary{
		DataBoundaryRef: pick(refMember, identifier, ownDataBoundary, rule.boundary.DataBoundaryRef),
		Purpose:         pick(purposeMember, label, ownPurpose, rule.boundary.Purpose),
	}
	if b.DataBoundaryRef == "" || b.Purpose == "" {
		delete(l.basis, refMember)
		delete(l.basis, purposeMember)
		return
	}
	r.Boundary = &b
}

func kindText(s string) string { return string(sourceKind(s)) }
