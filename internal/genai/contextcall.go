// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"github.com/readtrail/readtrail/record"
)

// maxRequested bounds the tool calls that one answer of a model asks for.
const maxRequested = 1000

// answerMembers are the members in which libraries wrap what a model answered.
// Arguments never are among them: what looks like a call in there is content.
var answerMembers = []string{
	"parts", "content", "contents", "message", "messages", "tool_calls", "toolCalls", "tool_call", "choices", "candidates", "output", "outputs",
	"generations", "kwargs", "additional_kwargs", "functionCall", "toolUse", "toolRequest", "response", "function_calls",
}

// Names by which libraries call the id and the name of a requested call, and the
// member in which the name stands.
var (
	callIDs   = []string{"toolCallId", "toolUseId", "call_id", "id", "ref"}
	callNames = []string{"toolName", "name"}
)

// callTypes are the types of parts that ask for a call.
var callTypes = []string{"tool_call", "tool_use", "toolUse", "tool-call", "function_call", "function", "functionCall"}

// callWrappers are the members whose object is a requested call.
var callWrappers = []string{"functionCall", "toolUse", "toolRequest", "tool_call", "function_calls"}

// callLists are the members whose elements are requested calls.
var callLists = []string{"tool_calls", "toolCalls", "function_calls"}

// maxAnswerDepth bounds how deep a call is looked for.
const maxAnswerDepth = 12

// requestedCalls returns the tool calls that an answer asks for, each once.
func requestedCalls(answer value) []record.RequestedCall {
	s := callSearch{out: []record.RequestedCall{}, left: maxGathered * 10}
	s.look(answer, false, 0)
	return s.out
}

type callSearch struct {
	out []record.RequestedCall
	// left bounds the parts that are looked at.
	left int
}

// look looks for calls in a part; isCall says that it stands where calls do.
func (s *callSearch) look(v value, isCall bool, depth int) {
	if s.left--; !v.ok || s.left < 0 || depth > maxAnswerDepth || len(s.out) > maxRequested {
		return
	}
	if elements, isList := v.elements(maxGathered); isList {
		for _, e := range elements {
			s.look(e, isCall, depth+1)
		}
		return
	}
	members, isObject := v.object()
	if !isObject {
		return
	}
	if elements, isList := byIndex(members); isList {
		for _, e := range elements {
			s.look(e, isCall, depth+1)
		}
		return
	}
	if wrapped := members["tool_call"]; isCall && wrapped.ok {
		s.look(wrapped, true, depth+1)
		return
	}
	if isCall || slices.Contains(callTypes, members["type"].text()) || members["toolCallId"].isText() && members["toolName"].isText() {
		s.add(members)
		return
	}
	for _, name := range answerMembers {
		if part := members[name]; part.ok {
			s.look(part, slices.Contains(callWrappers, name) || slices.Contains(callLists, name), depth+1)
		}
	}
}

// add adds a call unless it is there already: libraries write some twice.
func (s *callSearch) add(members map[string]value) {
	if function, isObject := members["function"].object(); isObject && !members["name"].isText() {
		members["name"] = function["name"]
	}
	call := record.RequestedCall{
		ID:     joinID(pick(value.isText, in(callIDs, members)).text()),
		ToolID: toolTitle(pick(value.isText, in(callNames, members)).text()),
	}
	if call.ToolID == "" || call.ID != "" && slices.Contains(s.out, call) {
		return
	}
	s.out = append(s.out, call)
}
