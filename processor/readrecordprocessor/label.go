// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
)

// Stable attributes of requirement E8 that are set on items of an agent's
// telemetry. The others, event_id, decision_id and request_id, only the
// application knows; stripping keeps them.
const (
	executionIDAttribute = "execution_id"
	callIDAttribute      = "call_id"
)

// label puts on a stripped item what joins it to the journal: the stable
// attributes, and on a recorded item its read id. A read id that a client put
// there goes.
func label(attributes pcommon.Map, seen *genai.Observation, readID string) {
	if seen.Dialect != "" {
		const most = 3
		attributes.EnsureCapacity(attributes.Len() + most)
		set(attributes, executionIDAttribute, seen.ExecutionID)
		set(attributes, callIDAttribute, seen.CallID)
	}
	unmark(attributes)
	set(attributes, carrier.ReadIDAttribute, readID)
}

// set makes value the only one of the key; "" leaves the map as it is.
func set(attributes pcommon.Map, key, value string) {
	if value != "" {
		removeAll(attributes, key)
		attributes.PutStr(key, value)
	}
}

// unmark removes every read id from what is no recorded item.
func unmark(attributes pcommon.Map) { removeAll(attributes, carrier.ReadIDAttribute) }

// removeAll removes a key however often a client sent it: telemetry can repeat
// one, and Map.Remove takes the first alone.
func removeAll(attributes pcommon.Map, key string) {
	if _, found := attributes.Get(key); found {
		attributes.RemoveIf(func(k string, _ pcommon.Value) bool { return k == key })
	}
}
