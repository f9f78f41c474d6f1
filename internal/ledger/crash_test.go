// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// machine is one journal through many power losses, and what it acknowledged.
type machine struct {
	t       *testing.T
	rng     *rand.Rand
	fs      *crashfs.FS
	options ledger.Options
	// staleIndex is an older copy of the index file, nil if there is none.
	staleIndex []byte

	mu sync.Mutex
	// acknowledged are the receipts by record and version.
	acknowledged map[string]journal.Receipt
	spans        map[string]bool
	tried        int
}

// The simulation: append, fill segments, change keys, sign entries or groups, lose
// power anywhere, come back with any of the keys; afterwards every acknowledged
// record is there exactly once, under its receipt, the chain is whole, and every
// change of keys has its bridge. Some seeds are the same in every run, two are not.
func TestWhatWasAcknowledgedSurvivesEveryCrashExactlyOnce(t *testing.T) {
	seeds, lives := []uint64{0, 1, 2, 3, 4, 5, 6, 7}, 12
	if testing.Short() {
		seeds = seeds[:2]
	}
	seeds = append(seeds, rand.Uint64(), rand.Uint64())
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			fs := crashfs.New(seed)
			m := &machine{
				t: t, rng: rand.New(rand.NewPCG(seed, 7)), fs: fs, options: optionsFor(t, fs),
				acknowledged: map[string]journal.Receipt{}, spans: map[string]bool{},
			}
			m.options.MaxSegmentBytes = 30_000
			for range lives {
				m.live()
				m.crash()
			}
			m.audit()
			require.NotEmpty(t, m.acknowledged)
		})
	}
}

// live opens the journal and appends from several callers until the power goes.
func (m *machine) live() {
	m.options.FS = m.fs
	m.options.GroupSignatures = m.rng.IntN(2) == 0
	keys := []testSigner{signer, second, third}
	m.rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	m.options.Signer, m.options.Outgoing = keys[0], []journal.Signer{keys[1], keys[2]}
	m.fs.CrashAfter(1 + m.rng.IntN(150))
	l, err := ledger.Open(m.t.Context(), m.options)
	if err != nil {
		require.ErrorIs(m.t, err, crashfs.ErrPowerLost)
		return
	}
	var wg sync.WaitGroup
	for range 4 {
		rng := rand.New(rand.NewPCG(m.rng.Uint64(), 1))
		wg.Go(func() {
			for m.append(l, rng) {
				continue
			}
		})
	}
	wg.Go(func() {
		for n := 1; l.Rotate(context.Background(), keys[n%len(keys)]) == nil; n++ {
			continue
		}
	})
	wg.Wait()
	require.Error(m.t, l.Close(context.Background()))
}

// append appends new records, repeats, conflicts and spans, and reports whether
// the journal took them.
func (m *machine) append(l *ledger.Ledger, rng *rand.Rand) bool {
	var drafts []*record.Draft
	var names []string
	m.mu.Lock()
	for range 1 + rng.IntN(8) {
		n := m.tried
		if rng.IntN(3) == 0 && n > 0 {
			n = rng.IntN(n)
		} else {
			m.tried++
		}
		version := "1"
		if rng.IntN(10) == 0 {
			version = "2"
		}
		drafts, names = append(drafts, read(m.t, id(n), version)), append(names, id(n)+"/"+version)
	}
	m.mu.Unlock()
	var spans []string
	for range 1 + rng.IntN(4) {
		spans = append(spans, fmt.Sprintf("%016x", 1+rng.IntN(500)))
	}
	receipts, err := l.Append(context.Background(), append(drafts, lineage(m.t, spans...)))
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, name := range names {
		r := asRepeat(receipts[i])
		if known, ok := m.acknowledged[name]; ok && known != r {
			panic(fmt.Sprintf("%s has receipts %v and %v", name, known, r))
		}
		m.acknowledged[name] = r
	}
	for _, s := range spans {
		m.spans[s] = true
	}
	return true
}

// crash loses the power, and sometimes the index or its newest contents too.
func (m *machine) crash() {
	m.fs = m.fs.Reboot()
	file := filepath.Join(m.options.IndexDir, "repeats.db")
	switch m.rng.IntN(5) {
	case 0:
		require.NoError(m.t, os.RemoveAll(file))
	case 1:
		if m.staleIndex != nil {
			require.NoError(m.t, os.WriteFile(file, m.staleIndex, 0o600))
		}
	case 2:
		m.staleIndex, _ = os.ReadFile(file)
	}
}

func (m *machine) audit() {
	m.options.FS = m.fs
	l := open(m.t, m.options)
	closeLedger(m.t, l)
	entries := audit(m.t, m.fs, dir)
	records, spans := map[string]int{}, map[string]int{}
	firsts := map[string]string{}
	for _, e := range entries {
		b := bodyOf(m.t, e)
		for _, s := range b.Spans {
			spans[s.SpanID]++
		}
		if b.ReadID == "" {
			continue
		}
		r, err := record.RepeatOf(e.Kind, e.Body)
		require.NoError(m.t, err)
		records[fmt.Sprint(r.ID, r.Digest)]++
		if firsts[r.ID] == "" {
			firsts[r.ID] = e.Header.EventID
			require.Empty(m.t, b.ConflictsWith)
		} else {
			require.Equal(m.t, firsts[r.ID], b.ConflictsWith)
		}
	}
	for name, n := range records {
		require.Equal(m.t, 1, n, name)
	}
	for s, n := range spans {
		require.Equal(m.t, 1, n, s)
	}
	for s := range m.spans {
		require.Equal(m.t, 1, spans[s], s)
	}
	for name, r := range m.acknowledged {
		e := entries[r.Sequence-1]
		require.Equal(m.t, r.RecordHash, e.Integrity.RecordHash, name)
		require.Equal(m.t, r.EventID, e.Header.EventID)
		require.Equal(m.t, filepath.Dir(name), bodyOf(m.t, e).ReadID)
	}
	m.auditTorn(entries)
}

// auditTorn makes sure that the journal tells of everything that was torn.
func (m *machine) auditTorn(entries []*journal.Entry) {
	named := map[string]bool{}
	for _, e := range entries {
		if e.Header.EventType == record.EventJournalRecovered {
			d := bodyOf(m.t, e).Detail
			named[d.KeptAs] = true
			require.Len(m.t, m.fs.Bytes(dir+"/"+d.KeptAs), int(d.Length))
		}
	}
	files, err := m.fs.List(dir)
	require.NoError(m.t, err)
	for _, f := range files {
		if filepath.Ext(f.Name) == ".torn" {
			require.True(m.t, named[f.Name], f.Name)
		}
	}
}
