// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

var epoch = time.Date(2026, 10, 9, 8, 12, 3, 0, time.UTC)

var scope = record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "credit"}

type testSigner struct{ private ed25519.PrivateKey }

func (s testSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s testSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

func (s testSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

var signer = testSigner{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}

// memory is a journal of actions and one of reads. Its clock is told what time it is.
type memory struct {
	t   testing.TB
	mu  sync.Mutex
	now time.Time
	// entries are those of both, by kind of journal.
	entries map[bool][]*journal.Entry
	ids     map[string][32]byte
	// broken is what every call answers.
	broken error
}

func newMemory(t testing.TB) *memory {
	return &memory{t: t, now: epoch, entries: map[bool][]*journal.Entry{}, ids: map[string][32]byte{}}
}

func (m *memory) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *memory) advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

func (m *memory) ActionScopes() []record.Scope { return []record.Scope{scope} }

func (m *memory) ActionsSince(_ context.Context, _ record.Scope, since time.Time) iter.Seq2[*journal.Entry, error] {
	return m.all(func(e *journal.Entry) bool { return !e.Header.RecordedAt.Std().Before(since) }, true)
}

func (m *memory) AllOf(_ context.Context, _ record.Scope, executionID string) iter.Seq2[*journal.Entry, error] {
	return m.all(func(e *journal.Entry) bool { return e.Header.Correlation.ExecutionID == executionID }, true, false)
}

func (m *memory) all(wanted func(*journal.Entry) bool, kinds ...bool) iter.Seq2[*journal.Entry, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []*journal.Entry
	for _, kind := range kinds {
		for _, e := range m.entries[kind] {
			if wanted(e) {
				found = append(found, e)
			}
		}
	}
	err := m.broken
	return func(yield func(*journal.Entry, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range found {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) AppendStrict(_ context.Context, _ record.Scope, drafts []*record.Draft) ([]journal.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return nil, m.broken
	}
	for i, d := range drafts {
		require.NoError(m.t, schema.ValidateDraft(d))
		if digest, found := m.ids[d.ID()]; found && digest != d.Digest() {
			return nil, &ledger.Refusal{Index: i, Code: ledger.CodeConflict}
		}
	}
	for _, d := range drafts {
		if _, found := m.ids[d.ID()]; found {
			continue
		}
		m.ids[d.ID()] = d.Digest()
		n := uint64(len(m.entries[true])+len(m.entries[false])) + 2
		id := d.EventID()
		if id == "" {
			id = fmt.Sprintf("evt_%d", n)
		}
		body := d.Complete(record.Completion{
			EventID: id, JournalID: "jrn_1", Sequence: n, RecordedAt: record.NewTime(m.now), Scope: scope, CollectorID: "c",
		})
		line, err := journal.Assemble(d.Kind(), d.Version(), body, "sha256:"+strings.Repeat("0", 64), signer).Sign(signer)
		require.NoError(m.t, err)
		e, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
		require.NoError(m.t, err)
		m.entries[d.OfActions()] = append(m.entries[d.OfActions()], e)
	}
	return nil, nil
}

// put appends drafts, each to its journal.
func (m *memory) put(drafts ...*record.Draft) {
	m.t.Helper()
	for _, d := range drafts {
		_, err := m.AppendStrict(context.Background(), scope, []*record.Draft{d})
		require.NoError(m.t, err)
	}
}

// types are the event types in the journal of actions about audit events.
func (m *memory) types() (types []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries[true] {
		if e.Kind == record.KindAuditEvent || strings.HasPrefix(e.Header.EventType, "audit_event.") && e.Header.EventType != record.EventAuditPart {
			types = append(types, e.Header.EventType)
		}
	}
	return types
}

// last returns the last entry of the journal of actions.
func (m *memory) last() *journal.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[true][len(m.entries[true])-1]
}

const (
	execution = "run_1"
	action    = "act_1"
	deadline  = 10 * time.Minute
)

var errDown = errors.New("disk is full")

// options are those of an assembler whose trouble is told in troubles.
func (m *memory) options(troubles *[]error) Options {
	return Options{
		Journal: m, Deadline: deadline, Lookback: 24 * time.Hour, MaxPending: 4, Now: m.Now,
		Composed: func() {}, Incomplete: func() {}, Failed: func(err error) { *troubles = append(*troubles, err) },
	}
}

func header(eventType string) record.Header {
	return record.Header{
		EventType: eventType, OccurredAt: record.NewTime(epoch),
		Correlation: record.Correlation{ExecutionID: execution, TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", CallID: "call_1"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: "authenticated:executor", Signal: record.SignalAPI},
	}
}

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func body(t testing.TB, kind record.Kind, b any) *record.Draft {
	d, err := record.NewBodyDraft(kind, record.SchemaVersion, true, b)
	require.NoError(t, err)
	require.NoError(t, schema.ValidateDraft(d))
	return d
}

// state is a state of the action, of an attempt if it has a number.
func state(t testing.TB, s record.ActionState, attempt int64, change func(*record.Action)) *record.Draft {
	a := &record.Action{
		Header: header(s.EventType()), ActionID: action, EdgeType: record.EdgeExternalAction, State: s,
		Actor:     record.Actor{Kind: "agent_process", Identity: "executor"},
		Requested: record.Requested{ToolID: "loan.application.update", ArgumentsDigest: digestOf("a"), ArgumentsCanonicalization: "jcs", ArgumentsSize: 26},
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "loans.example", Port: 443, Protocol: "https", Method: "POST", CredentialRef: "loans", Redaction: record.RedactionNone,
		},
		IdempotencyToken: record.IdempotencyToken(action), ApprovalID: "apr_1",
	}
	if attempt > 0 {
		a.AttemptID, a.Attempt = fmt.Sprintf("att_%d", attempt), attempt
	}
	if s.IsOutcome() {
		sent := int64(99)
		a.Outcome = &record.Outcome{HTTPStatus: 200, BytesSent: &sent, RemoteEffect: record.EffectConfirmed}
		a.OccurredAt = record.NewTime(epoch.Add(time.Minute))
	}
	if change != nil {
		change(a)
	}
	return body(t, record.KindAction, a)
}

func finally(ids ...string) func(*record.Action) {
	return func(a *record.Action) { a.AttemptIDs = ids }
}

func approvalStep(t testing.TB, kind record.ApprovalKind) *record.Draft {
	a := &record.Approval{
		Header: header(kind.EventType()), ApprovalID: "apr_1", RequestID: "req_1", Kind: kind, RequiredRole: "senior_underwriter",
		Binds: record.Binds{
			ActionID: action, Target: record.BoundTarget{Channel: record.ChannelHTTP, Host: "loans.example", Port: 443, Protocol: "https", Method: "POST"},
			CredentialRef: "loans", ArgumentsDigest: digestOf("a"), ActorIdentity: "executor",
		},
	}
	a.Correlation.CallID = ""
	switch kind {
	case record.ApprovalRequested:
		a.ExpiresAt = record.NewTime(epoch.Add(time.Hour))
	case record.ApprovalDecided:
		a.Reviewer, a.Decision = &record.Reviewer{Identity: "user_senior", Role: "senior_underwriter"}, record.Approved
	}
	return body(t, record.KindApproval, a)
}

// toolRead is what the wrapper of the tool says of its call.
func toolRead(t testing.TB, id string, change func(*record.Read)) *record.Draft {
	r := &record.Read{
		Header: header(record.EventReadTool), ReadID: id, ExecutionID: execution, ToolCallID: "call_1", ActionIDs: []string{action},
		Source:    record.Source{Kind: record.SourceAPI, ToolID: "loan.application.update", ToolVersion: "2026-05-11"},
		Request:   record.Request{ArgumentsDigest: digestOf("a"), ArgumentsCanonicalization: "jcs", ArgumentsSize: 26},
		Response:  record.Response{Status: record.StatusOK, ResultDigest: digestOf("b"), ResultCanonicalization: "jcs", ResultSize: 11},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedContent, Response: record.CapturedContent},
	}
	if change != nil {
		change(r)
	}
	d, err := record.NewReadDraft(r, true)
	require.NoError(t, err)
	return d
}

// exampleMembers are members of the published example, by name.
func exampleMembers(t testing.TB) object {
	text, err := os.ReadFile("../../schema/audit-event/1.0.0/examples/complete-execution.json")
	require.NoError(t, err)
	var envelope struct {
		Event object `json:"audit_event"`
	}
	require.NoError(t, json.Unmarshal(text, &envelope))
	return envelope.Event
}

// part is an audit_event.part of the action.
func part(t testing.TB, members object) *record.Draft {
	text, err := json.Marshal(members)
	require.NoError(t, err)
	require.NoError(t, schema.ValidateAuditMembers(text))
	d, err := record.NewAuditPartDraft(record.Header{Correlation: record.Correlation{ExecutionID: execution}}, record.AuditPart{ActionID: action, Members: jsontext.Value(text)})
	require.NoError(t, err)
	return d
}

// parts are what nobody else has a record for, by member.
func parts(t testing.TB) map[string]object {
	example := exampleMembers(t)
	all := map[string]object{
		"correlation": {"correlation": object{"correlation_id": "case_1"}},
		"approval":    {"approval": object{"reviewer": object{"kind": "human"}}},
		"execution":   {"execution": object{"business_outcome": "achieved"}},
		"lineage":     {"lineage": object{"lineage_ref": "trace:0af7651916cd43dd8448eb211c80319c"}},
	}
	for _, name := range []string{"actors", "components", "requested_action", "policy", "evidence", "privacy"} {
		all[name] = object{name: example[name]}
	}
	return all
}

// story are the records of an approved action with one attempt, in their order.
func story(t testing.TB, lacking ...string) (drafts []*record.Draft) {
	all := parts(t)
	for _, name := range lacking {
		delete(all, name)
	}
	put := func(name string, d *record.Draft) {
		if !slices.Contains(lacking, name) {
			drafts = append(drafts, d)
		}
	}
	for _, name := range []string{"correlation", "actors", "components", "requested_action", "policy", "approval", "lineage", "evidence", "privacy"} {
		if members := all[name]; members != nil {
			put(name, part(t, members))
		}
	}
	put("requested", approvalStep(t, record.ApprovalRequested))
	put("decided", approvalStep(t, record.ApprovalDecided))
	put("planned", state(t, record.ActionPlanned, 0, nil))
	put("sent", state(t, record.ActionSent, 1, nil))
	put("read", toolRead(t, "read_1", nil))
	if members := all["execution"]; members != nil {
		put("execution", part(t, members))
	}
	put("completed", state(t, record.ActionCompleted, 1, finally("att_1")))
	return drafts
}
