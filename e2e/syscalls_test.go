// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// faultCalls are the system calls that a writer makes to keep a journal. A writer
// renames nothing: a rename that it comes to make is failed too.
var faultCalls = []string{
	"openat", "mkdirat", "flock", "write", "pwrite64", "pread64", "fsync", "ftruncate", "rename", "renameat", "renameat2", "unlinkat", "newfstatat", "fstat", "getdents64", "close",
}

// faultParallel is how many writers are traced at once.
const faultParallel = 2

// TestAWriterSurvivesAFaultInEverySystemCall fails each system call of a writer in
// turn, with EIO or by killing it there: of one that begins a journal, and of one
// that finds a journal with a torn tail. Afterwards a writer without faults comes
// back, every record that was acknowledged is there once, under the hash of its
// receipt, there is at most one group besides, and the journal verifies.
func TestAWriterSurvivesAFaultInEverySystemCall(t *testing.T) {
	strace := requireStrace(t)
	w := &faultWriter{t: t, strace: strace, bin: filepath.Join(t.TempDir(), "faultwriter"), registry: faultRegistry(t)}
	build := exec.Command("go", "build", "-o", w.bin, "./e2e/faultwriter")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // no loader, whose calls are not the writer's
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var lives []faultLife
	for _, torn := range []bool{false, true} {
		for call, n := range w.calls(torn) {
			for when := 1; when <= n; when++ {
				for _, action := range []string{"error=EIO", "signal=SIGKILL"} {
					if testing.Short() && rng.IntN(8) > 0 {
						continue
					}
					lives = append(lives, faultLife{call, action, when, rng.IntN(2) == 0, torn})
				}
			}
		}
	}
	rng.Shuffle(len(lives), func(i, j int) { lives[i], lives[j] = lives[j], lives[i] })
	queue := make(chan faultLife)
	var wg sync.WaitGroup
	for range faultParallel {
		wg.Go(func() {
			for life := range queue {
				if err := w.live(life); err != nil {
					t.Errorf("%+v: %v", life, err)
				}
			}
		})
	}
	for _, life := range lives {
		queue <- life
	}
	close(queue)
	wg.Wait()
	t.Logf("%d lives with a fault each", len(lives))
	require.NotEmpty(t, lives)
}

// faultLife is a life of a writer with one fault.
type faultLife struct {
	call, action string
	when         int
	grouped      bool
	// torn says that the life begins with a journal of which a crash tore the tail.
	torn bool
}

type faultWriter struct {
	t           *testing.T
	strace, bin string
	registry    *journal.Registry
}

