// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
)

func TestWhatWasRecordedSinceATimeIsFoundBySegments(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	now := newClock()
	o.Now, o.MaxSegmentBytes = now.Now, 1
	l := open(t, o)
	begin := now.Now()
	for n := range 6 {
		now.advance(time.Hour)
		appendAll(t, l, read(t, id(n), "1"))
	}
	count := func(since time.Time) (ids []string) {
		for e, err := range l.Since(t.Context(), since) {
			require.NoError(t, err)
			if b := bodyOf(t, e); b.ReadID != "" {
				ids = append(ids, b.ReadID)
			}
		}
		return ids
	}
	require.Len(t, count(time.Time{}), 6)
	require.Equal(t, []string{id(4), id(5)}, count(begin.Add(4*time.Hour+30*time.Minute)))
	require.NotEmpty(t, count(begin.Add(100*time.Hour)), "of the last segment nobody knows what comes")
	closeLedger(t, l)
}
