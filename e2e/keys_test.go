// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/hsm/softhsm"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/rig"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// traffic posts one span after the other from several clients until stop is called.
type traffic struct {
	next    *atomic.Int64
	clients sync.WaitGroup

	mu           sync.Mutex
	acknowledged map[string]bool
	failed       []string
}

func newTraffic() *traffic { return &traffic{next: &atomic.Int64{}, acknowledged: map[string]bool{}} }

// start begins to post to a collector. Without an answer a client gives up.
func (l *traffic) start(ctx context.Context, c *rig.Collector) (stop func()) {
	done := make(chan struct{})
	for range 8 {
		l.clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				n := l.next.Add(1)
				call := fmt.Sprintf("call_%d", n)
				status, answer, err := c.Post(ctx, "/v1/traces", toolSpan(fmt.Sprintf("%032x", n), fmt.Sprintf("%016x", n), call, `{"customer_id":"c1"}`))
				l.note(call, status, answer, err)
				if err != nil {
					return
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		close(done)
		l.clients.Wait()
	})
}

// await returns when so many more requests are begun: a moment of the load, which
// passes sooner or later as the machine is fast or slow.
func (l *traffic) await(t *testing.T, requests int64) {
	t.Helper()
	until := l.next.Load() + requests
	require.Eventually(t, func() bool { return l.next.Load() >= until }, time.Minute, time.Millisecond)
}

func (l *traffic) note(call string, status int, answer string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.failed = append(l.failed, err.Error())
	case status != http.StatusOK:
		l.failed = append(l.failed, fmt.Sprint(status, " ", answer))
	default:
		l.acknowledged[call] = true
	}
}

// requireKept demands that every acknowledged record stands in the journal once.
func (l *traffic) requireKept(h *house) {
	h.t.Helper()
	times := map[string]int{}
	for _, r := range h.reads() {
		times[r.ToolCallID]++
	}
	for call := range l.acknowledged {
		require.Equal(h.t, 1, times[call], "acknowledged %s", call)
	}
}

// key returns the id of the key that stands first in the key file.
func (h *house) keyID() string {
	h.t.Helper()
	signer, err := journal.NewFileSigner(h.key)
	require.NoError(h.t, err)
	return signer.KeyID()
}

// rotate makes a new key with the command.
func (h *house) rotate(more ...string) string {
	h.t.Helper()
	code, stdout, stderr := h.cli(append([]string{"keys", "rotate", "--signing-key", h.key, "--keys", h.registry}, more...)...)
	require.Zero(h.t, code, stdout+stderr)
	return h.keyID()
}

// bridges returns the keys that journal.key_accepted was signed by, in order.
func (h *house) bridges() []string {
	h.t.Helper()
	var keys []string
	for _, line := range h.lines() {
		var e struct {
			Journal   journalRecord `json:"journal_record"`
			Integrity struct {
				Signature struct {
					KeyID string `json:"key_id"`
				} `json:"signature"`
			} `json:"integrity"`
		}
		if json.Unmarshal(line, &e) == nil && e.Journal.EventType == record.EventKeyAccepted {
			keys = append(keys, e.Integrity.Signature.KeyID)
		}
	}
	return keys
}

// TestAKeyIsRotatedUnderLoadAndNoRequestFails rotates the key of a running collector
// several times, and once more while it is stopped.
func TestAKeyIsRotatedUnderLoadAndNoRequestFails(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	l := newTraffic()
	stop := l.start(t.Context(), c)
	defer stop()
	var keys []string
	for range 4 {
		keys = append(keys, h.rotate())
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, keys, h.bridges()) }, 20*time.Second, 50*time.Millisecond)
	}
	stop()
	require.Empty(t, l.failed)
	require.NoError(t, c.Stop())
	h.requireVerified()

	keys = append(keys, h.rotate())
	require.NoError(t, h.start().Stop())
	require.Equal(t, keys, h.bridges())
	h.requireVerified()
	l.requireKept(h)
	t.Logf("%d requests over %d rotations", len(l.acknowledged), len(keys))
	require.Greater(t, len(l.acknowledged), 100)
}

// rotationRounds is how often a rotation is killed.
const rotationRounds = 15

