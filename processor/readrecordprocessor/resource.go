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
	for key, value := range resource.Attributes().All() {
		if len(out) == maxResourceAttributes {
			break
		}
		if value.Type() != pcommon.ValueTypeStr || len(key) > carrier.MaxResourceValue || len(value.Str()) > carrier.MaxResourceValue {
			continue
		}
		if _, repeated := out[key]; !repeated { // the first counts, as where a key of digests is chosen
			out[key] = value.Str()
		}
	}
	return out
}
