// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
)

const (
	oneSpan = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET"}]}]}]}`
	oneLog  = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"Marta"}}]}]}]}`
)

func TestHostileLinesAreCountedAndNamedByNumber(t *testing.T) {
	attribute := func(value string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":` + value + `}]}]}]}]}`
	}
	for name, c := range map[string]struct {
		line   string
		reason lint.Reason
	}{
		"cut off":               {oneSpan[:len(oneSpan)-3], lint.NotJSON},
		"no JSON":               {"Marta Exempel", lint.NotJSON},
		"a part of an object":   {`  "resourceSpans": [`, lint.NotJSON},
		"an array":              {"[" + oneSpan + "]", lint.NotJSON},
		"two objects":           {oneSpan + oneSpan, lint.NotJSON},
		"bare NaN":              {attribute(`{"doubleValue":NaN}`), lint.NotJSON},
		"deep JSON":             {strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000), lint.NotJSON},
		"another object":        {`{"Marta":"Exempel"}`, lint.NotOTLP},
		"a name in a value":     {`{"a":"resourceSpans","b":{"resourceSpans":[]}}`, lint.NotOTLP},
		"another type":          {`{"resourceSpans":"Marta"}`, lint.NotOTLP},
		"another type of value": {attribute(`{"intValue":"Marta"}`), lint.NotOTLP},
		"too long":              {attribute(`{"stringValue":"` + strings.Repeat("x", 20<<20) + `"}`), lint.TooLarge},
		"too many":              {`{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Repeat("{},", 1<<20) + "{}]}]}]}", lint.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			r := lintText(t, oneSpan+"\n\n"+c.line+"\n"+oneLog)
			assert.Equal(t, []lint.Unreadable{{Input: "in", Reason: c.reason, Count: 1, Lines: []int64{3}}}, r.Unreadable)
			assert.Equal(t, int64(3), r.Summary.Lines)
			assert.Equal(t, int64(1), r.Summary.Spans)
			assert.Equal(t, int64(1), r.Summary.LogRecords)
			assert.False(t, r.Summary.Complete())
			assert.NotContains(t, spelled(t, r), "Marta")
		})
	}
}

func TestWhatAnOTLPReceiverTakesIsRead(t *testing.T) {
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 1000) + `{"stringValue":"x"}` + strings.Repeat("]}}", 1000)
	for name, line := range map[string]string{
		"NaN as Protobuf spells it": `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":{"doubleValue":"NaN"}}]}]}]}]}`,
		"nested":                    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":` + deep + `}]}]}]}]}`,
		"snake case":                `{"resource_spans":[{"scope_spans":[{"spans":[{"name":"GET"}]}]}]}`,
		"with a carriage return":    oneSpan + "\r",
	} {
		t.Run(name, func(t *testing.T) {
			r := lintText(t, line+"\n")
			assert.True(t, r.Summary.Complete(), r.Unreadable)
			assert.Equal(t, int64(1), r.Summary.Spans)
		})
	}
	r := lintText(t, `{"resourceMetrics":[]}`+"\n"+oneSpan[:len(oneSpan)-1]+","+oneLog[1:])
	assert.Equal(t, int64(1), r.Summary.MetricsLines)
	assert.Equal(t, int64(1), r.Summary.Spans)
	assert.Equal(t, int64(1), r.Summary.LogRecords)
	assert.False(t, lintText(t, "").Summary.Complete(), "nothing at all")
}

func TestOnlyTheFirstNumbersOfManyBadLinesAreKept(t *testing.T) {
	r := lintText(t, strings.Repeat("x\n", 1000))
	require.Len(t, r.Unreadable, 1)
	assert.Equal(t, int64(1000), r.Unreadable[0].Count)
	assert.Len(t, r.Unreadable[0].Lines, 20)
}

func TestReadingEndsWithTheContext(t *testing.T) {
	in, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	items := 0
	l := newLinter(t, strip.Strict, func(*lint.Item) error {
		items++
		stop() // as an interrupt does, while the pipe stays open
		return nil
	})
	go func() { _, _ = io.WriteString(out, oneSpan+"\n"+oneSpan[:10]) }()
	require.NoError(t, l.Read(ctx, "-", in))
	require.NoError(t, out.Close())
	assert.Equal(t, 1, items)
	assert.Equal(t, int64(1), l.Report().Summary.Spans)
}

func TestAnErrorEndsReading(t *testing.T) {
	broken := errors.New("broken")
	l := newLinter(t, strip.Strict, func(*lint.Item) error { return broken })
	require.ErrorIs(t, l.Read(t.Context(), "in", strings.NewReader(oneSpan)), broken)
	l = newLinter(t, strip.Strict, nil)
	require.ErrorIs(t, l.Read(t.Context(), "in", io.MultiReader(strings.NewReader(oneSpan+"\n"), badReader{broken})), broken)
	assert.Equal(t, int64(1), l.Report().Summary.Spans)
}

type badReader struct{ err error }

func (r badReader) Read([]byte) (int, error) { return 0, r.err }

func TestMemoryIsBoundedWhateverComes(t *testing.T) {
	var lines bytes.Buffer
	for i := range 30 {
		lines.WriteString(`{"resourceSpans":[{"scopeSpans":[{"spans":[`)
		for j := range 1000 {
			if j > 0 {
				lines.WriteByte(',')
			}
			fmt.Fprintf(&lines, `{"name":"GET /r%d/x%d","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.route","value":{"stringValue":"/r%d/x%d"}},{"key":"k%d.x%d","value":{"stringValue":"x"}}]}`, i, j, i, j, i, j)
		}
		lines.WriteString("]}]}]}\n")
	}
	r := lintText(t, lines.String())
	assert.Equal(t, int64(30_000), r.Summary.Spans)
	assert.True(t, r.Summary.TooMany)
	assert.Less(t, len(r.Places), 10_010)
	assert.Less(t, len(r.Groups), 1_010)
	var items, values int64
	for _, g := range r.Groups {
		items += g.Items
	}
	for _, p := range r.Places {
		values += p.Values
	}
	assert.Equal(t, int64(30_000), items, "what is not remembered by name is counted")
	assert.Equal(t, int64(4*30_000), values)
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{oneSpan, oneLog, oneSpan + "\n" + oneLog, "{}", "[]\n{", `{"resourceLogs":null}`, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"input.value","value":{"kvlistValue":{"values":[{}]}}}]}]}]}]}`} {
		f.Add([]byte(seed))
	}
	for _, file := range []string{"../../testdata/corpus/langsmith-js-0.12.0.traces.jsonl", "../../testdata/corpus/transcribed-otel-py-google-genai.traces.jsonl"} {
		seed, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		l := newLinter(t, strip.Strict, nil)
		require.NoError(t, l.Read(t.Context(), "in", bytes.NewReader(in)))
		s := l.Report().Summary
		require.LessOrEqual(t, s.UnreadableLines+s.MetricsLines, s.Lines)
		require.LessOrEqual(t, s.Lines, int64(bytes.Count(in, []byte("\n"))+1))
	})
}
