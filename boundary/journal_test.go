// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/record"
)

// fakeJournal speaks the protocol of the receiver. It knows repeats and conflicts, and
// of the rules of actions what a test tells it.
type fakeJournal struct {
	t   testing.TB
	url string
	key ed25519.PrivateKey

	mu sync.Mutex
	// refuse returns the status and code with which a record is refused, 0 to take it.
	refuse func(r stored) (int, string)
	// answer, if it is set, may answer in place of the journal.
	answer  func(w http.ResponseWriter, body []byte) bool
	records []stored
	posts   int
	seen    map[string]Receipt
}

// stored is a record as the journal took it.
type stored struct {
	kind     record.Kind
	raw      []byte
	Action   record.Action
	Approval record.Approval
}

// state is what a test looks for: the state of an action, the kind of an approval.
func (s stored) state() string {
	if s.kind == record.KindApproval {
		return "approval " + string(s.Approval.Kind)
	}
	return string(s.Action.State)
}

func newFakeJournal(t testing.TB) *fakeJournal {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	f := &fakeJournal{t: t, key: key, seen: map[string]Receipt{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fakeJournal) client() *Client { return &Client{URL: f.url, MaxWait: 2 * time.Second} }

func (f *fakeJournal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posts++
	body, err := io.ReadAll(r.Body)
	if !assert.NoError(f.t, err) || !assert.Equal(f.t, "/v1/records", r.URL.Path) {
		return
	}
	if f.answer != nil && f.answer(w, body) {
		return
	}
	batch, ok := f.read(body)
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for i, s := range batch {
		if f.refuse == nil {
			break
		}
		if status, code := f.refuse(s); status != 0 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_ = json.MarshalWrite(w, map[string]any{"code": code, "pointer": "#/" + string(rune('0'+i)), "detail": "CANARY-detail-1"})
			return
		}
	}
	var receipts []Receipt
	for _, s := range batch {
		receipts = append(receipts, f.take(s))
	}
	_ = json.MarshalWrite(w, map[string]any{"receipts": receipts})
}

// read decodes a batch as the receiver does, which refuses what no schema allows.
func (f *fakeJournal) read(body []byte) (batch []stored, ok bool) {
	records, problem := intake.Decode(bytes.NewReader(body), intake.JSON, intake.DefaultLimits(), intake.Observed{UpstreamContextSource: "authenticated:executor"})
	if problem != nil {
		assert.Fail(f.t, "the receiver would refuse", "%v at %s: %s", problem, problem.Pointer, body)
		return nil, false
	}
	for i := range records {
		draft, err := records[i].Draft()
		if !assert.NoError(f.t, err) {
			return nil, false
		}
		s := stored{kind: records[i].Kind, raw: draft.Body()}
		switch body := records[i].Body.(type) {
		case *record.Action:
			s.Action = *body
		case *record.Approval:
			s.Approval = *body
		}
		batch = append(batch, s)
	}
	return batch, true
}

// take writes a record, or finds that it has it.
func (f *fakeJournal) take(s stored) Receipt {
	id := s.Action.EventID + s.Approval.EventID
	if r, again := f.seen[id]; again {
		r.Repeat = true
		return r
	}
	f.records = append(f.records, s)
	hash := sha256.Sum256(s.raw)
	r := Receipt{
		EventID: id, JournalID: "j", Sequence: int64(len(f.records)), RecordHash: "sha256:" + hex.EncodeToString(hash[:]), KeyID: "k",
		Signature: base64.StdEncoding.EncodeToString(ed25519.Sign(f.key, hash[:])), RecordedAt: record.NewTime(time.Now()),
	}
	f.seen[id] = r
	return r
}

func (f *fakeJournal) all() []stored {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.records)
}

func (f *fakeJournal) states() []string {
	var states []string
	for _, s := range f.all() {
		states = append(states, s.state())
	}
	return states
}

// text is everything that was recorded.
func (f *fakeJournal) text() string {
	var text []byte
	for _, s := range f.all() {
		text = append(append(text, s.raw...), '\n')
	}
	return string(text)
}

// setRefusal refuses records in a state with a code.
func (f *fakeJournal) setRefusal(state string, status int, code string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = func(s stored) (int, string) {
		if s.state() == state {
			return status, code
		}
		return 0, ""
	}
}

// countAttempts has the journal take only the next attempt of the action there is, as
// the rules of actions say.
func (f *fakeJournal) countAttempts() {
	f.mu.Lock()
	defer f.mu.Unlock()
	sent := map[int64]string{}
	f.refuse = func(s stored) (int, string) {
		a := s.Action
		switch {
		case a.AttemptID == "" || sent[a.Attempt] == a.AttemptID:
			return 0, ""
		case sent[a.Attempt] != "" || a.Attempt != int64(len(sent)+1):
			return http.StatusConflict, codeAttemptTaken
		}
		sent[a.Attempt] = a.AttemptID
		return 0, ""
	}
}
