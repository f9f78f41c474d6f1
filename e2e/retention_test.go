// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

// witnessed is a house whose segments are all linked into another directory as
// soon as they are there, so that what was pruned can still be looked at.
type witnessed struct {
	*house
	kept string
	done chan struct{}
	wait sync.WaitGroup
}

func newWitnessed(t *testing.T) *witnessed {
	t.Helper()
	w := &witnessed{house: newHouse(t, "e2e/testdata/retention.yaml"), done: make(chan struct{})}
	w.kept = filepath.Join(w.base, "kept", "reads")
	require.NoError(t, os.MkdirAll(w.kept, 0o755))
	require.NoError(t, os.MkdirAll(w.checkpoints(), 0o755))
	w.wait.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-tick.C:
				w.link()
			}
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *witnessed) end() {
	select {
	case <-w.done:
	default:
		close(w.done)
	}
	w.wait.Wait()
	w.link()
}

func (w *witnessed) link() {
	for _, segment := range w.segments() {
		_ = os.Link(segment, filepath.Join(w.kept, filepath.Base(segment)))
	}
}

func (w *witnessed) journalDir() string {
	return filepath.Join(w.journal, "default", "default", "reads")
}

func (w *witnessed) segments() []string {
	segments, _ := filepath.Glob(filepath.Join(w.journalDir(), "*.events"))
	return segments
}

func (w *witnessed) checkpoints() string { return filepath.Join(w.base, "checkpoints") }

// start starts a collector that keeps checkpoints.
func (w *witnessed) start() *rig.Collector {
	w.t.Helper()
	config := w.rigConfig()
	config.Env = append(config.Env, "READTRAIL_CHECKPOINTS="+w.checkpoints())
	c, err := rig.Start(w.t.Context(), config)
	require.NoError(w.t, err)
	w.t.Cleanup(c.Kill)
	return c
}

// apply prunes what it may, whatever its age, and returns the exit code, how many
// segments were removed, and what was said.
func (w *witnessed) apply(more ...string) (code, removed int, said string) {
	w.t.Helper()
	code, stdout, stderr := w.cli(append([]string{"retention", "apply", w.journal, "--keep", "default=0", "--checkpoints", w.checkpoints(), "--json"}, more...)...)
	var document struct {
		Journals []struct {
			Done struct {
				Removed int `json:"removed"`
			} `json:"done"`
		} `json:"journals"`
	}
	if json.Unmarshal([]byte(stdout), &document) == nil {
		for _, j := range document.Journals {
			removed += j.Done.Removed
		}
	}
	return code, removed, stdout + stderr
}

// applyUntilRemoved prunes as soon as there is something that may go.
func (w *witnessed) applyUntilRemoved() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		code, removed, said := w.apply()
		require.Zero(w.t, code, said)
		return removed > 0
	}, time.Minute, 50*time.Millisecond)
}

// requireKept demands that everything that was ever written is one whole journal
// that holds every acknowledged record once, and that what is left verifies.
func (w *witnessed) requireKept(l *traffic) {
	w.t.Helper()
	w.end()
	w.requireVerified()
	left := w.segments()
	require.NotEqual(w.t, "00000000000000000001.events", filepath.Base(left[0]), "something was pruned")
	whole := *w.house
	whole.journal = filepath.Dir(w.kept)
	code, stdout, stderr := w.cli("verify", whole.journal, "--keys", w.registry)
	require.Zero(w.t, code, stdout+stderr)
	require.Contains(w.t, stdout, "\nfirst_sequence: 1\n")
	whole.journal = filepath.Join(w.base, "depth")
	require.NoError(w.t, os.MkdirAll(filepath.Join(whole.journal, "a", "b"), 0o755))
	require.NoError(w.t, os.Rename(w.kept, filepath.Join(whole.journal, "a", "b", "reads")))
	l.requireKept(&whole)
}

