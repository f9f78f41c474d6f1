// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var readClasses = map[string]bool{"tool": true, "retrieval": true, "memory": true}

// TestEveryReadOfTheAnswerKeyIsRecorded compares the journal with the answer
// keys of spans and of log records.
func TestEveryReadOfTheAnswerKeyIsRecorded(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, corpusFiles(t))
	require.NoError(t, c.Stop())
	h.requireVerified()

	reads := map[string][]*readRecord{}
	logged := map[[2]string]int{} // by tool and call
	for _, r := range h.reads() {
		if r.ObservedBy["signal"] == "log" {
			logged[[2]string{r.Source.ToolID, r.ToolCallID}]++
		} else {
			reads[r.Correlation["span_id"]] = append(reads[r.Correlation["span_id"]], r)
		}
	}
	for _, row := range answerKey(t, "span_id") {
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
			assert.Equal(t, documents, strconv.Itoa(found[0].documents()), "%s %s", file, span)
		}
	}
	assert.Empty(t, reads, "reads of spans that the key does not have")

	wanted := map[[2]string]int{}
	for _, row := range answerKey(t, "record_index") {
		if readClasses[row[4]] {
			wanted[[2]string{row[5], row[6]}]++
		}
	}
	assert.Equal(t, wanted, logged)
}

// documents counts what the read brought.
func (r *readRecord) documents() int {
	switch {
	case r.Retrieval != nil:
		return len(r.Retrieval.Chunks)
	case r.Memory != nil:
		return len(r.Memory.Entries)
	default:
		return 0
	}
}

// answerKey returns the rows of all keys whose second column is named so,
// without their headers.
func answerKey(t *testing.T, column string) (rows [][]string) {
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
		if table[0][1] == column {
			rows = append(rows, table[1:]...)
		}
	}
	require.NotEmpty(t, rows)
	return rows
}