// newJournal returns the place of a journal that the next writer begins, or that
// one left with a torn tail, and the hashes of its records.
func (w *faultWriter) newJournal(torn bool) (dir string, hashes map[string]string, err error) {
	base, err := os.MkdirTemp(w.t.TempDir(), "")
	dir = filepath.Join(base, "journal")
	if err != nil || !torn {
		return dir, nil, err
	}
	out, err := exec.Command(w.bin, "-dir", dir).Output()
	if err != nil {
		return dir, nil, err
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.events"))
	if err != nil {
		return dir, nil, err
	}
	last := segments[len(segments)-1]
	info, err := os.Stat(last)
	if err != nil {
		return dir, nil, err
	}
	return dir, acknowledged(out), os.Truncate(last, info.Size()-20)
}

func faultRegistry(t *testing.T) *journal.Registry {
	r := &journal.Registry{}
	for seed := range byte(2) {
		text := make([]byte, ed25519.SeedSize)
		text[0] = seed + 1
		public := ed25519.NewKeyFromSeed(text).Public().(ed25519.PublicKey)
		require.NoError(t, r.Add(journal.Key{ID: journal.KeyID(public), PublicKey: public, ValidFrom: record.NewTime(time.Now().Add(-time.Hour))}))
	}
	return r
}

var tracedCall = regexp.MustCompile(`(?m)^(\d+) +(\w+)\(`)

// calls counts the system calls of the thread that keeps the journal in a life
// without faults.
func (w *faultWriter) calls(torn bool) map[string]int {
	dir, _, err := w.newJournal(torn)
	require.NoError(w.t, err)
	log := filepath.Join(filepath.Dir(dir), "strace.log")
	out, err := exec.Command(w.strace, "-f", "-o", log, w.bin, "-dir", dir).CombinedOutput()
	require.NoError(w.t, err, string(out))
	text, err := os.ReadFile(log)
	require.NoError(w.t, err)
	threads := map[string]map[string]int{}
	for _, m := range tracedCall.FindAllStringSubmatch(string(text), -1) {
		if threads[m[1]] == nil {
			threads[m[1]] = map[string]int{}
		}
		threads[m[1]][m[2]]++
	}
	var keeper map[string]int
	for _, calls := range threads {
		// The index of repeats, which other threads keep, is locked and written too, but
		// hardly ever synced.
		if keeper == nil || calls["fsync"] > keeper["fsync"] {
			keeper = calls
		}
	}
	counted := map[string]int{}
	for _, call := range faultCalls {
		if n := keeper[call]; n > 0 {
			counted[call] = n
		}
	}
	w.t.Logf("system calls of a life, torn %v: %v", torn, counted)
	for _, call := range []string{"openat", "pwrite64", "fsync", "close"} {
		require.Greater(w.t, counted[call], 3, call)
	}
	return counted
}

// live has a writer meet its fault, and then one without faults come back.
func (w *faultWriter) live(life faultLife) error {
	dir, kept, err := w.newJournal(life.torn)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(dir))
	args := []string{"-dir", dir, fmt.Sprintf("-grouped=%v", life.grouped)}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	faulty := exec.CommandContext(ctx, w.strace, append([]string{
		"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + life.call,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", life.call, life.action, life.when), w.bin,
	}, args...)...)
	first, faultErr := faulty.Output()
	if life.action == "error=EIO" && faultErr != nil {
		return fmt.Errorf("an error ended the writer: %w", faultErr)
	}
	before, err := readIDs(dir)
	if err != nil {
		return err
	}
	heard := acknowledged(first)
	if unheard := len(before) - len(heard); kept == nil && (unheard < 0 || unheard > 2) {
		return fmt.Errorf("%d records are there and %d were acknowledged", len(before), len(heard))
	}
	second, err := exec.CommandContext(ctx, w.bin, args...).Output()
	if err != nil {
		return fmt.Errorf("no writer comes back: %w", err)
	}
	return w.verify(dir, kept, heard, acknowledged(second))
}

// acknowledged returns the hashes of the records that a writer printed receipts
// of, without a line that was cut off.
func acknowledged(out []byte) map[string]string {
	hashes := map[string]string{}
	for line := range bytes.Lines(out) {
		var r struct {
			ID   string `json:"read_id"`
			Hash string `json:"record_hash"`
		}
		if json.Unmarshal(line, &r) == nil {
			hashes[r.ID] = r.Hash
		}
	}
	return hashes
}

// readIDs returns the record hashes of the reads that stand in a journal, whatever
// else is wrong with it.
func readIDs(dir string) (map[string]string, error) {
	segments, err := filepath.Glob(filepath.Join(dir, "*.events"))
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, s := range segments {
		text, err := os.ReadFile(s)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			e, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
			if err != nil || e.Kind != record.KindRead {
				continue
			}
			r, err := record.RepeatOf(e.Kind, e.Body)
			if err != nil {
				return nil, err
			}
			if hashes[r.ID] != "" {
				return nil, fmt.Errorf("%s stands twice", r.ID)
			}
			hashes[r.ID] = e.Integrity.RecordHash
		}
	}
	return hashes, nil
}

func (w *faultWriter) verify(dir string, lives ...map[string]string) error {
	sources, err := journal.Open(dir)
	if err != nil {
		return err
	}
	report, err := journal.Verify(w.t.Context(), sources[0], journal.Options{Registry: w.registry})
	if err != nil {
		return err
	}
	if report.ExitCode() != 0 {
		return fmt.Errorf("journal does not verify: %+v", report)
	}
	there, err := readIDs(dir)
	if err != nil {
		return err
	}
	if len(there) != 8 {
		return fmt.Errorf("%d records are there, not 8", len(there))
	}
	for _, heard := range lives {
		for id, hash := range heard {
			if there[id] != hash {
				return fmt.Errorf("%s has %s and its receipt says %s", id, there[id], hash)
			}
		}
	}
	return nil
}
