// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"strings"

	"github.com/readtrail/readtrail/record"
)

// observe writes who saw the record (requirement D5). A client may say that the
// context which it received was not authenticated, and what that was; nothing else.
func observe(h *record.Header, observed Observed) *Problem {
	said := h.ObservedBy
	h.ObservedBy = record.ObservedBy{
		UpstreamContextSource: observed.UpstreamContextSource, Signal: record.SignalAPI, ReceivedContext: said.ReceivedContext,
	}
	switch said.UpstreamContextSource {
	case "":
	case record.UnverifiedInput:
		h.ObservedBy.UpstreamContextSource = record.UnverifiedInput
	default:
		return problem(CodeOurs, "/observed_by/upstream_context_source")
	}
	if h.ObservedBy.UpstreamContextSource == "" {
		h.ObservedBy.UpstreamContextSource = record.UnverifiedInput
	}
	received := observed.ReceivedContext
	switch {
	case received == nil || sameContext(received, &h.Correlation):
	case said.ReceivedContext == nil:
		own := *received
		h.ObservedBy.ReceivedContext = &own
	case received.TraceID != h.Correlation.TraceID && received.TraceID != said.ReceivedContext.TraceID:
		// What the receiver saw itself is not hidden behind what somebody says.
		return problem(CodeOurs, "/observed_by/received_context")
	}
	return nil
}

// sameContext reports whether a record has the ids that its request came with.
func sameContext(received *record.ReceivedContext, c *record.Correlation) bool {
	return received.TraceID == c.TraceID && (received.ParentSpanID == c.SpanID || received.ParentSpanID == c.ParentSpanID)
}

// Traceparent reads the header of W3C Trace Context, nil if it is none.
func Traceparent(header string) *record.ReceivedContext {
	const version, trace, span, flags = 2, 32, 16, 2
	const length = version + trace + span + flags + len("---")
	if len(header) < length || len(header) > length && (strings.HasPrefix(header, "00") || header[length] != '-') {
		return nil
	}
	parts := strings.SplitN(header[:length], "-", 4)
	if len(parts) != 4 || parts[0] == "ff" {
		return nil
	}
	for i, digits := range []int{version, trace, span, flags} {
		if len(parts[i]) != digits || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return nil
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return nil
	}
	return &record.ReceivedContext{TraceID: parts[1], ParentSpanID: parts[2]}
}
