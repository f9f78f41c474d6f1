// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/carrier"
)

// maxResourceAttributes bounds what is kept of a resource for routing.
const maxResourceAttributes = 256

// routingAttributes copies what the journal may choose a scope by. It must run
// before the resource is stripped; the copy never leaves the process.
func routingAttributes(resource pcommon.Resource) carrier.Resource {
	out := make(carrier.Resource, min(resource.Attributes().Len(), maxResourceAttributes))
	leftOut := map[string]struct{}{}
	for key, value := range resource.Attributes().All() {
		if len(out) == maxResourceAttributes {
			break
		}
		// Of a repeated key the first counts, whatever it is, as where a key of
		// digests is chosen: both choose for the same organization.
		_, repeated := out[key]
		if _, before := leftOut[key]; repeated || before {
			continue
		}
		if value.Type() != pcommon.ValueTypeStr || len(key) > carrier.MaxResourceValue || len(value.Str()) > carrier.MaxResourceValue {
			leftOut[key] = struct{}{}
			continue
		}
		out[key] = value.Str()
	}
	return out
}
