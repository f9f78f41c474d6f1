// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import "go.opentelemetry.io/collector/pdata/pcommon"

// HoldsMessages reports whether a log body is {"input":{"messages":...}} or the
// same with output: the form that AWS's distribution of OpenTelemetry gives to
// content that it moves out of spans, under event names of its users' choosing.
func HoldsMessages(body pcommon.Value) bool {
	if body.Type() != pcommon.ValueTypeMap {
		return false
	}
	for _, side := range [...]string{"input", "output"} {
		if v, ok := body.Map().Get(side); ok && v.Type() == pcommon.ValueTypeMap {
			if _, ok := v.Map().Get("messages"); ok {
				return true
			}
		}
	}
	return false
}
