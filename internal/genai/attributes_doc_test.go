// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attributesDoc is the page about every attribute that is read.
func attributesDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/attributes.md")
	require.NoError(t, err)
	return string(text)
}

// tableDoc are the pages about what the recognition table reads.
func tableDoc(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/dialects.md")
	require.NoError(t, err)
	return attributesDoc(t) + string(page)
}

// literals returns the string literals for which f holds.
func literals(t *testing.T, file string, f func(lit ast.Expr, parent ast.Node) bool) []string {
	t.Helper()
	tree, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var out []string
	var parents []ast.Node
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == gotoken.STRING && f(lit, parents[len(parents)-1]) {
			s, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			out = append(out, s)
		}
		parents = append(parents, n)
		return true
	})
	return out
}

func TestEveryAttributeOfOursIsDocumentedAndNoOther(t *testing.T) {
	keys := literals(t, "own.go", func(_ ast.Expr, parent ast.Node) bool {
		_, isConstant := parent.(*ast.ValueSpec)
		return isConstant
	})
	keys = append(keys, ownReadID)
	documented := regexp.MustCompile("(?m)^\\| `(readtrail\\.[a-z0-9_.]+)` \\|[^|]+\\|[^|]+\\|[^|]*\\|$").FindAllStringSubmatch(attributesDoc(t), -1)
	var rows []string
	for _, m := range documented {
		rows = append(rows, m[1])
	}
	for _, key := range keys {
		if strings.HasPrefix(key, "readtrail.") {
			assert.Contains(t, rows, key)
		} else {
			assert.Contains(t, attributesDoc(t), "`"+key+"`")
		}
	}
	for _, key := range rows {
		assert.Contains(t, keys, key)
	}
}

// readers are the functions by which rows of the table name attributes, with
// how many of their arguments are keys.
var readers = map[string]int{
	"attr": math.MaxInt, "has": math.MaxInt, "lacks": math.MaxInt, "ranked": 2, "is": 1, "isAnyCase": 1, "begins": 1, "flattened": 1, "gathered": 1,
	"ends": 1, "namedBy": 1, "counted": math.MaxInt, "matchAttributes": 1, "matchEvents": math.MaxInt,
	"eventAttr": 2, "onlyEventAttr": 2, "allEventsAttr": 2, "wholeEvent": 1,
}

func TestEveryAttributeOfTheTableIsDocumented(t *testing.T) {
	files, err := filepath.Glob("table_*.go")
	require.NoError(t, err)
	doc, checked := tableDoc(t), 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "table_effects.go" {
			continue
		}
		keys := literals(t, file, func(lit ast.Expr, parent ast.Node) bool {
			call, isCall := parent.(*ast.CallExpr)
			if !isCall {
				return false
			}
			name, isName := call.Fun.(*ast.Ident)
			return isName && slices.Contains(call.Args[:min(readers[name.Name], len(call.Args))], lit)
		})
		for _, key := range keys {
			checked++
			assert.True(t, strings.Contains(doc, "`"+key+"`") || strings.HasSuffix(key, ".") && strings.Contains(doc, "`"+key+"*"),
				"%s of %s is not in docs/attributes.md or docs/dialects.md", key, file)
		}
	}
	assert.Greater(t, checked, 50)
}

// TestEveryDialectIsDocumented: the name stands in records and in lint's report.
func TestEveryDialectIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/dialects.md")
	require.NoError(t, err)
	for _, r := range rows() {
		if r.dialect != "" {
			assert.Contains(t, string(page), "`"+r.dialect+"`")
		}
	}
}
