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
// convention tells. Basis records which it was. It fails if the read names more
// records than it may.
func (l *Lifter) attribute(in *lifting, r *record.Read, c *contents) bool {
	rule := in.rule
	pick := in.said

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
	if r.ActionIDs = ownActions(in.item); len(r.ActionIDs) > 0 {
		in.from("action_ids", record.BasisAttribute)
	}
	if len(r.Request.RecordRefs) > maxRefs || len(r.ActionIDs) > maxRefs {
		return false
	}
	if in.keying.refs {
		for i, ref := range r.Request.RecordRefs {
			r.Request.RecordRefs[i] = in.keying.key.Sum(ref)
		}
	}
	r.Response.SourceRecordVersion = pick("response.source_record_version", identifier, ownSourceRecordVersion,
		rule.sourceRecordVersion.text(c, identifier))
	r.Response.AsOf = timeOf(pick("response.as_of", timeText, ownAsOf, rule.asOf.text(c, timeText)))

	in.bound(r, rule)
	r.Retention.ContentLocation = pick("retention.content_location", location, ownContentLocation, rule.contentLocation)
	return true
}

// said returns what the application says, else what a rule says, and notes
// which it was.
func (l *lifting) said(member string, shape func(string) string, key, ruled string) string {
	if s := l.own(member, shape, key); s != "" {
		return s
	}
	if ruled != "" {
		l.from(member, record.BasisRule)
	}
	return ruled
}

// patterns returns what the patterns of a rule are tried on: the names as the
// telemetry has them, so that a rule also finds a source whose id may stand in
// a record as a digest only.
func (l *lifting) patterns() (tool, index, scope string) {
	tool = l.row.pattern(l.item, toolName)
	if index = given(l.item, ownIndexID); index == "" {
		index = l.row.pattern(l.item, indexID)
	}
	if index == "" {
		index = given(l.item, ownStoreID)
	}
	if index == "" {
		index = l.row.pattern(l.item, storeID)
	}
	return tool, index, l.scope.Name()
}

// bound names the data boundary and the purpose that the read ran under. A
// boundary holds for its purpose, so both are from one place: the item, else its
// resource, else the rule. One without the other is left out.
func (l *lifting) bound(r *record.Read, rule *compiledRule) {
	set := func(ref, purpose string, basis record.Basis) bool {
		if ref == "" || purpose == "" {
			return false
		}
		r.Boundary = &record.Boundary{DataBoundaryRef: ref, Purpose: purpose}
		l.from("boundary.data_boundary_ref", basis)
		l.from("boundary.purpose", basis)
		return true
	}
	_ = set(textOf(l.item, identifier, ownDataBoundary), textOf(l.item, name, ownPurpose), record.BasisAttribute) ||
		set(ofResource(l.item, identifier, ownDataBoundary), ofResource(l.item, name, ownPurpose), record.BasisAttribute) ||
		set(rule.boundary.DataBoundaryRef, rule.boundary.Purpose, record.BasisRule)
}

func kindText(s string) string { return string(sourceKind(s)) }
