// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// compiledValue is a Value that has been parsed.
type compiledValue struct {
	literal   string
	arguments *jsonpath.Path
	result    *jsonpath.Path
}

func (v Value) compile(path string) (compiledValue, error) {
	given := 0
	for _, s := range []string{v.literal, v.Arguments, v.Result} {
		if s != "" {
			given++
		}
	}
	if given > 1 {
		return compiledValue{}, fmt.Errorf("%s: more than one of a literal, arguments and result; keep one", path)
	}
	c := compiledValue{literal: v.literal}
	var err error
	if c.arguments, err = parsePath(path+".arguments", v.Arguments); err != nil {
		return c, err
	}
	c.result, err = parsePath(path+".result", v.Result)
	return c, err
}

func parsePath(path, s string) (*jsonpath.Path, error) {
	if s == "" {
		return nil, nil
	}
	p, err := jsonpath.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// contents are the arguments and the result of a read, parsed when a rule
// first asks for them.
type contents struct {
	arguments, result *tree
}

// fromResult returns what a path selects from the result as it was received,
// else from what an MCP tool's result carries.
func (c *contents) fromResult(path *jsonpath.Path) []string {
	if out := c.result.selectTexts(path); len(out) > 0 {
		return out
	}
	return c.result.carried().selectTexts(path)
}

// carried returns what the tree carries if it is the result of an MCP tool.
func (t *tree) carried() *tree {
	if t.payload == nil {
		t.payload = &tree{value: mcpPayload(t.value)}
	}
	return t.payload
}

// tree is a value in the form that JSONPath selects from: map[string]any,
// []any, string, json.Number, bool and nil.
type tree struct {
	value  value
	root   any
	parsed bool
	// branch finds parts as they were received.
	branch *branch
	// payload is what the value carries if it is the result of an MCP tool.
	payload *tree
	// texts and located are what paths selected: a rule asks for the same of one
	// side once for each element of the other.
	texts   map[*jsonpath.Path][]string
	located map[*jsonpath.Path][]value
}

func (t *tree) parse() {
	if !t.parsed {
		t.parsed = true
		t.root, _ = parseTree(t.value)
	}
}

// texts returns what the value is: the literal, or every string or integer
// that the path selects. Other results do not name anything and are left out.
func (v compiledValue) texts(c *contents) []string {
	switch {
	case v.literal != "":
		return []string{v.literal}
	case v.arguments != nil:
		return c.arguments.selectTexts(v.arguments)
	case v.result != nil:
		return c.fromResult(v.result)
	default:
		return nil
	}
}

// text returns the value if there is exactly one, since of several nobody
// knows which is meant.
func (v compiledValue) text(c *contents, shape func(string) string) string {
	if texts := v.texts(c); len(texts) == 1 {
		return shape(texts[0])
	}
	return ""
}

// selected returns what a path selects, in the order of the places if there
// are at most 1000, and else without the places: objects are maps here, which
// have no order, and the same content has to give the same record.
func (t *tree) selected(path *jsonpath.Path) (nodes []any, places []spec.NormalizedPath) {
	t.parse()
	if t.root == nil {
		return nil, nil
	}
	nodes = path.Select(t.root)
	if len(nodes) > maxSelected {
		return nodes, nil
	}
	located := path.SelectLocated(t.root)
	located.Sort()
	return slices.Collect(located.Nodes()), slices.Collect(located.Paths())
}

// maxSelected bounds the nodes of which the places are looked for.
const maxSelected = 1000

func (t *tree) selectTexts(path *jsonpath.Path) []string {
	out, known := t.texts[path]
	if t.parse(); known || t.root == nil {
		return out
	}
	nodes, _ := t.selected(path)
	for _, node := range nodes {
		switch n := node.(type) {
		case string:
			out = append(out, n)
		case json.Number:
			if !strings.ContainsAny(n.String(), ".eE") {
				out = append(out, n.String())
			}
		}
		if len(out) > maxDocuments {
			break
		}
	}
	if t.texts == nil {
		t.texts = map[*jsonpath.Path][]string{}
	}
	t.texts[path] = out
	return out
}

// maxTreeDepth bounds the nesting of values that paths select from: a path with
// descendants looks at every node once for each level.
const maxTreeDepth = 64

var (
	errTreeDepth = errors.New("value is nested too deep")
	errTreeSize  = errors.New("value is too large")
	errNoTree    = errors.New("value is no object or array")
)

// parseTree reads a value as JSON. Numbers keep their spelling, so that an id
// beyond 2^53 stays exact.
func parseTree(v value) (any, error) {
	v = v.opened()
	switch {
	case !v.ok:
		return nil, errNoTree
	case v.raw != nil:
		if len(v.raw) > content.MaxJSONBytes {
			return nil, errTreeSize
		}
		return decodeTree(jsontext.NewDecoder(bytes.NewBuffer(v.raw)), 0)
	default:
		budget := content.MaxJSONBytes
		return dataTree(v.data, 0, &budget)
	}
}

func decodeTree(d *jsontext.Decoder, depth int) (any, error) {
	if depth > maxTreeDepth {
		return nil, errTreeDepth
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		out := map[string]any{}
		for d.PeekKind() != jsontext.KindEndObject {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if out[key], err = decodeTree(d, depth+1); err != nil {
				return nil, err
			}
		}
		_, err = d.ReadToken()
		return out, err
	case jsontext.KindBeginArray:
		out := []any{}
		for d.PeekKind() != jsontext.KindEndArray {
			element, err := decodeTree(d, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, element)
		}
		_, err = d.ReadToken()
		return out, err
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		return json.Number(token.String()), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	default:
		return nil, nil
	}
}

// dataTree converts a structured value. The budget counts bytes of names and
// strings and one for each value. A repeated name makes a value ambiguous.
func dataTree(v pcommon.Value, depth int, budget *int) (any, error) {
	if *budget--; *budget < 0 {
		return nil, errTreeSize
	}
	if depth > maxTreeDepth {
		return nil, errTreeDepth
	}
	switch v.Type() {
	case pcommon.ValueTypeMap:
		out := make(map[string]any, min(v.Map().Len(), 64))
		for name, member := range v.Map().All() {
			if _, repeated := out[name]; repeated {
				return nil, errNoTree
			}
			*budget -= len(name)
			m, err := dataTree(member, depth+1, budget)
			if err != nil {
				return nil, err
			}
			out[name] = m
		}
		return out, nil
	case pcommon.ValueTypeSlice:
		out := make([]any, 0, min(v.Slice().Len(), 64))
		for _, element := range v.Slice().All() {
			e, err := dataTree(element, depth+1, budget)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	case pcommon.ValueTypeStr:
		if *budget -= len(v.Str()); *budget < 0 {
			return nil, errTreeSize
		}
		return v.Str(), nil
	case pcommon.ValueTypeInt:
		return json.Number(strconv.FormatInt(v.Int(), 10)), nil
	case pcommon.ValueTypeDouble:
		if s := shortest(v.Double()); s != "" {
			return json.Number(s), nil
		}
		return nil, nil
	case pcommon.ValueTypeBool:
		return v.Bool(), nil
	default:
		return nil, nil
	}
}
