// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLintPrintsNoContentOfTheCorpus looks for the canaries, and for the people
// and cases that were invented for the corpus.
func TestLintPrintsNoContentOfTheCorpus(t *testing.T) {
	files, err := filepath.Glob("../../testdata/[cd]*/*.jsonl") // corpus and dialects
	require.NoError(t, err)
	require.NotEmpty(t, files)
	// Cut lines too: what is said about them holds nothing of them.
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		appendTo(t, cut, string(data[:len(data)*2/3])+"\n")
	}
	for _, mode := range []string{"strict", "known"} {
		for _, options := range []string{"", "--json", "--each", "--each --json"} {
			args := append([]string{"lint", "--mode", mode}, strings.Fields(options)...)
			printed, code := runForTest(t, append(append(args, files...), cut))
			require.Equal(t, exitUnchecked, code, "because of the lines that were cut")
			require.Greater(t, len(printed), 10_000)
			small := strings.ToLower(printed)
			for _, secret := range []string{"canary", "marta", "exempel", "kyc-000123", "analyst-7"} {
				if at := strings.Index(small, secret); at >= 0 {
					t.Errorf("%s %s prints %q", mode, options, printed[max(0, at-200):at+50])
				}
			}
		}
		_, code := runForTest(t, append([]string{"lint", "--mode", mode}, files...))
		require.Equal(t, exitLookAt, code)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// TestAnInterruptEndsALiveStreamWithTheReport sends SIGINT to this process while
// lint waits for more.
func TestAnInterruptEndsALiveStreamWithTheReport(t *testing.T) {
	line, err := os.ReadFile("../../testdata/kyc/kyc.traces.jsonl")
	require.NoError(t, err)
	stdin, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = feed.Write(line) }()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	code := make(chan int)
	go func() {
		code <- run(t.Context(), []string{"lint", "-", "--each"}, stdin, write, os.Stderr)
		write.Close()
	}()
	out := bufio.NewReader(read)
	for range 11 { // all spans of the file are shown before the stream has ended
		item, err := out.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, item, "signal=span")
	}
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	type text struct {
		all string
		err error
	}
	rest := make(chan text)
	go func() {
		all, err := io.ReadAll(out)
		rest <- text{string(all), err}
	}()
	require.Equal(t, exitLookAt, <-code)
	report := <-rest
	require.NoError(t, report.err)
	assert.Contains(t, report.all, "reads recorded")
	assert.Contains(t, report.all, "What it is")
}

func TestLintSaysWhenItsOutputIsLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer said.Close()
	for _, options := range [][]string{nil, {"--each"}, {"--json"}} {
		args := append([]string{"lint", "../../testdata/kyc/kyc.traces.jsonl"}, options...)
		require.Equal(t, exitUnchecked, run(t.Context(), args, strings.NewReader(""), full, said))
	}
	text, err := os.ReadFile(said.Name())
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), "standard output"), string(text))
}

func TestAFileThatWasNotReadToItsEndIsNotJudged(t *testing.T) {
	said, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	defer said.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	require.Equal(t, exitUnchecked, run(ctx, []string{"lint", "../../testdata/kyc/kyc.traces.jsonl"}, strings.NewReader(""), said, said))
	text, err := os.ReadFile(said.Name())
	require.NoError(t, err)
	assert.Contains(t, string(text), "interrupted: the report is about what was read until then\n")
}
