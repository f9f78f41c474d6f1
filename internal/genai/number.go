// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// maxNumber is the longest number that is kept, in characters.
const maxNumber = 40

// score spells a number as the shortest decimal that reads back to the same
// value (contract 2), or returns "" if the value is no finite number. A number
// with more digits than a double keeps is kept exactly.
func score(v value) string {
	if !v.ok {
		return ""
	}
	if v.raw == nil && v.data.Type() == pcommon.ValueTypeDouble {
		return shortest(v.data.Double())
	}
	literal := strings.TrimSpace(v.text())
	if literal == "" && v.raw != nil {
		literal = string(v.raw)
	}
	return decimal(literal)
}

// decimal spells a JSON number shortest.
func decimal(literal string) string {
	if len(literal) > maxNumber || !isNumber(literal) {
		return ""
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return ""
	}
	if content.NumberSurvives(strings.TrimPrefix(literal, "-")) { // a zero keeps its sign here
		return shortest(f)
	}
	return trimmed(literal)
}

// trimmed returns a JSON number without what adds nothing to its value: zeros
// at the end of the fraction, a plus sign and zeros at the start of the
// exponent.
func trimmed(literal string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	digits := strings.TrimLeft(exponent, "+-0")
	switch {
	case digits == "":
		return mantissa
	case exponent[0] == '-':
		return mantissa + "e-" + digits
	default:
		return mantissa + "e" + digits
	}
}

// shortest spells a double as RFC 8785 does.
func shortest(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return jsontext.Float(f).String()
}

func isNumber(s string) bool {
	value := jsontext.Value(s)
	return value.Kind() == jsontext.KindNumber && value.IsValid()
}

// countText returns s if count reads it, or "".
func countText(s string) string {
	if count(valueOf(pcommon.NewValueStr(s))) == 0 {
		return ""
	}
	return s
}

// textCount returns the number that countText accepted.
func textCount(s string) int64 { return count(valueOf(pcommon.NewValueStr(s))) }

// count reads a number of things: an integer from 1 to 2^53-1, as an integer,
// as a double without a fraction (conventions before 0.1.0) or as digits.
func count(v value) int64 {
	if !v.ok {
		return 0
	}
	if v.raw == nil && v.data.Type() == pcommon.ValueTypeDouble {
		if f := v.data.Double(); f == math.Trunc(f) && 1 <= f && f <= record.MaxInteger {
			return int64(f)
		}
		return 0
	}
	n, err := strconv.ParseInt(v.text(), 10, 64)
	if err != nil || n < 1 || n > record.MaxInteger {
		return 0
	}
	return n
}
