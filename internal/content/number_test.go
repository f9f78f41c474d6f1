// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/json/jsontext"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestANumberSurvivesIfWhatRFC8785PrintsIsTheSameDecimal(t *testing.T) {
	for literal, want := range map[string]bool{
		"0": true, "0.0": true, "0e5": true, "0e999999999999999999999": true, "-0": false, "-0.0": false, "-0e-9": false, "-1": true,
		"0.1": true, "1e2": true, "1E2": true, "1e+2": true, "100e-2": true, "1.0": true, "1.50": true,
		"9007199254740991": true, "9007199254740992": true, "9007199254740993": false, "9007199254740994": true, "-9007199254740993": false,
		"1152921504606846976": false, "1152921504606847000": true, "1000000000000000000": true, "1e21": true, "1e22": true, "1e23": true,
		"1e400": false, "-1e400": false, "1e-400": false, "1e99999999999999999999": false, "1e-99999999999999999999": false,
		"0.10000000000000000555": false, "0.1000000000000000055511151231257827021181583404541015625": false, "0.30000000000000004": true,
		"4.9e-324": false, "5e-324": true, "2.2250738585072014e-308": true, "1.7976931348623157e308": true, "1.7976931348623158e308": false, "1.7976931348623159e308": false,
		"333333333.33333329": false, "1e30": true, "4.50": true, "2e-3": true, "0.000000000000000000000000001": true, // RFC 8785 3.2.4 example
		"295147905179352830000": true, "999999999999999900000": true, "999999999999999868928": false,
		"0." + strings.Repeat("0", 300) + "1": true, "1" + strings.Repeat("0", 300): true, "1" + strings.Repeat("0", 400): false,
		"123456789012345": true, "0.123456789012345": true, "1234567890.123456789": false,
	} {
		assert.Equal(t, want, survives(literal), literal)
	}
}

// oracle decides by exact rational arithmetic over what jsontext prints.
func oracle(t require.TestingT, literal string) bool {
	if f, err := strconv.ParseFloat(literal, 64); err != nil || math.IsInf(f, 0) {
		return false
	}
	v := jsontext.Value(literal)
	require.NoError(t, v.Canonicalize())
	want, ok := new(big.Rat).SetString(literal)
	require.True(t, ok)
	got, ok := new(big.Rat).SetString(string(v))
	require.True(t, ok)
	return want.Cmp(got) == 0 && (want.Sign() != 0 || literal[0] != '-')
}

func TestNumbersAgreeWithRationalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literal := rapid.OneOf(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`),
			rapid.Map(rapid.Float64(), func(f float64) string {
				if math.IsNaN(f) || math.IsInf(f, 0) {
					f = 0.5
				}
				return string(appendDouble(nil, f))
			}),
			rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		).Draw(t, "literal")
		require.Equal(t, oracle(t, literal), survives(literal), literal)
	})
}

func TestDoublesAndIntegersAreSpelledAsRFC8785Does(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Filter(func(f float64) bool {
			return !math.IsNaN(f) && !math.IsInf(f, 0) && (f != 0 || !math.Signbit(f))
		}).Draw(t, "f")
		v := jsontext.Value(strconv.FormatFloat(f, 'g', -1, 64))
		require.NoError(t, v.Canonicalize())
		require.Equal(t, string(v), string(appendDouble(nil, f)))

		n := rapid.Int64().Draw(t, "n")
		require.Equal(t, oracle(t, strconv.FormatInt(n, 10)), integerSurvives(n))
	})
	for f, want := range map[float64]string{
		1e21: "1e+21", 1e-7: "1e-7", 1e-10: "1e-10", 1e-6: "0.000001", 999999999999999900000: "999999999999999900000", 5e-324: "5e-324", -1e21: "-1e+21",
		math.Copysign(0, -1): "-0", 1e100: "1e+100", 1.5e-300: "1.5e-300",
	} {
		assert.Equal(t, want, string(appendDouble(nil, f)))
	}
}
