// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

// memoryJournal is an extension that keeps what it is given.
type memoryJournal struct {
	component.StartFunc
	component.ShutdownFunc
	noActions bool

	mu sync.Mutex
	// answer answers instead, if it is set.
	answer func(ctx context.Context, scope record.Scope, drafts []*record.Draft) ([]journal.Receipt, error)
	scopes []record.Scope
	drafts []*record.Draft
}

func scopeOf(organization, class string) record.Scope {
	return record.Scope{OrganizationRef: organization, Environment: "test", RetentionClass: class}
}

// Scope has the base scope bank/short, and three more.
func (*memoryJournal) Scope(organization, class string) (record.Scope, bool) {
	if organization == "" {
		organization = "bank"
	}
	if class == "" {
		class = "short"
	}
	switch organization + "/" + class {
	case "bank/short", "bank/long", "insurer/short", "insurer/long":
		return scopeOf(organization, class), true
	}
	return record.Scope{}, false
}

func (m *memoryJournal) HasActions() bool { return !m.noActions }

// Follow has no reads.
func (m *memoryJournal) Follow(string, string, chan<- struct{}) (ledger.Trails, error) {
	return nil, nil
}

func (m *memoryJournal) FindRecord(context.Context, record.Scope, record.Kind, string) (*journal.Entry, error) {
	return nil, ledger.ErrNotFound
}

func (m *memoryJournal) FindRead(context.Context, string, string) (*journal.Entry, error) {
	return nil, ledger.ErrNotFound
}

func (m *memoryJournal) AppendStrict(ctx context.Context, scope record.Scope, drafts []*record.Draft) ([]journal.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answer != nil {
		return m.answer(ctx, scope, drafts)
	}
	receipts := make([]journal.Receipt, len(drafts))
	for i, d := range drafts {
		m.scopes, m.drafts = append(m.scopes, scope), append(m.drafts, d)
		receipts[i] = journal.Receipt{EventID: fmt.Sprintf("evt_%d", len(m.drafts)), JournalID: "jrn_1", Sequence: uint64(len(m.drafts))}
	}
	return receipts, nil
}

// Receipt finds evt_N, the Nth draft, in the scope that it went to. The proofs are of a
// checkpoint that covers the first entry only.
func (m *memoryJournal) Receipt(_ context.Context, organization, class, eventID string, prove bool) (journal.Receipt, *journal.InclusionProof, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch eventID {
	case "evt_pruned":
		return journal.Receipt{}, nil, fmt.Errorf("journal: %w", ledger.ErrPruned)
	case "evt_unreadable":
		return journal.Receipt{}, nil, errors.New("/var/lib/journal: input/output error")
	}
	for i, s := range m.scopes {
		if s != scopeOf(organization, class) || eventID != fmt.Sprintf("evt_%d", i+1) {
			continue
		}
		found := journal.Receipt{EventID: eventID, JournalID: "jrn_1", Sequence: uint64(i) + 1}
		if !prove || i > 0 {
			return found, nil, nil
		}
		return found, &journal.InclusionProof{Checkpoint: &journal.SignedCheckpoint{Note: []byte("note\n")}}, nil
	}
	return journal.Receipt{}, nil, fmt.Errorf("journal: %w", ledger.ErrNotFound)
}

// Lookup finds nothing: that a record is looked up at all is for tests with a journal
// on disk.
func (*memoryJournal) Lookup(_ context.Context, _ record.Scope, ids ...string) ([]*journal.Entry, error) {
	return make([]*journal.Entry, len(ids)), nil
}

func (m *memoryJournal) answers(answer func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

// appended is what the journal was given: "organization/class id".
func (m *memoryJournal) appended() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, d := range m.drafts {
		out = append(out, m.scopes[i].OrganizationRef+"/"+m.scopes[i].RetentionClass+" "+d.ID())
	}
	return out
}

// host has extensions and keeps the statuses that are reported to it.
type host struct {
	extensions map[component.ID]component.Component
	mu         sync.Mutex
	events     []*componentstatus.Event
}

func hostWith(j component.Component) *host {
	return &host{extensions: map[component.ID]component.Component{defaultJournal: j}}
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *host) statuses() (out []componentstatus.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		out = append(out, e.Status())
	}
	return out
}

