// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var readClasses = map[string]bool{"tool": true, "retrieval": true, "memory": true}

// TestEveryReadOfTheAnswerKeyIsRecorded compares the journal with the answer
// key of the captures whose conventions this version knows.
func TestEveryReadOfTheAnswerKeyIsRecorded(t *testing.T) {
	known := regexp.MustCompile(`^(otel-js|openinference|vercel|transcribed-otel|transcribed-ms)`)
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	var files []string
	for _, file := range corpusFiles(t) {
		if known.MatchString(filepath.Base(file)) {
			files = append(files, file)
		}
	}
	replayAll(t.Context(), t, c, files)
	require.NoError(t, c.Stop())
	h.requireVerified()

	reads := map[string][]*readRecord{}
	for _, r := range h.reads() {
		reads[r.Correlation["span_id"]] = append(reads[r.Correlation["span_id"]], r)
	}
	f, err := os.Open(filepath.Join(root, "testdata/corpus/EXPECT.tsv"))
	require.NoError(t, err)
	defer f.Close()
	key := csv.NewReader(f)
	key.Comma, key.LazyQuotes = '\t', true
	rows, err := key.ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		file, span, class, tool, call, documents := row[0], row[1], row[3], row[4], row[5], row[8]
		if !known.MatchString(file) {
			continue
		}
		found := reads[span]
		delete(reads, span)
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
			require.NotNil(t, found[0].Retrieval, "%s %s", file, span)
			assert.Equal(t, documents, strconv.Itoa(len(found[0].Retrieval.Chunks)), "%s %s", file, span)
		}
	}
	assert.Empty(t, reads, "reads of spans that the key does not have")
}
