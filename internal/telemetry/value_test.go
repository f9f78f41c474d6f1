// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"
)

// keyed is a member of a generated map.
type keyed struct {
	name  string
	value any
}

// object is a generated map, in order and with repeats.
type object []keyed

// draw makes a value of nil, string, int64, float64, bool, []byte, []any or
// object. Small alphabets make equal values likely.
func draw(t *rapid.T, strange bool, depth int) any {
	most := 6
	if depth == 0 {
		most = 4
	}
	if strange {
		most++
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return text(t, strange)
	case 2:
		return rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64(), rapid.SampledFrom([]int64{1 << 53, 1<<53 + 1, -1 << 60, math.MinInt64})).Draw(t, "int")
	case 3:
		f := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 0.5, 1e21, 1e-7, math.Copysign(0, -1)}), rapid.Float64()).Draw(t, "double")
		if strange {
			f = rapid.OneOf(rapid.Just(f), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)})).Draw(t, "strange double")
		} else if math.IsNaN(f) || math.IsInf(f, 0) {
			return 0.25
		}
		return f
	case 4:
		return rapid.Bool().Draw(t, "bool")
	case 5:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return draw(t, strange, depth-1) }), 0, 4).Draw(t, "array")
	case 6:
		return drawObject(t, strange, depth)
	default:
		return []byte(rapid.SampledFrom([]string{"", "a", "\xff"}).Draw(t, "bytes"))
	}
}

func drawObject(t *rapid.T, strange bool, depth int) object {
	members := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) keyed {
		return keyed{text(t, strange), draw(t, strange, depth-1)}
	}), 0, 4).Draw(t, "members")
	if !strange {
		seen := map[string]bool{}
		members = slices.DeleteFunc(members, func(m keyed) bool {
			again := seen[m.name]
			seen[m.name] = true
			return again
		})
	}
	return members
}

func text(t *rapid.T, strange bool) string {
	s := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "é", "\uFB33", "😀", "\"\\\x00\x1f\x7f\u2028</script>", "kvlistValue", "stringValue"}), rapid.String()).Draw(t, "text")
	if strange && rapid.IntRange(0, 9).Draw(t, "break") == 0 {
		return s + rapid.SampledFrom([]string{"\xff", "\xc3", "\xed\xa0\x80"}).Draw(t, "invalid")
	}
	return strings.ToValidUTF8(s, "?")
}

// pdata turns a generated value into pdata as a receiver does, from protobuf:
// only so can a map repeat a name or a string be no UTF-8.
func pdata(t require.TestingT, x any) pcommon.Value {
	record := field(nil, 5, wire(x))
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(field(nil, 1, field(nil, 2, field(nil, 2, record))))
	require.NoError(t, err)
	return logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body()
}

// field appends a length-delimited protobuf field.
func field(dst []byte, number uint64, content []byte) []byte {
	dst = binary.AppendUvarint(dst, number<<3|2)
	return append(binary.AppendUvarint(dst, uint64(len(content))), content...)
}

// wire encodes an AnyValue in protobuf.
func wire(x any) []byte {
	switch x := x.(type) {
	case nil:
		return nil
	case string:
		return field(nil, 1, []byte(x))
	case bool:
		if x {
			return []byte{2 << 3, 1}
		}
		return []byte{2 << 3, 0}
	case int64:
		return binary.AppendUvarint([]byte{3 << 3}, uint64(x))
	case float64:
		return binary.LittleEndian.AppendUint64([]byte{4<<3 | 1}, math.Float64bits(x))
	case []byte:
		return field(nil, 7, x)
	case []any:
		var list []byte
		for _, e := range x {
			list = field(list, 1, wire(e))
		}
		return field(nil, 5, list)
	default:
		var list []byte
		for _, kv := range x.(object) {
			list = field(list, 1, field(field(nil, 1, []byte(kv.name)), 2, wire(kv.value)))
		}
		return field(nil, 6, list)
	}
}

// jsonText spells a generated value as JSON with white space and members in
// the order given, as a library that is not ours would.
func jsonText(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case string:
		b, _ := json.Marshal(x)
		return string(b)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = jsonText(e)
		}
		return "[ " + strings.Join(parts, ", ") + "\n]"
	default:
		var parts []string
		for _, kv := range x.(object) {
			parts = append(parts, jsonText(kv.name)+" :\t"+jsonText(kv.value))
		}
		return "{" + strings.Join(parts, " , ") + " }"
	}
}

// meaning spells what a value means, so that two generated values mean the
// same if and only if their meanings are equal: JSON's meaning if JSON can hold
// the whole value, and OTLP's otherwise.
func meaning(x any) string { return spellMeaning(x, isJSON(x)) }

func isJSON(x any) bool {
	switch x := x.(type) {
	case string:
		return utf8.ValidString(x)
	case float64:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case []byte:
		return false
	case []any:
		return !slices.ContainsFunc(x, func(e any) bool { return !isJSON(e) })
	case object:
		seen := map[string]bool{}
		for _, kv := range x {
			if seen[kv.name] || !isJSON(kv.name) || !isJSON(kv.value) {
				return false
			}
			seen[kv.name] = true
		}
	}
	return true
}

func spellMeaning(x any, asJSON bool) string {
	switch x := x.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(x)
	case int64:
		if asJSON {
			return new(big.Rat).SetInt64(x).RatString()
		}
		return "int " + strconv.FormatInt(x, 10)
	case float64:
		switch {
		case x == 0 && math.Signbit(x):
			return "-0"
		case asJSON:
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
			return r.RatString()
		}
		return "double " + strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case []byte:
		return "bytes " + strconv.Quote(string(x))
	case []any:
		var parts []string
		for _, e := range x {
			parts = append(parts, spellMeaning(e, asJSON))
		}
		return "[" + strings.Join(parts, ",") + "]"
	default:
		var parts []string
		for _, kv := range x.(object) {
			parts = append(parts, strconv.Quote(kv.name)+":"+spellMeaning(kv.value, asJSON))
		}
		if asJSON {
			slices.Sort(parts)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
}
