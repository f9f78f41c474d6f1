// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// callToolResult returns the members and the content parts of a result in the
// form in which MCP servers answer tools/call (CallToolResult of the Model
// Context Protocol), which reaches telemetry under other conventions too.
func callToolResult(v value) (members map[string]value, parts []map[string]value, ok bool) {
	const maxParts = 1000
	members, ok = v.object()
	if !ok {
		return nil, nil, false
	}
	elements, ok := members["content"].elements(maxParts)
	if !ok || len(elements) > maxParts {
		return nil, nil, false
	}
	for _, e := range elements {
		part, isObject := e.object()
		if !isObject || part["type"].text() == "" {
			return nil, nil, false
		}
		parts = append(parts, part)
	}
	return members, parts, true
}

// mcpPayload returns what an MCP tool answered: its structured content, else
// the text of its only part; nothing if the value is no result of an MCP tool.
func mcpPayload(v value) value {
	members, parts, ok := callToolResult(v)
	switch {
	case !ok:
		return value{}
	case members["structuredContent"].ok:
		return members["structuredContent"]
	case len(parts) == 1 && parts[0]["type"].text() == "text":
		return parts[0]["text"]
	default:
		return value{}
	}
}

// mcpFailed reports whether an MCP tool said that it failed. It does so in its
// result, which reaches the caller as any other.
func mcpFailed(v value) bool {
	// Most results, at the least expense.
	if s, isString := v.str(); isString && (!mayBeJSON(s) || !strings.Contains(s, "isError")) {
		return false
	}
	members, _, ok := callToolResult(v)
	return ok && members["isError"].isTrue()
}
