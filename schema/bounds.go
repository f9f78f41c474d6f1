// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"math"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/readtrail/readtrail/record"
)

// bounds are those of an integer. The library compares rational numbers, which it reads
// from the decimal spelling of a double, once for the type and once for the bounds.
type bounds struct {
	low, high float64
	// asWritten is the schema, which is asked about everything that is not plainly an
	// integer within its bounds.
	asWritten *jsonschema.Schema
}

// boundsOf returns the bounds that a schema consists of, nil if it has something else.
func boundsOf(s *jsonschema.Schema) jsonschema.SchemaExt {
	if s.Types == nil || s.Types.String() != "[integer]" || !saysOnly(s, "Types", "Minimum", "Maximum") {
		return nil
	}
	b := bounds{low: -record.MaxInteger, high: record.MaxInteger}
	if low, exact := exactly(s.Minimum); exact {
		b.low = max(b.low, low)
	} else if s.Minimum != nil {
		return nil
	}
	if high, exact := exactly(s.Maximum); exact {
		b.high = min(b.high, high)
	} else if s.Maximum != nil {
		return nil
	}
	asWritten := *s
	b.asWritten = &asWritten
	return b
}

// exactly returns a number that a double holds.
func exactly(n *big.Rat) (double float64, exact bool) {
	if n == nil {
		return 0, false
	}
	return n.Float64()
}

// Validate implements jsonschema.SchemaExt.
func (b bounds) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if n, ok := v.(float64); ok && n == math.Trunc(n) && b.low <= n && n <= b.high {
		return
	}
	ctx.AddErr(ctx.Validate(b.asWritten, v, nil))
}
