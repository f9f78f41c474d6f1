// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

func newLinter(t require.TestingT, mode strip.Mode, each func(*lint.Item) error) *lint.Linter {
	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	config.Mode = mode
	lifter, stripper, err := config.Compile()
	require.NoError(t, err)
	return lint.New(lint.Options{Lifter: lifter, Stripper: stripper, Records: true, Each: each})
}

// lintText lints lines and returns the report.
func lintText(t testing.TB, text string) *lint.Report {
	t.Helper()
	l := newLinter(t, strip.Strict, nil)
	require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(text)))
	return l.Report()
}

func corpus(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/[cd]*/*.jsonl") // corpus and dialects
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func readFile(t testing.TB, l *lint.Linter, name string) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, l.Read(t.Context(), filepath.Base(name), file))
}

// spelled returns a report as it is printed.
func spelled(t require.TestingT, r *lint.Report) string {
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return string(text)
}
