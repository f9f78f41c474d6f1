// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressIsShownOnceItIsDueAndTakenAway(t *testing.T) {
	var out strings.Builder
	p := &progress{con: &console{errs: &out}, what: "verifying journal", next: time.Now().Add(time.Hour)}
	p.report(50<<20, 100<<20)
	p.clear()
	require.Empty(t, out.String(), "not yet due")
	p.next = time.Time{}
	p.report(50<<20, 100<<20)
	p.report(51<<20, 100<<20)
	p.clear()
	require.Equal(t, "\r\x1b[Kverifying journal: 50% of 100 MiB\r\x1b[K", out.String())
}

func TestProgressIsSilentWhereThereIsNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer file.Close()
	p := newProgress(&console{errFile: file}, "verifying journal")
	require.Nil(t, p)
	p.report(1, 2)
	p.clear()
}
