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
		if seen.ExecutionID != "" {
			attributes.PutStr(executionIDAttribute, seen.ExecutionID)
		}
		if seen.CallID != "" {
			attributes.PutStr(callIDAttribute, seen.CallID)
		}
	}
	if readID == "" {
		attributes.Remove(carrier.ReadIDAttribute)
		return
	}
	attributes.PutStr(carrier.ReadIDAttribute, readID)
}