// requireVerifiedMeanwhile demands that the journal verifies while it is written; a
// line that is half written when it is looked at is asked for again.
func (w *witnessed) requireVerifiedMeanwhile() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		code, stdout, stderr := w.cli("verify", w.journal, "--keys", w.registry)
		if code != 0 {
			require.Contains(w.t, stdout, "code: torn_tail", stderr)
		}
		return code == 0
	}, time.Minute, 10*time.Millisecond)
}

func TestAJournalIsPrunedUnderLoadAndNoRequestFails(t *testing.T) {
	w := newWitnessed(t)
	c := w.start()
	info, err := os.Lstat(filepath.Join(w.journal, "control.sock"))
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket|0o600, info.Mode())
	l := newTraffic()
	stop := l.start(t.Context(), c)
	defer stop()
	w.applyUntilRemoved()
	w.requireVerifiedMeanwhile()

	// A hold blocks it, whatever is ready to go.
	code, stdout, stderr := w.cli("hold", "set", w.journalDir(), "--id", "case-7", "--reason", "litigation")
	require.Zero(t, code, stdout+stderr)
	first := w.segments()[0]
	require.Eventually(t, func() bool { return len(w.segments()) > 4 }, time.Minute, 10*time.Millisecond)
	code, removed, said := w.apply()
	require.Zero(t, code, said)
	require.Zero(t, removed)
	require.Contains(t, said, `"hold"`)
	require.Equal(t, first, w.segments()[0])
	code, stdout, _ = w.cli("hold", "list", w.journal)
	require.Zero(t, code)
	require.Contains(t, stdout, "case-7")
	code, stdout, stderr = w.cli("hold", "lift", w.journalDir(), "--id", "case-7")
	require.Zero(t, code, stdout+stderr)

	for range 3 {
		w.applyUntilRemoved()
		w.requireVerifiedMeanwhile()
	}
	stop()
	require.Empty(t, l.failed)
	require.NoError(t, c.Stop())
	_, err = os.Lstat(filepath.Join(w.journal, "control.sock"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	// Without a collector the command opens the journal itself.
	code, _, said = w.apply()
	require.Equal(t, 2, code, said)
	require.Contains(t, said, "--signing-key FILE")
	code, removed, said = w.apply("--signing-key", w.key)
	require.Zero(t, code, said)
	require.Positive(t, removed)
	w.requireKept(l)
}

// TestAPruningThatIsKilledAnywhereIsCompleted kills the collector at random moments
// of prunings under load.
func TestAPruningThatIsKilledAnywhereIsCompleted(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWitnessed(t)
	l := newTraffic()
	for range 8 {
		c := w.start()
		w.requireVerified()
		stop := l.start(t.Context(), c)
		require.Eventually(t, func() bool { return len(w.segments()) > 6 }, time.Minute, 10*time.Millisecond)
		var pruning sync.WaitGroup
		pruning.Go(func() { w.apply() })
		l.await(t, random.Int64N(900))
		c.Kill()
		pruning.Wait()
		stop()
	}
	c := w.start()
	require.NoError(t, c.Stop())
	segments := w.segments()
	var newest uint64
	prunings := 0
	for _, e := range w.entries() {
		if e.Journal != nil && e.Journal.EventType == "journal.pruned" {
			prunings++
			newest = uint64(e.Journal.Detail["first_sequence"].(float64))
		}
	}
	t.Logf("%d prunings stand in what is left", prunings)
	names := make([]string, len(segments))
	for i, s := range segments {
		names[i] = filepath.Base(s)
	}
	if newest > 0 {
		require.True(t, slices.IsSorted(names))
		require.Equal(t, newest, uint64(w.entries()[0].sequence()))
	}
	code, _, said := w.apply("--signing-key", w.key)
	require.Zero(t, code, said)
	w.requireKept(l)
}

func (e entry) sequence() int {
	switch {
	case e.Read != nil:
		return e.Read.Sequence
	case e.Journal != nil:
		return e.Journal.Sequence
	}
	return int(e.Lineage["sequence"].(float64))
}
