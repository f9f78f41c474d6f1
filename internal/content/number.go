// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"math"
	"strconv"
	"strings"
)

// maxExactDigits is the number of significant decimal digits that every
// double keeps (DBL_DIG of IEEE 754).
const maxExactDigits = 15

// NumberSurvives reports whether RFC 8785 keeps the value of a JSON number.
func NumberSurvives(literal string) bool { return survives(literal) }

// survives reports whether what RFC 8785 prints for a JSON number denotes the
// same decimal value as the literal. Negative zero does not: RFC 8785 prints 0.
func survives[T text](literal T) bool {
	if short, ok := shortLiteral(literal); ok {
		return short
	}
	s := string(literal)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil { // out of range
		return false
	}
	if f == 0 {
		return s[0] != '-' && decimalOf(s).digits == ""
	}
	return decimalOf(s) == decimalOf(strconv.FormatFloat(f, 'e', -1, 64))
}

// shortLiteral decides literals without exponent and with few digits, which
// are nearly all, without a conversion.
func shortLiteral[T text](literal T) (survives, ok bool) {
	zero := true
	for i := range len(literal) {
		switch c := literal[i]; {
		case i >= maxExactDigits || c == 'e' || c == 'E':
			return false, false
		case '1' <= c && c <= '9':
			zero = false
		}
	}
	return !zero || literal[0] != '-', true
}

// decimal is a decimal value in one spelling: 0.digits * 10^exponent without
// leading or trailing zeros in digits; zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// decimalOf reads a JSON number. An exponent too large for any double is
// capped, which keeps it different from every double's.
func decimalOf(s string) decimal {
	var d decimal
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], s[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exponent = int64(len(whole)) + exponentOf(exponent)
	digits := whole + fraction
	significant := strings.TrimLeft(digits, "0")
	d.exponent -= int64(len(digits) - len(significant))
	d.digits = strings.TrimRight(significant, "0")
	if d.digits == "" {
		d.exponent = 0
	}
	return d
}

func exponentOf(s string) int64 {
	const limit = math.MaxInt64 / 4
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case (err != nil && s[0] == '-') || n < -limit:
		return -limit
	case err != nil || n > limit:
		return limit
	}
	return n
}

// maxSafeInteger bounds the integers that every double keeps.
const maxSafeInteger = 1 << 53

// integerSurvives is survives for an integer that never was text.
func integerSurvives(n int64) bool {
	if -maxSafeInteger <= n && n <= maxSafeInteger {
		return true
	}
	var a, b [24]byte
	return string(strconv.AppendFloat(a[:0], float64(n), 'f', -1, 64)) == string(strconv.AppendInt(b[:0], n, 10))
}

// appendDouble spells a finite double as RFC 8785 does, which is the shortest
// decimal that reads back to it, but keeps the sign of negative zero.
func appendDouble(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs == 0 && math.Signbit(f) {
		return append(dst, "-0"...)
	}
	if abs == 0 || (1e-6 <= abs && abs < 1e21) {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
