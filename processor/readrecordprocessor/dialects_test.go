// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/strip"
)

// left are the places in which mode known leaves content of the corpus and of
// the dialects, as docs/content.md and docs/dialects.md say: names of spans, and
// keys that no table knows. An entry is a key, "name" for a span name, or "key"
// for a key that is text itself.
var left = map[string]string{
	"name":                  "a span name stays",
	"key":                   "a key under a prefix of content stays, its value is a digest",
	"note":                  "an application's own key",
	"user.id":               "who asked",
	"enduser.id":            "who asked",
	"gen_ai.user.id":        "who asked",
	"gen_ai.memory.user_id": "who asked",
	"llm.user":              "who asked",
	"user.email":            "who asked", "user.name": "who asked", "microsoft.agent.user.email": "who asked",
	"microsoft.security.policy.name": "a name that an application gave",
	"langfuse.trace.name":            "a name that an application gave",
	"fastmcp.component.key":          "a resource's URI, where a tool's name belongs",
	"str_or_query_bundle":            "LlamaIndex's older mode, whose keys are any",
	"nodes":                          "the same",
}

// applications are files of telemetry that no library of agents writes: of an
// application's own keys and log texts mode known knows nothing.
var applications = []string{"judge-generic.traces.jsonl", "judge-events.logs.jsonl"}

var place = regexp.MustCompile(`"key":"([^"]*)","value":\{"stringValue":"(?:[^"\\]|\\.)*CANARY|"(name|key)":"[^"]*CANARY`)

func TestNoContentOfADialectLeaves(t *testing.T) {
	files, err := filepath.Glob("../../testdata/[cd]*/*.jsonl") // corpus and dialects
	require.NoError(t, err)
	require.NotEmpty(t, files)
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Run("strict", func(t *testing.T) {
				for _, out := range processed(t, file, strip.Strict) {
					if i := strings.Index(out, "CANARY"); i >= 0 {
						assert.Failf(t, "content leaked", "%s", out[max(0, i-200):min(len(out), i+60)])
					}
				}
			})
			t.Run("known", func(t *testing.T) {
				if slices.Contains(applications, filepath.Base(file)) {
					return
				}
				for _, out := range processed(t, file, strip.Known) {
					for _, m := range place.FindAllStringSubmatch(out, -1) {
						seen[m[1]+m[2]] = true
						assert.Contains(t, left, m[1]+m[2])
					}
					assert.NotContains(t, place.ReplaceAllString(out, ""), "CANARY", "content in another place")
				}
			})
		})
	}
	for key := range left {
		assert.True(t, seen[key], "%s leaves nowhere: no need to say that it does", key)
	}
}

// processed is what leaves of a file, and the bodies of the records.
func processed(t *testing.T, file string, mode strip.Mode) []string {
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