// TestARotationThatIsKilledAnywhereLeavesAJournalThatVerifies kills the command that
// rotates, and the collector that takes the key, at moments drawn by lot.
func TestARotationThatIsKilledAnywhereLeavesAJournalThatVerifies(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d, %d rounds", seed, rotationRounds)
	random := rand.New(rand.NewPCG(seed, 0))
	h := newHouse(t, "e2e/testdata/audit.yaml")
	l := newTraffic()
	halfway := 0
	for range rotationRounds {
		c := h.start()
		stop := l.start(t.Context(), c)
		former := h.keyID()
		// The collector has taken the first key by now, so that no other is needed.
		cmd := exec.Command(cliBin, "keys", "rotate", "--signing-key", h.key, "--keys", h.registry, "--forget-older")
		require.NoError(t, cmd.Start())
		kill := time.AfterFunc(time.Duration(random.IntN(80_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or done before
		kill.Stop()
		if h.keyID() == former {
			halfway++
			h.rotate("--forget-older")
		}
		// The collector looks at the file every second.
		l.await(t, random.Int64N(1200))
		c.Kill()
		stop()
	}
	require.NoError(t, h.start().Stop())
	h.requireVerified()
	l.requireKept(h)
	bridges := h.bridges()
	t.Logf("%d requests, %d rotations, %d commands killed before they had rotated, %d bridges", len(l.acknowledged), rotationRounds, halfway, len(bridges))
	require.Equal(t, h.keyID(), bridges[len(bridges)-1])
	require.Len(t, bridges, rotationRounds, "every key took over once")
	slices.Sort(bridges)
	require.Len(t, slices.Compact(bridges), rotationRounds)
}

// TestWhatAStolenKeySignsIsFoundOnceItIsRevoked goes on with a copy of the journal
// as a thief would: with the former key and a clock that is set back.
func TestWhatAStolenKeySignsIsFoundOnceItIsRevoked(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	status, answer, err := c.Post(t.Context(), "/v1/traces", toolSpan("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "call_1", "{}"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, answer)
	require.NoError(t, c.Stop())
	stolen, err := journal.NewFileSigner(h.key)
	require.NoError(t, err)
	honest := len(h.lines())

	last, err := journal.ParseLine(h.lines()[honest-1])
	require.NoError(t, err)
	forged, err := ledger.Open(t.Context(), ledger.Options{
		Dir: filepath.Join(h.journal, "default", "default", "reads"), Signer: stolen, CollectorID: "collector-e2e",
		Scope: record.Scope{OrganizationRef: "default", Environment: "default", RetentionClass: "default"},
		Now:   func() time.Time { return last.Header.RecordedAt.Std() },
	})
	require.NoError(t, err)
	require.NoError(t, forged.Close(t.Context()))
	h.requireVerified() // nothing tells yet

	h.rotate()
	revoke := []string{"keys", "revoke", "--keys", h.registry, "--reason", "stolen"}
	code, stdout, stderr := h.cli(append(revoke, "--at", "2099-01-01T00:00:00Z", "--", stolen.KeyID())...)
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "dated back")
	h.requireVerified() // dated before the revocation

	place := fmt.Sprintf("%s=%d", last.Header.JournalID, honest+1)
	code, stdout, stderr = h.cli(append(revoke, "--invalid-from", place, "--", stolen.KeyID())...)
	require.Zero(t, code, stdout+stderr)
	code, stdout, _ = h.cli("verify", h.journal, "--keys", h.registry)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "code: key_revoked\n")
	require.Contains(t, stdout, fmt.Sprintf("first_bad_sequence: %d\n", honest+1))
}

// TestTheKeyOfARunningHouseMovesIntoAToken makes a key in SoftHSM, to which the key in
// the file hands over.
func TestTheKeyOfARunningHouseMovesIntoAToken(t *testing.T) {
	token := softhsm.New(t)
	h := newHouse(t, "e2e/testdata/audit.yaml")
	require.NoError(t, h.start().Stop())
	pin := filepath.Join(h.base, "pin")
	require.NoError(t, os.WriteFile(pin, []byte(softhsm.PIN+"\n"), 0o600))
	code, stdout, stderr := h.cli("keys", "new", "--out", h.keyDir, "--pkcs11-module", token.Module, "--token", softhsm.Label, "--label", "journal-1", "--pin-file", pin)
	require.Zero(t, code, stdout+stderr)
	h.variant(`    signing_key: {file: "${env:READTRAIL_KEY}"}`, strings.Join([]string{
		"    signing_key:",
		"      pkcs11: {module: " + token.Module + ", token_label: " + softhsm.Label + ", key_label: journal-1, pin: {file: " + pin + "}}",
		`    outgoing_keys: [{file: "${env:READTRAIL_KEY}"}]`,
	}, "\n"))
	c := h.start()
	l := newTraffic()
	stop := l.start(t.Context(), c)
	l.waitFor(t, 50)
	stop()
	require.Empty(t, l.failed)
	require.NoError(t, c.Stop())
	require.NotContains(t, c.Output(), softhsm.PIN)
	h.requireVerified()
	l.requireKept(h)
	require.Len(t, h.bridges(), 1)
	require.Contains(t, stdout, "key_id: "+h.bridges()[0]+"\n")
}

// waitFor waits until a number of requests are acknowledged.
func (l *traffic) waitFor(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.acknowledged) >= n || len(l.failed) > 0
	}, 20*time.Second, 5*time.Millisecond)
}
