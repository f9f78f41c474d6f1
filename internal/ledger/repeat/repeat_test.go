// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
)

// A write that waits for a lock of an abandoned file is left behind with it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/readtrail/readtrail/internal/ledger/repeat.(*store).write"))
}

const window = 24 * time.Hour

var now = time.Unix(1_800_000_000, 0)

func open(t *testing.T, path string) *repeat.Index {
	t.Helper()
	x, err := repeat.Open(path, "jrn_1", window)
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.Close(now) })
	return x
}

func mark(n int, at time.Time) repeat.Mark {
	id := fmt.Sprintf("read_%d", n)
	return repeat.Mark{
		Key:      repeat.KeyOfID(id),
		Seen:     repeat.Seen{At: segment.Position{Segment: 1, Offset: int64(n)}, Digest: repeat.DigestOf(sha256.Sum256([]byte(id)))},
		Recorded: at,
	}
}

func upTo(n int) repeat.Position {
	return repeat.Position{At: segment.Position{Segment: 1, Offset: int64(n)}, Sequence: uint64(n), Hash: "sha256:00"}
}

func learn(x *repeat.Index, from, to int, at time.Time) {
	for n := from; n < to; n++ {
		x.Learn(upTo(n), mark(n, at))
	}
}

func requireKnown(t *testing.T, x *repeat.Index, want bool, ns ...int) {
	t.Helper()
	for _, n := range ns {
		m := mark(n, now)
		found, err := x.Find(m.Key)
		require.NoError(t, err)
		if want {
			require.Equal(t, &m.Seen, found[0], "record %d", n)
		} else {
			require.Nil(t, found[0], "record %d", n)
		}
	}
}

func TestMarksAreKnownBeforeAndAfterTheyAreWrittenAndAfterReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index", "repeats.db")
	x := open(t, path)
	learn(x, 0, 100, now)
	requireKnown(t, x, true, 0, 99)
	requireKnown(t, x, false, 100)
	x.Start(now)
	learn(x, 100, 150, now)
	requireKnown(t, x, true, 0, 99, 149)
	require.NoError(t, x.Done(<-x.Written()))
	requireKnown(t, x, true, 0, 99, 149)
	require.NoError(t, x.Flush(now))
	require.Equal(t, upTo(149), x.UpTo())
	require.NoError(t, x.Close(now))

	x = open(t, path)
	require.Equal(t, upTo(149), x.UpTo())
	requireKnown(t, x, true, 0, 99, 149)
	requireKnown(t, x, false, 150)
}

func TestAMarkIsForgottenSomeTimeAfterItsWindowUnlessItsIDWasGiven(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "repeats.db"))
	given := mark(1, now)
	given.Given = true
	x.Learn(upTo(0), mark(0, now), given)
	for n, age := range []time.Duration{0, window, window + window/3} {
		x.Learn(upTo(n+10), mark(n+10, now.Add(age)))
		require.NoError(t, x.Flush(now.Add(age)))
		requireKnown(t, x, age <= window, 0)
		requireKnown(t, x, true, 1, n+10)
	}
}

func TestAFileOfAnotherJournalOrOfAShorterWindowIsBegunAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repeats.db")
	x := open(t, path)
	learn(x, 0, 10, now)
	require.NoError(t, x.Close(now))
	for _, c := range []struct {
		journal string
		window  time.Duration
		kept    bool
	}{{"jrn_1", window / 2, true}, {"jrn_1", window, true}, {"jrn_1", 2 * window, false}, {"jrn_2", window, false}} {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		x, err := repeat.Open(path, c.journal, c.window)
		require.NoError(t, err)
		require.Equal(t, c.kept, x.UpTo() != repeat.Position{})
		require.NoError(t, x.Close(now))
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
}

// Whatever happens to the file, the index is opened, knows a record where it
// stands or not at all, and never panics.
func TestADamagedFileIsNoticedOrKnowsLess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "repeats.db")
	x := open(t, path)
	learn(x, 0, 3000, now)
	require.NoError(t, x.Close(now))
	sound, err := os.ReadFile(path)
	require.NoError(t, err)

	rng := rand.New(rand.NewPCG(1, 1))
	noticed := 0
	for round := range 60 {
		b := append([]byte(nil), sound...)
		switch round % 3 {
		case 0:
			b = b[:rng.IntN(len(b))]
		case 1:
			for range 20 {
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			}
		default:
			from := rng.IntN(len(b) - 4096)
			clear(b[from : from+4096])
		}
		path := filepath.Join(dir, fmt.Sprintf("damaged%d.db", round))
		require.NoError(t, os.WriteFile(path, b, 0o600))
		x, err := repeat.Open(path, "jrn_1", window)
		require.NoError(t, err)
		for n := range 3000 {
			m := mark(n, now)
			found, err := x.Find(m.Key)
			if err != nil {
				require.ErrorIs(t, err, repeat.ErrDamaged)
				noticed++
				require.NoError(t, x.Reset())
				break
			}
			if found[0] != nil {
				require.Equal(t, m.Seen, *found[0])
			}
		}
		x.Learn(upTo(1), mark(1, now))
		if err := x.Flush(now); err != nil {
			require.ErrorIs(t, err, repeat.ErrDamaged)
			noticed++
			require.NoError(t, x.Reset())
			x.Learn(upTo(1), mark(1, now))
		}
		requireKnown(t, x, true, 1)
		require.NoError(t, x.Close(now))
	}
	require.Positive(t, noticed)
}

