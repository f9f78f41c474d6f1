// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// executor is one journal of actions through restarts, crashes and lost indexes.
type executor struct {
	t       *testing.T
	rng     *rand.Rand
	fs      *crashfs.FS
	clock   *clock
	options ledger.Options
	ledger  *ledger.Ledger
}

func newExecutor(t *testing.T, seed uint64) *executor {
	x := &executor{t: t, rng: rand.New(rand.NewPCG(seed, 9)), fs: crashfs.New(seed), clock: newClock()}
	x.options = optionsFor(t, x.fs)
	x.options.Now = x.clock.Now
	x.options.MaxSegmentBytes = 12_000
	x.options.GroupSignatures = x.rng.IntN(2) == 0
	x.ledger = open(t, x.options)
	return x
}

// anyStep makes a record about one of a few actions and approvals, which nearly
// always fits to the usual reach.
func anyStep(rng *rand.Rand, now time.Time) step {
	s := step{action: fmt.Sprint("act_", rng.IntN(3)), reach: usual}
	if rng.IntN(12) == 0 {
		s.reach = []reach{
			{"other.example", usual.credential, usual.arguments, usual.identity},
			{usual.host, "vault:other", usual.arguments, usual.identity},
			{usual.host, usual.credential, "sha256:2222222222222222222222222222222222222222222222222222222222222222", usual.identity},
			{usual.host, usual.credential, usual.arguments, "spiffe://bank.example/other"},
		}[rng.IntN(4)]
	}
	if rng.IntN(3) == 0 {
		s.approval = fmt.Sprint("apr_", s.action[len("act_"):], "_", rng.IntN(2))
		s.kind = []string{"requested", "requested", "decided", "decided", "decided", "revoked"}[rng.IntN(6)]
		if s.kind == "decided" {
			s.decision = []string{"approved", "approved", "approved", "rejected"}[rng.IntN(4)]
			if rng.IntN(2) == 0 {
				s.expires = now.Add(time.Duration(rng.IntN(60)) * time.Second).Truncate(time.Second)
			}
		}
		return s
	}
	s.state = []string{"planned", "planned", "sent", "sent", "sent", "sent", "completed", "timeout", "unknown", "failed_before_send", "revoked"}[rng.IntN(11)]
	if s.state == "revoked" && rng.IntN(4) > 0 {
		s.state = "sent"
	}
	if s.state != "planned" && s.state != "revoked" {
		s.number = 1 + rng.IntN(4)
		s.attempt = fmt.Sprint("att_", s.number)
		if rng.IntN(8) == 0 {
			s.attempt += "b"
		}
		if s.state == "completed" || s.state != "sent" && rng.IntN(2) == 0 {
			s.attempts = strings.TrimSpace(strings.Join([]string{"att_1", "att_2", "att_3"}[:min(s.number-1, 3)], " ") + " " + s.attempt)
		}
	}
	if rng.IntN(4) == 0 {
		s.approval = fmt.Sprint("apr_", rng.IntN(3), "_", rng.IntN(2))
	}
	return s
}

// Every answer of the journal is that of the model, whatever restarts, power losses
// and deleted or old indexes are in between. Some seeds are the same in every run,
// two are not.
func TestTheJournalTakesOfActionsWhatTheRulesAllow(t *testing.T) {
	seeds, rounds := []uint64{0, 1, 2, 3, 4, 5}, 400
	if testing.Short() {
		seeds = seeds[:2]
	}
	answers := map[string]int{}
	for _, seed := range append(seeds, rand.Uint64(), rand.Uint64()) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			x, m := newExecutor(t, seed), model{}
			receipts := map[string]journal.Receipt{}
			for round := range rounds {
				if round%80 == 79 { // other actions from here on
					m = nil
					closeLedger(t, x.ledger)
					x = newExecutor(t, x.rng.Uint64())
					receipts = map[string]journal.Receipt{}
				}
				x.interrupt()
				m = x.try(m, receipts, answers)
			}
			x.compare(m)
			closeLedger(t, x.ledger)
		})
	}
	for _, answer := range []string{
		isAccepted, isRepeat, ledger.CodeConflict, ledger.CodeNotPlanned, ledger.CodeChanged, ledger.CodeActionRevoked, ledger.CodeNotBound,
		ledger.CodeApprovalRevoked, ledger.CodeAttemptTaken, ledger.CodeAttemptOpen, ledger.CodeAttemptOver, ledger.CodeAttemptNotSent, ledger.CodeAttemptsDiffer,
	} {
		assert.NotZero(t, answers[answer], answer)
	}
}

