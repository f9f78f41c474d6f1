// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/strip"
)

// left are the places in which mode known leaves content of the corpus and of
// the dialects of EXPECT-b.tsv and EXPECT-logs-b.tsv, as docs/content.md
// says: names of spans, and keys that no table knows. An entry is a span name's
// "name", or a key.
var left = map[string]string{
	"name":    "a span name stays",
	"note":    "an application's own key",
	"user.id": "who asked is no content",
}

var place = regexp.MustCompile(`"key":"([^"]*)","value":\{[^{}]*CANARY|"(name)":"[^"]*CANARY`)

func TestNoContentOfADialectLeaves(t *testing.T) {
	keys, err := filepath.Glob("../../testdata/dialects/EXPECT*-b.tsv")
	require.NoError(t, err)
	ours := ""
	for _, key := range keys {
		text, err := os.ReadFile(key)
		require.NoError(t, err)
		ours += string(text)
	}
	for _, directory := range []string{"corpus", "dialects"} {
		files, err := filepath.Glob("../../testdata/" + directory + "/*.jsonl")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Run("strict", func(t *testing.T) {
					for _, out := range processed(t, file, Mode(strip.Strict)) {
						if i := strings.Index(out, "CANARY"); i >= 0 {
							assert.Failf(t, "content leaked", "%s", out[max(0, i-200):min(len(out), i+60)])
						}
					}
				})
				if directory == "dialects" && !strings.Contains(ours, "\n"+filepath.Base(file)+"\t") {
					return
				}
				t.Run("known", func(t *testing.T) {
					for _, out := range processed(t, file, Mode(strip.Known)) {
						found := 0
						for _, m := range place.FindAllStringSubmatch(out, -1) {
							found++
							assert.Contains(t, left, m[1]+m[2])
						}
						assert.Equal(t, found > 0, strings.Contains(out, "CANARY"), "content in another place")
					}
				})
			})
		}
	}
}

// processed is what leaves of a file, and the bodies of the records.
func processed(t *testing.T, file string, mode Mode) []string {
	t.Helper()
	cfg := defaults()
	cfg.Mode = mode
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	s := bufio.NewScanner(in)
	s.Buffer(nil, 16<<20)
	var all []string
	for s.Scan() {
		var out *sink
		if strings.HasSuffix(file, ".logs.jsonl") {
			logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(s.Bytes())
			require.NoError(t, err)
			p, o := newLogs(t, settings(nil), cfg)
			require.NoError(t, p.ConsumeLogs(t.Context(), logs))
			out = o
		} else {
			traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(s.Bytes())
			require.NoError(t, err)
			p, o := newTraces(t, settings(nil), cfg)
			require.NoError(t, p.ConsumeTraces(t.Context(), traces))
			out = o
		}
		all = append(all, out.json(t))
		if b := out.batch(); b != nil {
			for _, item := range b.Items {
				if item.Draft != nil {
					all = append(all, body(item.Draft))
				}
			}
		}
	}
	require.NoError(t, s.Err())
	return all
}
