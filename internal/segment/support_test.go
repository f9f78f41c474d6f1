// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
)

const dir = "/j"

var (
	wide  = segment.Limits{MaxBytes: 1 << 30, MaxAge: time.Hour}
	start = time.Unix(1_800_000_000, 0)
)

// line spells a line that tells its sequence and checks itself.
func line(sequence uint64, size int) []byte {
	body := fmt.Sprintf("%d %s", sequence, strings.Repeat("x", size))
	return fmt.Appendf(nil, "%s %08x\n", body, crc32.ChecksumIEEE([]byte(body)))
}

// validate knows the lines that line makes.
func validate(l segment.Line, sequence uint64) error {
	if cut := bytes.LastIndexByte(l.Bytes, ' '); cut < 0 || fmt.Sprintf("%08x", crc32.ChecksumIEEE(l.Bytes[:cut])) != string(l.Bytes[cut+1:]) {
		return errors.New("checksum does not match")
	}
	var got uint64
	if _, err := fmt.Sscanf(string(l.Bytes), "%d ", &got); err != nil {
		return errors.New("line has no sequence")
	}
	if got != sequence {
		return &segment.SequenceError{Found: got}
	}
	return nil
}

// admit lets everything happen.
func admit([]byte) error { return nil }

func open(t *testing.T, fs durable.FS, limits segment.Limits) (*segment.Writer, []string) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(dir))
	w, torn, err := segment.Open(fs, dir, limits, segment.Known{}, validate, admit)
	require.NoError(t, err)
	w.Began(start)
	return w, torn
}

// group makes a group of n lines.
func group(first uint64, n, size int) segment.Group {
	g := segment.Group{First: first, At: start}
	for i := range uint64(n) {
		g.Lines = append(g.Lines, line(first+i, size))
	}
	return g
}

func appendGroup(t *testing.T, w *segment.Writer, g segment.Group) segment.Position {
	t.Helper()
	at, err := w.Append(g)
	require.NoError(t, err)
	return at
}

// sequences returns those of all lines of the journal.
func sequences(t *testing.T, fs durable.FS) (all []uint64) {
	t.Helper()
	for l, err := range segment.Lines(fs, dir, segment.Position{}) {
		require.NoError(t, err)
		require.NoError(t, validate(l, uint64(len(all)+1)))
		all = append(all, uint64(len(all)+1))
	}
	return all
}