// try appends a few records as one and returns what is accepted then.
func (x *executor) try(m model, receipts map[string]journal.Receipt, answers map[string]int) model {
	x.t.Helper()
	x.clock.advance(time.Duration(x.rng.IntN(5)) * time.Second)
	now := x.clock.Now()
	var steps []step
	after, refused, code := m, -1, ""
	var want []string
	for range 1 + x.rng.IntN(3) {
		s := anyStep(x.rng, now)
		if x.rng.IntN(6) == 0 && len(m) > 0 {
			s = m[x.rng.IntN(len(m))]
		}
		steps = append(steps, s)
	}
	for i, s := range steps {
		if refused >= 0 {
			break
		}
		if s.attempts != "" && !slices.Contains(after, s) && x.rng.IntN(6) > 0 {
			s.attempts = after.attemptsWith(s)
			if x.rng.IntN(6) == 0 {
				s.attempts += " att_9"
			}
			steps[i] = s
		}
		answer := after.judge(s, now)
		if s.state == "sent" && slices.Contains(after, s) && slices.ContainsFunc(steps, func(o step) bool { return o.isOutcomeOf(s) }) {
			answer = isRepeat // it says itself how the attempt ended
		}
		answers[answer]++
		want = append(want, answer)
		switch answer {
		case isAccepted:
			after = append(after[:len(after):len(after)], s)
		case isRepeat:
		default:
			refused, code = i, answer
		}
	}
	got, err := x.ledger.AppendStrict(x.t.Context(), drafts(x.t, steps...))
	if refused >= 0 {
		var refusal *ledger.Refusal
		require.ErrorAs(x.t, err, &refusal, "%v %v", want, steps)
		require.Equal(x.t, []any{refused, code}, []any{refusal.Index, refusal.Code}, "%v %v %v", want, steps, m)
		return m
	}
	require.NoError(x.t, err, "%v %v %v", want, steps, m)
	for i, s := range steps {
		require.Equal(x.t, want[i] == isRepeat, got[i].Repeat, "%v", s)
		require.NotEmpty(x.t, got[i].Signature)
		got[i].Repeat = false
		if first, known := receipts[s.id()]; known {
			require.Equal(x.t, first, got[i])
		}
		receipts[s.id()] = got[i]
	}
	return after
}

// interrupt sometimes closes and opens the journal, loses the power, the index, or
// what the index learned last.
func (x *executor) interrupt() {
	x.t.Helper()
	index := filepath.Join(x.options.IndexDir, "repeats.db")
	old, _ := os.ReadFile(index)
	switch x.rng.IntN(16) {
	case 0:
		closeLedger(x.t, x.ledger)
	case 1:
		x.fs.CrashAfter(1)
		_, _ = x.ledger.Append(context.Background(), batch(x.t, 0, 1))
		_ = x.ledger.Close(context.Background())
		x.fs = x.fs.Reboot()
	case 2:
		closeLedger(x.t, x.ledger)
		require.NoError(x.t, os.Remove(index))
	case 3:
		closeLedger(x.t, x.ledger)
		require.NoError(x.t, os.WriteFile(index, old, 0o600))
	default:
		return
	}
	x.options.FS = x.fs
	x.ledger = open(x.t, x.options)
}

// compare reads from the journal what is accepted.
func (x *executor) compare(m model) {
	x.t.Helper()
	var stored model
	for _, e := range audit(x.t, x.fs, dir) {
		if s, ok := stepOf(x.t, e); ok {
			stored = append(stored, s)
		}
	}
	require.Len(x.t, stored, len(m))
	for i := range m {
		require.Equal(x.t, m[i].id(), stored[i].id())
	}
}

// Whatever callers do at once, each entry is one that the rules allow behind those
// before it, and a caller has a receipt of each that it appended.
func TestConcurrentCallersGetNothingThatOnlyOneMayHave(t *testing.T) {
	x := newExecutor(t, 1)
	appended := make([]map[string]bool, 8)
	var wg sync.WaitGroup
	for n := range appended {
		appended[n] = map[string]bool{}
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		wg.Go(func() {
			for range 300 {
				s := anyStep(rng, time.Unix(1_900_000_000, 0))
				receipts, err := x.ledger.AppendStrict(context.Background(), drafts(t, s))
				if _, refused := errors.AsType[*ledger.Refusal](err); !refused && assert.NoError(t, err) && !receipts[0].Repeat {
					appended[n][receipts[0].EventID] = true
				}
			}
		})
	}
	wg.Wait()
	closeLedger(t, x.ledger)
	var m model
	for _, e := range audit(t, x.fs, dir) {
		s, ok := stepOf(t, e)
		if !ok {
			continue
		}
		require.Equal(t, isAccepted, m.judge(s, e.Header.RecordedAt.Std()), "%v %v", s, m)
		m = append(m, s)
		owners := 0
		for _, events := range appended {
			if events[e.Header.EventID] {
				owners++
			}
		}
		require.Equal(t, 1, owners)
	}
	require.NotEmpty(t, m)
}

func TestOfAttemptsAtTheSameTimeOneIsSent(t *testing.T) {
	x := newExecutor(t, 2)
	for round := range 50 {
		plan := step{action: fmt.Sprint("act_", round), state: "planned", reach: usual}
		_, err := x.ledger.AppendStrict(t.Context(), drafts(t, plan))
		require.NoError(t, err)
		var sent, refused [8]bool
		var wg sync.WaitGroup
		for n := range sent {
			wg.Go(func() {
				s := step{action: plan.action, state: "sent", attempt: fmt.Sprint("att_", n), number: 1, reach: usual}
				_, err := x.ledger.AppendStrict(context.Background(), drafts(t, s))
				refusal, is := errors.AsType[*ledger.Refusal](err)
				sent[n], refused[n] = err == nil, is && refusal.Code == ledger.CodeAttemptTaken
			})
		}
		wg.Wait()
		require.Equal(t, 1, count(sent[:]))
		require.Equal(t, len(sent)-1, count(refused[:]))
	}
}

func count(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}