// rig is a receiver that listens, beside a journal in memory.
type rig struct {
	t        testing.TB
	receiver *eventReceiver
	journal  *memoryJournal
	host     *host
	tel      *componenttest.Telemetry
	logs     *observer.ObservedLogs
	client   *http.Client
	scheme   string
}

// newRig starts a receiver. change is called before, with what may be changed.
func newRig(t testing.TB, change func(*rig, *Config)) *rig {
	t.Helper()
	r := &rig{t: t, journal: &memoryJournal{}, tel: componenttest.NewTelemetry(), client: &http.Client{}, scheme: "http"}
	r.host = hostWith(r.journal)
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "localhost:0"
	cfg.ProvenanceWait = 0
	if change != nil {
		change(r, cfg)
	}
	require.NoError(t, cfg.Validate())
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	set.TelemetrySettings = r.tel.NewTelemetrySettings()
	core, logs := observer.New(zap.DebugLevel)
	set.Logger, r.logs = zap.New(core), logs
	got, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewErr(assert.AnError))
	require.NoError(t, err)
	r.receiver = got.(*eventReceiver)
	require.NoError(t, r.receiver.Start(t.Context(), r.host))
	r.receiver.api.endpoints = append(r.receiver.api.endpoints, decisionsOf(r.receiver.api))
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		assert.NoError(t, r.receiver.Shutdown(ctx))
		assert.NoError(t, r.tel.Shutdown(ctx))
	})
	return r
}

// decisionsOf is an endpoint that makes a decision record of each line of the body,
// with that line as its id.
func decisionsOf(a *api) *endpoint {
	return &endpoint{name: "records", method: http.MethodPost, path: "/test", media: []string{mediaNDJSON}, serve: func(ctx context.Context, c *call) reply {
		var records []incoming
		for i, id := range strings.Fields(string(c.body)) {
			d, err := record.NewBodyDraft(record.KindDecision, record.SchemaVersion, true, map[string]string{"decision_id": id, "occurred_at": "2026-11-30T00:00:00.000000000Z"})
			if err != nil {
				return newProblem(codeMalformed, "no id").reply()
			}
			records = append(records, incoming{draft: d, pointer: fmt.Sprintf("/%d/decision_record", i)})
		}
		receipts, p := a.append(ctx, c, records)
		if p != nil {
			return p.reply()
		}
		return a.receiptsReply(records, receipts, make([][]record.Unmet, len(receipts)), make([][]string, len(receipts)))
	}}
}

func (r *rig) url(path string) string {
	return r.scheme + "://" + r.receiver.listener.Addr().String() + path
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends a request with headers given as name, value, ...
func (r *rig) send(method, path, body string, headers ...string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url(path), bytes.NewBufferString(body))
	require.NoError(r.t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return answer{res.StatusCode, res.Header, string(text)}
}

// serve has a handler answer a request without a network, nil if it is none.
func serve(t testing.TB, handler http.Handler, method, path, body string, headers map[string]string) *answer {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		return nil
	}
	target, err := url.ParseRequestURI(path)
	if err != nil {
		return nil
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/", strings.NewReader(body))
	if err != nil {
		return nil
	}
	req.URL.Path, req.URL.RawQuery = target.Path, target.RawQuery
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, req)
	return &answer{w.Code, w.Header(), w.Body.String()}
}

// decide sends decisions with the ids, separated by blanks.
func (r *rig) decide(ids string, headers ...string) answer {
	r.t.Helper()
	return r.send(http.MethodPost, "/test", ids, append([]string{"Content-Type", mediaNDJSON}, headers...)...)
}

func unmarshal[T any](t testing.TB, text string) (out T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	return out
}

// requireProblem demands problem details, whole.
func requireProblem(t testing.TB, a answer, status int, code, pointer string) {
	t.Helper()
	require.Equal(t, status, a.status, a.body)
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	p := unmarshal[map[string]any](t, a.body)
	assert.Equal(t, "urn:readtrail:problem:"+code, p["type"])
	assert.Equal(t, code, p["code"])
	assert.EqualValues(t, status, p["status"])
	assert.NotEmpty(t, p["title"])
	assert.NotEmpty(t, p["detail"])
	if pointer == "" {
		assert.NotContains(t, p, "pointer")
	} else {
		assert.Equal(t, pointer, p["pointer"])
	}
}
