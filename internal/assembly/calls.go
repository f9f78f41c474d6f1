// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"maps"
	"slices"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// callKey tells the attempts of calls apart.
type callKey struct {
	callID  string
	attempt int64
}

// calls are the tool calls in the order in which they were first told of. An attempt of
// an action is one; what a read tells of the same call completes it.
type calls struct {
	order []callKey
	of    map[callKey]*saying
	// said is true once somebody said which calls there were, also that there was none.
	said bool
}

func (c *calls) get(key callKey) *saying {
	if s := c.of[key]; s != nil {
		return s
	}
	if c.of == nil {
		c.of = map[callKey]*saying{}
	}
	s := newSaying()
	c.order, c.of[key], c.said = append(c.order, key), &s, true
	s.sayAt(key.callID, "call_id")
	if key.attempt > 0 {
		s.sayAt(float64(key.attempt), "attempt")
	}
	return &s
}

// sayPart adds the tool calls of a part.
func (c *calls) sayPart(list []any) {
	c.said = true
	for _, element := range list {
		call, _ := element.(object)
		id, _ := call["call_id"].(string)
		attempt, _ := call["attempt"].(float64)
		c.get(callKey{id, int64(attempt)}).say(call)
	}
}

// sayRead completes the one call that a read is of, or adds it. What the wrapper of a
// tool says of its outcome is not said of the attempt: they may disagree (requirement
// D1). Of several attempts nobody knows which one it is of.
func (c *calls) sayRead(r *record.Read) {
	var same []callKey
	for _, key := range c.order {
		if key.callID == r.ToolCallID {
			same = append(same, key)
		}
	}
	if len(same) > 1 {
		return
	}
	said := object{}
	put := func(name, value string) {
		if value != "" {
			said[name] = value
		}
	}
	size := func(name string, n int64) {
		if n > 0 {
			said[name] = float64(n)
		}
	}
	put("tool_id", r.Source.ToolID)
	put("tool_version", r.Source.ToolVersion)
	put("arguments_digest", r.Request.ArgumentsDigest)
	put("arguments_canonicalization", r.Request.ArgumentsCanonicalization)
	size("arguments_size", r.Request.ArgumentsSize)
	put("result_digest", r.Response.ResultDigest)
	put("result_canonicalization", r.Response.ResultCanonicalization)
	size("result_size", r.Response.ResultSize)
	key := callKey{callID: r.ToolCallID}
	if len(same) == 1 {
		key = same[0]
	}
	if key.attempt == 0 {
		put("status", string(statusOfRead(r.Response.Status)))
		if !r.OccurredAt.IsZero() {
			put("ended_at", r.OccurredAt.String())
		}
	}
	c.get(key).say(said)
}

func statusOfRead(s record.Status) record.AuditToolCallStatus {
	switch s {
	case record.StatusOK:
		return record.AuditCallSucceeded
	case record.StatusError:
		return record.AuditCallFailed
	default:
		return record.AuditCallUnknown
	}
}

// list returns the calls as they stand in an audit event, and where two sources
// disagree.
func (c *calls) list() (elements []any, contradicted []string) {
	elements = []any{}
	for i, key := range c.order {
		s := c.of[key]
		elements = append(elements, s.members)
		for _, pointer := range slices.Sorted(maps.Keys(s.contradicted)) {
			contradicted = append(contradicted, "/tool_calls/"+strconv.Itoa(i)+pointer)
		}
	}
	return elements, contradicted
}
