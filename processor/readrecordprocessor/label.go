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

// labels are what joins an item to the journal; "" is none.
type labels struct{ executionID, callID, readID string }

// replace reports whether what a client sent under a key has to go.
func (l *labels) replace(key string) bool {
	switch key {
	case executionIDAttribute:
		return l.executionID != ""
	case callIDAttribute:
		return l.callID != ""
	default:
		return key == carrier.ReadIDAttribute
	}
}

// replacesAny reports whether anything has to go, which is rare: removing copies
// attributes, looking does not.
func (l *labels) replacesAny(attributes pcommon.Map) bool {
	for key := range attributes.All() {
		if l.replace(key) {
			return true
		}
	}
	return false
}

// label puts on a stripped item what joins it to the journal: the stable
// attributes, and on a recorded item its read id. A read id that a client put
// there goes. Telemetry can repeat a key: each goes.
func label(attributes pcommon.Map, seen *genai.Observation, readID string) {
	l := labels{readID: readID}
	if seen.Dialect != "" {
		l.executionID, l.callID = seen.ExecutionID, seen.CallID
	}
	if l == (labels{}) {
		unmark(attributes)
		return
	}
	if l.replacesAny(attributes) {
		attributes.RemoveIf(func(key string, _ pcommon.Value) bool { return l.replace(key) })
	}
	const most = 3
	attributes.EnsureCapacity(attributes.Len() + most)
	set(attributes, executionIDAttribute, l.executionID)
	set(attributes, callIDAttribute, l.callID)
	set(attributes, carrier.ReadIDAttribute, l.readID)
}

// set adds a label.
func set(attributes pcommon.Map, key, value string) {
	if value != "" {
		attributes.PutStr(key, value)
	}
}

// unmark removes every read id from what is no recorded item: telemetry can
// repeat a key, and Map.Remove takes the first alone.
func unmark(attributes pcommon.Map) {
	if _, found := attributes.Get(carrier.ReadIDAttribute); found {
		attributes.RemoveIf(func(key string, _ pcommon.Value) bool { return key == carrier.ReadIDAttribute })
	}
}