func TestTheIndexIsFullBeforeItHoldsTooMuch(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "repeats.db"))
	require.False(t, x.Worthwhile())
	learn(x, 0, 1<<15, now)
	require.True(t, x.Worthwhile())
	require.False(t, x.Full())
	learn(x, 1<<15, 1<<18, now)
	require.True(t, x.Full())
	require.NoError(t, x.Flush(now))
	require.False(t, x.Full())
	requireKnown(t, x, true, 0, 1<<18-1)
}

// Runs are merged and merged runs removed; whatever the order, and after opening
// the file again, every mark is found, and of a key that is marked anew the last.
func TestMarksAreFoundThroughManyMerges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repeats.db")
	x := open(t, path)
	rng := rand.New(rand.NewPCG(3, 3))
	want := map[int]int64{}
	for round := range 120 {
		for range 1 + rng.IntN(400) {
			n := rng.IntN(20_000)
			m := mark(n, now)
			m.Given = n%5 == 0
			m.Seen.At.Offset = int64(round)
			want[n] = m.Seen.At.Offset
			x.Learn(upTo(round+1), m)
		}
		require.NoError(t, x.Flush(now))
		if round%10 == 9 {
			require.NoError(t, x.Close(now))
			x = open(t, path)
			require.Equal(t, upTo(round+1), x.UpTo())
		}
	}
	for n := range 20_000 {
		found, err := x.Find(mark(n, now).Key)
		require.NoError(t, err)
		offset, known := want[n]
		require.Equal(t, known, found[0] != nil, n)
		if known {
			require.Equal(t, offset, found[0].At.Offset, n)
		}
	}
}

// A look-up beside a write finds what it found before it: runs that are merged
// and generations that expire meanwhile are still there.
func TestALookUpBesideAWriteMissesNothing(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "repeats.db"))
	x.Learn(upTo(1), mark(0, now.Add(-window)))
	for round := range 60 {
		at := now.Add(time.Duration(round) * window / 20)
		learn(x, 1+100*round, 101+100*round, at)
		x.Start(at)
		for done := false; !done; {
			requireKnown(t, x, true, 1+100*round, 100+100*round, max(1, 100*round-500))
			select {
			case err := <-x.Written():
				require.NoError(t, x.Done(err))
				done = true
			default:
			}
		}
	}
	requireKnown(t, x, false, 0)
}

// damages are what can be done to a file that is open.
var damages = map[string]func(t *testing.T, path string){
	"truncated to nothing": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
	"with destroyed metadata": func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.Write(bytes.Repeat([]byte{0xAA}, 2*os.Getpagesize()))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	},
}

// What bbolt panics about in the middle of a look-up or a write must not leave
// the index unusable: it is reset and goes on.
func TestAFileDamagedWhileItIsOpenIsNoticedAndBegunAnew(t *testing.T) {
	for name, damage := range damages {
		for way, notice := range map[string]func(x *repeat.Index) error{
			"by a look-up": func(x *repeat.Index) error {
				_, err := x.Find(mark(50, now).Key)
				return err
			},
			"by a write": func(x *repeat.Index) error {
				x.Learn(upTo(3001), mark(3001, now))
				return x.Flush(now)
			},
			"by a look-up and then a write": func(x *repeat.Index) error {
				_, err := x.Find(mark(50, now).Key)
				require.ErrorIs(t, err, repeat.ErrDamaged)
				x.Learn(upTo(3001), mark(3001, now))
				return x.Flush(now)
			},
		} {
			t.Run(name+", noticed "+way, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "repeats.db")
				x := open(t, path)
				learn(x, 0, 3000, now)
				require.NoError(t, x.Flush(now))
				damage(t, path)
				require.ErrorIs(t, notice(x), repeat.ErrDamaged)
				require.NoError(t, x.Reset())
				requireKnown(t, x, false, 0, 2999)
				learn(x, 0, 10, now)
				require.NoError(t, x.Flush(now))
				requireKnown(t, x, true, 0, 9)
			})
		}
	}
}

func TestAnIndexThatWasDamagedWhileItWasOpenIsClosedAndOpenedAgainAtOnce(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "repeats.db")
			x, err := repeat.Open(path, "jrn_1", window)
			require.NoError(t, err)
			learn(x, 0, 3000, now)
			require.NoError(t, x.Flush(now))
			damage(t, path)
			_, err = x.Find(mark(50, now).Key)
			require.ErrorIs(t, err, repeat.ErrDamaged)
			learn(x, 3000, 3001, now)
			require.ErrorIs(t, x.Close(now), repeat.ErrDamaged)
			require.NoFileExists(t, path)
			require.Equal(t, repeat.Position{}, open(t, path).UpTo())
		})
	}
}

// A look-up that panics keeps locks that a write beside it needs: nobody waits
// for that write.
func TestAWriteBesideALookUpThatFoundTheFileDamagedIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "repeats.db")
	x := open(t, path)
	for round := range 8 {
		learn(x, 20_000, 30_000, now)
		require.NoError(t, x.Flush(now))
		learn(x, 0, 20_000, now)
		x.Start(now)
		for n := range 1000 << round { // until the write is under way, sooner or later
			_, err := x.Find(mark(20_000+n%10_000, now).Key)
			require.NoError(t, err)
		}
		damages["with destroyed metadata"](t, path)
		_, err := x.Find(mark(20_000, now).Key)
		if err == nil { // the write was done later, and wrote the metadata anew
			x.Learn(upTo(20_000), mark(20_000, now))
			err = x.Flush(now)
		}
		if err != nil {
			require.ErrorIs(t, err, repeat.ErrDamaged)
		}
		require.NoError(t, x.Reset())
		learn(x, 0, 10, now)
		require.NoError(t, x.Flush(now))
		requireKnown(t, x, true, 0, 9)
	}
}
