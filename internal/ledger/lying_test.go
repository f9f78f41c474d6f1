// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/record"
)

// An index that points to the wrong places is noticed when a repeat is answered,
// built anew, and nothing is answered from it.
func TestAnIndexThatLiesIsBuiltAnew(t *testing.T) {
	fs, other := crashfs.New(1), crashfs.New(2)
	o := optionsFor(t, fs)
	l := open(t, o)
	first := appendAll(t, l, batch(t, 0, 5)...)
	appendAll(t, l, read(t, id(2), "2"))
	closeLedger(t, l)

	// The same journal with other records before its end: its index knows the same
	// ids elsewhere.
	path, b := lastSegment(t, fs)
	head := string(b)[:indexOfLine(b, 1)]
	other.Put(path, []byte(head))
	p := o
	p.FS, p.IndexDir = other, t.TempDir()
	m := open(t, p)
	var shuffled []*record.Draft
	for n := 4; n >= 0; n-- {
		shuffled = append(shuffled, read(t, fmt.Sprintf("read_other_%d", n), "1"), read(t, id(n), "1"))
	}
	appendAll(t, m, shuffled...)
	closeLedger(t, m)
	lie := filepath.Join(p.IndexDir, "repeats.db")
	copyWithHead(t, lie, filepath.Join(o.IndexDir, "repeats.db"))

	noticed := false
	o.Observer.Failed = func(err error) { noticed = noticed || errors.Is(err, repeat.ErrDamaged) }
	l = open(t, o)
	require.Eventually(t, func() bool {
		receipts, err := l.Append(t.Context(), batch(t, 0, 5))
		if err != nil {
			require.ErrorIs(t, err, ledger.ErrUnavailable)
			return false
		}
		for i := range first {
			require.Equal(t, asRepeat(first[i]), receipts[i])
		}
		return true
	}, 10*time.Second, time.Millisecond)
	closeLedger(t, l)
	require.True(t, noticed)
	require.Len(t, countIDs(t, audit(t, fs, dir)), 5)
}

// indexOfLine returns where line n begins.
func indexOfLine(b []byte, n int) (at int) {
	for ; n > 0; n-- {
		for b[at] != '\n' {
			at++
		}
		at++
	}
	return at
}

// copyWithHead overwrites the marks of an index file with those of another one,
// leaving what it says about itself.
func copyWithHead(t *testing.T, from, to string) {
	t.Helper()
	source, err := bbolt.Open(from, 0o600, nil)
	require.NoError(t, err)
	target, err := bbolt.Open(to, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, source.View(func(in *bbolt.Tx) error {
		return target.Update(func(out *bbolt.Tx) error {
			return in.ForEach(func(name []byte, b *bbolt.Bucket) error {
				if string(name) == "head" {
					return nil
				}
				into, err := out.CreateBucketIfNotExists(name)
				if err != nil {
					return err
				}
				return b.ForEach(into.Put)
			})
		})
	}))
	require.NoError(t, source.Close())
	require.NoError(t, target.Close())
}
