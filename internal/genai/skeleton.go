// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// maxLinks bounds the links of a span that lineage keeps.
const maxLinks = 32

// skeleton writes what lineage keeps of a span: structure, no content.
func (l *lifting) skeleton(s ptrace.Span, o *Observation) {
	l.requestsMCP = l.sendsMCP()
	out := o.Skeleton
	out.SpanID = l.spanID
	out.ParentSpanID = l.header.Correlation.ParentSpanID
	out.Name = o.SafeName
	out.Kind = kindName(s.Kind())
	out.Class = string(l.row.class)
	out.StartedAt = record.TimeFromUnixNano(uint64(s.StartTimestamp()))
	out.EndedAt = record.TimeFromUnixNano(uint64(s.EndTimestamp()))
	out.Status = l.status
	out.EdgeType = l.edgeType(s)
	if actions := ownActions(l.item); len(actions) == 1 {
		out.ActionID = actions[0]
	}
	out.Links = links(s)
	out.ToolCallID = l.toolCallID
	out.Model = l.row.accepted(l.item, model, name)
	switch {
	case out.Name != "":
	case content.GivesAwayCredential(s.Name()): // which has no digest
		out.Name = content.RedactedName
	default:
		out.NameDigest = l.cache.Key().Sum(s.Name())
	}
	if o.Read != nil {
		out.ReadID = o.Read.ReadID
	}
	agent := record.Agent{
		ID:      l.row.accepted(l.item, agentID, identifier),
		Name:    l.row.accepted(l.item, agentName, name),
		Version: l.row.accepted(l.item, agentVersion, version),
	}
	if agent != (record.Agent{}) {
		out.Agent = &agent
	}
	if l.touched.effect != nil {
		if e := l.touched.effect(l); e != nil && *e != (record.Effect{}) {
			out.Effect = e
		}
	}
}

func links(s ptrace.Span) []record.Link {
	var out []record.Link
	for i := range min(s.Links().Len(), maxLinks) {
		link := record.Link{
			TraceID: record.HexTraceID(s.Links().At(i).TraceID()),
			SpanID:  record.HexSpanID(s.Links().At(i).SpanID()),
		}
		if link.TraceID != "" && link.SpanID != "" {
			out = append(out, link)
		}
	}
	return out
}

// kindName is the span kind as OpenTelemetry's documents spell it.
func kindName(k ptrace.SpanKind) string {
	switch k {
	case ptrace.SpanKindInternal, ptrace.SpanKindServer, ptrace.SpanKindClient, ptrace.SpanKindProducer, ptrace.SpanKindConsumer:
		return strings.ToLower(k.String())
	default:
		return "unspecified"
	}
}

// sampling returns the threshold of consistent probability sampling as the
// tracestate carries it (OpenTelemetry TraceState probability sampling), such
// as "ot=th:c", or "".
func sampling(traceState string) string {
	const maxTraceState = 4 << 10
	if len(traceState) > maxTraceState {
		return ""
	}
	for member := range strings.SplitSeq(strings.TrimPrefix(content.Threshold(traceState), "ot="), ";") {
		if strings.HasPrefix(member, "th:") {
			return "ot=" + member
		}
	}
	return ""
}
