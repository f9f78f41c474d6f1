// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var readClasses = map[string]bool{"tool": true, "retrieval": true, "memory": true}

// TestEveryReadOfTheAnswerKeyIsRecorded compares the journal with the answer
// key of the spans.
func TestEveryReadOfTheAnswerKeyIsRecorded(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, slices.DeleteFunc(corpusFiles(t), func(file string) bool { return !strings.HasSuffix(file, ".traces.jsonl") }))
	require.NoError(t, c.Stop())
	h.requireVerified()

	reads := map[string][]*readRecord{}
	for _, r := range h.reads() {
		reads[r.Correlation["span_id"]] = append(reads[r.Correlation["span_id"]], r)
	}
	for _, row := range answerKey(t) {
		file, span, class, tool, call, documents := row[0], row[1], row[3], row[4], row[5], row[8]
		found := reads[span]
		delete(reads, span)
		if class == "mcp" && len(found) == 1 {
			assert.Equal(t, "read.document", found[0].EventType, "%s %s", file, span) // our own view: docs/adr/0008
			continue
		}
		if !readClasses[class] {
			assert.Empty(t, found, "%s %s is %s and no read", file, span, class)
			continue
		}
		if !assert.Len(t, found, 1, "%s %s (%s)", file, span, row[2]) {
			continue
		}
		assert.Equal(t, tool, found[0].Source.ToolID, "%s %s", file, span)
		assert.Equal(t, call, found[0].ToolCallID, "%s %s", file, span)
		if documents != "" {
			n := 0
			if r := found[0].Retrieval; r != nil {
				n = len(r.Chunks)
			}
			if m := found[0].Memory; m != nil {
				n = len(m.Entries)
			}
			assert.Equal(t, documents, strconv.Itoa(n), "%s %s", file, span)
		}
	}
	assert.Empty(t, reads, "reads of spans that the key does not have")
}

// answerKey returns the rows of all keys for spans, without their headers.
func answerKey(t *testing.T) (rows [][]string) {
	t.Helper()
	keys, err := filepath.Glob(filepath.Join(root, "testdata", "[cd]*", "EXPECT*.tsv"))
	require.NoError(t, err)
	for _, path := range keys {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		key := csv.NewReader(f)
		key.Comma, key.LazyQuotes = '\t', true
		table, err := key.ReadAll()
		require.NoError(t, err)
		if table[0][1] == "span_id" { // else it is that of log records
			rows = append(rows, table[1:]...)
		}
	}
	require.NotEmpty(t, rows)
	return rows
}
