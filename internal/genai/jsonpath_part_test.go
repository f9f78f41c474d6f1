// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/theory/jsonpath"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// FuzzPartsAreWhatThePathSelects holds the values that are kept against the
// nodes of the library, on text and on the same value as a structure.
func FuzzPartsAreWhatThePathSelects(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":{"b":["x",{"c":"y"},"z"]},"d":null}`, "$..*"},
		{`{"a":"{\"b\":1}","b":"x"}`, "$..b"},
		{`[[["x"],"y"],{"":"z"}]`, "$[0,1][*]"},
		{`{"a":[1,2.50,1e400,true]}`, "$.a[::-1]"},
		{`{"é":{"😀":"x"}}`, "$['é']['😀']"},
		{`"{\"a\":\"x\"}"`, "$.a"},
		{`{"a":1,"a":2}`, "$.a"},
		{`""`, "$"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		path, err := jsonpath.Parse(query)
		if err != nil || len(text) > 1<<12 || strings.Count(query, "..") > 2 {
			return
		}
		tree := &tree{value: valueOf(pcommon.NewValueStr(text))}
		nodes, places := tree.selected(path, maxFields)
		parts := tree.parts(path, maxFields)
		if len(nodes) > maxFields {
			require.Len(t, parts, maxFields+1)
			return
		}
		require.Len(t, parts, len(nodes))
		for i, node := range nodes {
			if len(places[i]) == 0 { // the whole, which is kept as it was received
				parts[i] = parts[i].opened()
			}
			switch node := node.(type) {
			case string:
				s, isString := parts[i].str()
				require.True(t, isString)
				require.Equal(t, node, s)
			case json.Number:
				require.Equal(t, node.String(), string(parts[i].raw))
			case bool:
				require.Equal(t, fmt.Sprint(node), string(parts[i].raw))
			case nil:
				require.False(t, parts[i].ok)
			case []any:
				elements, isArray := parts[i].elements(content.MaxJSONBytes)
				require.True(t, isArray)
				require.Len(t, elements, len(node))
			case map[string]any:
				members, isObject := parts[i].object()
				require.True(t, isObject)
				require.Len(t, members, len(node))
			}
		}
	})
}

// A path that looks at everything takes time in proportion to what there is.
func TestPartsOfALargeValueAreFoundOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("[")
	for i := range maxFields {
		fmt.Fprintf(&text, `{"id":"%d","rest":%q},`, i, strings.Repeat("x", 2000))
	}
	text.WriteString("0]")
	c := &contents{result: &tree{value: valueOf(pcommon.NewValueStr(text.String()))}}
	path, err := jsonpath.Parse("$[*].id")
	require.NoError(t, err)
	require.Len(t, compiledField{in: record.FieldInResult, path: path}.located(c), maxFields)
}
