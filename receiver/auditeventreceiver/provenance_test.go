// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"crypto/ed25519"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// ledgers is an extension with two real journals, of one organization.
type ledgers struct {
	memoryJournal
	reads, actions *ledger.Ledger
	// followed has one value for each trail that was begun.
	followed chan string
}

type testSigner struct{ private ed25519.PrivateKey }

func (s testSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s testSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

func (s testSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

func openLedgers(t testing.TB) *ledgers {
	t.Helper()
	open := func() *ledger.Ledger {
		l, err := ledger.Open(t.Context(), ledger.Options{
			Dir: t.TempDir(), Signer: testSigner{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))}, CollectorID: "c",
			Scope: scopeOf("bank", "short"), Executions: true,
		})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, l.Close(context.WithoutCancel(t.Context()))) })
		return l
	}
	return &ledgers{reads: open(), actions: open(), followed: make(chan string, 1000)}
}

func (j *ledgers) of(kind record.Kind) *ledger.Ledger {
	if kind.OfActions() {
		return j.actions
	}
	return j.reads
}

func (j *ledgers) AppendStrict(ctx context.Context, _ record.Scope, drafts []*record.Draft) ([]journal.Receipt, error) {
	return j.of(drafts[0].Kind()).AppendStrict(ctx, drafts)
}

func (j *ledgers) Follow(_, executionID string, wake chan<- struct{}) (ledger.Trails, error) {
	trail, err := j.reads.Follow(executionID, wake)
	j.followed <- executionID
	return ledger.Trails{trail}, err
}

func (j *ledgers) FindRecord(ctx context.Context, _ record.Scope, kind record.Kind, id string) (*journal.Entry, error) {
	return found(j.of(kind).Lookup(ctx, id))
}

func (j *ledgers) FindRead(ctx context.Context, _, readID string) (*journal.Entry, error) {
	return found(j.reads.Lookup(ctx, readID))
}

func found(entries []*journal.Entry, err error) (*journal.Entry, error) {
	if err == nil && entries[0] == nil {
		err = ledger.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return entries[0], nil
}

// read writes a read of a call with a document of a step, as telemetry does.
func (j *ledgers) read(t testing.TB, execution, step, id, call, document string) {
	t.Helper()
	r := &record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: execution, StepID: step},
		},
		ReadID: id, ExecutionID: execution, ToolCallID: call,
		Source: record.Source{Kind: record.SourceAPI}, Response: record.Response{
			Status: record.StatusOK, ResultDigest: "sha256:" + checksum, ResultCanonicalization: "bytes", ResultSize: 1,
		},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}
	if document != "" {
		r.Documents = []record.Document{{DocumentID: document, ChecksumSHA256: checksum, WithContent: true}}
	}
	d, err := record.NewReadDraft(r, false)
	require.NoError(t, err)
	_, err = j.reads.Append(t.Context(), []*record.Draft{d})
	require.NoError(t, err)
}

var checksum = strings.Repeat("8f", 32)

// decision is a decision of step s1 of an execution whose fields have these sources.
func decision(id, execution string, sources ...string) string {
	var fields, provenance []string
	for i, s := range sources {
		fields = append(fields, fmt.Sprintf(`"f%d":{}`, i))
		if s != "" {
			provenance = append(provenance, fmt.Sprintf(`"f%d":%s`, i, s))
		}
	}
	return fmt.Sprintf(`{"schema_version":"1.0.0","decision_record":{"decision_id":%q,"occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":%q,"step_id":"s1"},`+
		`"outcome":{"name":"refer"},"fields":{%s},"field_provenance":{%s},"boundary":{"data_boundary_ref":"b","purpose":"p"}}}`,
		id, execution, strings.Join(fields, ","), strings.Join(provenance, ","))
}

const (
	byCall     = `{"source":"tool","tool_call_id":"call_1","path":"$.address.country"}`
	byModel    = `{"source":"model","marked_for_reviewer":true}`
	unmarked   = `{"source":"model","marked_for_reviewer":"unknown"}`
	byDocument = `{"source":"document","document_id":"doc_1","checksum_sha256":"8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f"}`
)

// judging starts a receiver over real journals.
func judging(t testing.TB, change func(*Config)) (*rig, *ledgers) {
	t.Helper()
	j := openLedgers(t)
	r := newRig(t, func(r *rig, c *Config) {
		r.host = hostWith(j)
		c.FieldProvenance = provenanceEnforce
		if change != nil {
			change(c)
		}
	})
	return r, j
}

// unmetOfAnswer returns "field code" of what an answer says is unmet of its first
// decision that has something.
func unmetOfAnswer(t testing.TB, a answer) (out []string) {
	t.Helper()
	got := unmarshal[struct {
		Receipt  receipt   `json:"receipt"`
		Receipts []receipt `json:"receipts"`
	}](t, a.body)
	for _, r := range got.Receipts {
		require.NotEmpty(t, r.EventID)
		require.NotEmpty(t, r.RecordHash)
		for _, u := range r.Unmet {
			out = append(out, u.Field+" "+u.Code)
		}
	}
	return out
}

// stored returns what the journal has of a decision.
func (j *ledgers) stored(t testing.TB, id string) (unmet []record.Unmet) {
	t.Helper()
	e, err := found(j.actions.Lookup(t.Context(), "decision_record "+id))
	require.NoError(t, err)
	var body struct {
		Unmet []record.Unmet `json:"unmet"`
	}
	require.NoError(t, json.Unmarshal(e.Body, &body))
	return body.Unmet
}

func TestADecisionWhoseSourcesAreConfirmedIsAccepted(t *testing.T) {
	r, j := judging(t, nil)
	j.read(t, "run_1", "s1", "read_1", "call_1", "doc_1")
	a := r.records(decision("dec_1", "run_1", byCall, byDocument, byModel))
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Empty(t, unmetOfAnswer(t, a))
	require.NotContains(t, a.body, "unmet")
	require.Empty(t, j.stored(t, "dec_1"))
}

func TestADecisionThatIsNotConfirmedIsRecordedAndRefusedUnderEnforce(t *testing.T) {
	for _, mode := range []string{provenanceEnforce, provenanceReport} {
		t.Run(mode, func(t *testing.T) {
			r, j := judging(t, func(c *Config) { c.FieldProvenance = mode })
			j.read(t, "run_2", "s1", "read_2", "call_1", "")
			j.read(t, "run_1", "s2", "read_1", "", "doc_1")
			body := decision("dec_1", "run_1", "", byCall, byDocument, unmarked, `{"source":"tool","read_id":"read_2","path":"$"}`, byModel)
			a := r.records(body)
			want := []string{
				"f0 missing_field_provenance", "f1 missing_field_provenance", "f2 citation_not_shown", "f3 model_value_unmarked", "f4 citation_wrong_execution",
			}
			if mode == provenanceEnforce {
				requireProblem(t, a, http.StatusUnprocessableEntity, "provenance_unmet", "#/decision_record")
				require.Equal(t, unmarshal[map[string]any](t, a.body)["receipt"], unmarshal[struct {
					Receipts []any `json:"receipts"`
				}](t, a.body).Receipts[0])
			} else {
				require.Equal(t, http.StatusOK, a.status, a.body)
			}
			require.Equal(t, want, unmetOfAnswer(t, a))
			require.Len(t, j.stored(t, "dec_1"), 5)

			// A retry gets the same answer, whatever is known by then.
			j.read(t, "run_1", "s1", "read_3", "call_1", "doc_1")
			again := r.records(body)
			require.Equal(t, a.status, again.status)
			require.Equal(t, want, unmetOfAnswer(t, again))
			require.Equal(t, strings.ReplaceAll(a.body, `"repeat":false`, `"repeat":true`), again.body)
			// Another body under this id is a conflict, and waits for nothing.
			requireProblem(t, r.records(decision("dec_1", "run_1", byModel)), http.StatusConflict, "conflict", "#/decision_record")
		})
	}
}

func TestADecisionWaitsForReadsThatTelemetryBringsLater(t *testing.T) {
	r, j := judging(t, func(c *Config) { c.ProvenanceWait = 20 * time.Second })
	answers := make(chan answer, 1)
	go func() { answers <- r.records(decision("dec_1", "run_1", byCall, byDocument)) }()
	require.Equal(t, "run_1", <-j.followed)
	j.read(t, "run_1", "s1", "read_1", "call_1", "")
	j.read(t, "run_2", "s1", "read_2", "", "doc_1")
	require.Empty(t, answers, "one citation is open")
	j.read(t, "run_1", "s1", "read_3", "", "doc_1")
	a := <-answers
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Empty(t, j.stored(t, "dec_1"))
}

func TestTheDecisionsOfOneRequestWaitTogether(t *testing.T) {
	r, _ := judging(t, func(c *Config) { c.ProvenanceWait = time.Second })
	begun := time.Now()
	a := r.records("[" + decision("dec_1", "run_1", byCall) + "," + decision("dec_2", "run_2", byModel) + "," + decision("dec_3", "run_3", byDocument) + "]")
	requireProblem(t, a, http.StatusUnprocessableEntity, "provenance_unmet", "#/0/decision_record")
	require.GreaterOrEqual(t, time.Since(begun), time.Second)
	require.Equal(t, []string{"f0 missing_field_provenance", "f0 missing_field_provenance"}, unmetOfAnswer(t, a))
}

func TestNoMoreDecisionsWaitThanMay(t *testing.T) {
	r, j := judging(t, func(c *Config) { c.ProvenanceWait, c.Limits.WaitingRequests = 20*time.Second, 1 })
	answers := make(chan answer, 1)
	go func() { answers <- r.records(decision("dec_1", "run_1", byCall)) }()
	<-j.followed
	require.Eventually(t, func() bool { return r.receiver.api.admission.waitsTaken.Load() == 1 }, 10*time.Second, time.Millisecond)
	requireProblem(t, r.records(decision("dec_2", "run_2", byCall)), http.StatusTooManyRequests, "too_many_requests", "")
	require.Equal(t, http.StatusOK, r.records(decision("dec_3", "run_2", byModel)).status, "one that waits for nothing")
	j.read(t, "run_1", "s1", "read_1", "call_1", "")
	require.Equal(t, http.StatusOK, (<-answers).status)
	_, err := found(j.actions.Lookup(t.Context(), "decision_record dec_2"))
	require.ErrorIs(t, err, ledger.ErrNotFound)
}

// What waits holds what work takes; large bodies that wait leave some of it to others.
func TestTheBodiesThatWaitLeaveRoomForThoseThatDoNot(t *testing.T) {
	r, j := judging(t, func(c *Config) { c.ProvenanceWait, c.HTTP.MaxRequestBodySize = 20*time.Second, 10_000 })
	answers := make(chan answer, 1)
	large := func(id string) string { return decision(id, "run_1", byCall) + strings.Repeat(" ", 9_000) }
	go func() { answers <- r.records(large("dec_1")) }()
	<-j.followed
	require.Eventually(t, func() bool { return r.receiver.api.admission.waitsTaken.Load() == 1 }, 10*time.Second, time.Millisecond)
	requireProblem(t, r.records(large("dec_2")), http.StatusTooManyRequests, "too_many_requests", "")
	require.Equal(t, http.StatusOK, r.records(decision("dec_3", "run_1", byModel)).status)
	j.read(t, "run_1", "s1", "read_1", "call_1", "")
	require.Equal(t, http.StatusOK, (<-answers).status)
	require.Zero(t, r.receiver.api.admission.waitsTaken.Load()+r.receiver.api.admission.waitBytes.Load())
}

func TestAShutdownEndsTheWaitAndWritesNothing(t *testing.T) {
	r, j := judging(t, func(c *Config) { c.ProvenanceWait = 20 * time.Second })
	answers := make(chan answer, 1)
	go func() { answers <- r.records(decision("dec_1", "run_1", byCall)) }()
	<-j.followed
	require.NoError(t, r.receiver.Shutdown(t.Context()))
	requireProblem(t, <-answers, http.StatusServiceUnavailable, "journal_unavailable", "")
	_, err := found(j.actions.Lookup(t.Context(), "decision_record dec_1"))
	require.ErrorIs(t, err, ledger.ErrNotFound)
}

func TestTheSameDecisionFromManyAtOnceIsOneEntryAndOneAnswer(t *testing.T) {
	r, j := judging(t, nil)
	bodies := make(chan answer, 16)
	var wg sync.WaitGroup
	for range cap(bodies) {
		wg.Go(func() { bodies <- r.records(decision("dec_1", "run_1", byCall)) })
	}
	j.read(t, "run_1", "s1", "read_1", "call_1", "") // some find it, some do not
	wg.Wait()
	close(bodies)
	want := j.stored(t, "dec_1")
	for a := range bodies {
		require.Len(t, unmetOfAnswer(t, a), len(want))
	}
}

// contextWith is a context with an entry and a claim.
func contextWith(id, execution, entry string, cites ...string) string {
	ids, _ := json.Marshal(append([]string{}, cites...))
	return fmt.Sprintf(`{"schema_version":"1.0.0","context_record":{"context_id":%q,"occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":%q},`+
		`"model":{"request":"m"},"entries":[{"entry_id":%q,"object_id":"o","object_type":"t","property":"p","side":"data","origin":{"source":"s"}}],`+
		`"context_digest":"sha256:3b9e00000000000000000000000000000000000000000000000000000000041d","context_canonicalization":"jcs","context_form":"entries",`+
		`"tool_calls_requested":[],"claims":[{"claim_id":"c1","entry_ids":%s}]}}`, id, execution, entry, ids)
}

func TestClaimsAreSupportedByContextsOfTheirExecutionOnly(t *testing.T) {
	for _, mode := range []string{claimsMark, claimsRefuse} {
		t.Run(mode, func(t *testing.T) {
			r, j := judging(t, func(c *Config) { c.Claims = mode })
			first := r.records(contextWith("ctx_1", "run_1", "e1", "e1"))
			require.Equal(t, http.StatusOK, first.status)
			require.NotContains(t, first.body, "unsupported")
			require.Equal(t, http.StatusOK, r.records(contextWith("ctx_2", "run_1", "e2", "e1", "e2")).status, "one of the context before")
			for id, cites := range map[string][]string{"ctx_3": {"e1"}, "ctx_4": {}} {
				a := r.records(contextWith(id, "run_2", "e3", cites...))
				e, err := found(j.reads.Lookup(t.Context(), "context_record "+id))
				if mode == claimsRefuse {
					requireProblem(t, a, http.StatusUnprocessableEntity, "claim_unsupported", "#/context_record/claims/0")
					require.ErrorIs(t, err, ledger.ErrNotFound)
					continue
				}
				require.Equal(t, http.StatusOK, a.status, a.body)
				require.NoError(t, err)
				require.Equal(t, []bool{false}, supported(t, e))
				require.Contains(t, a.body, `"unsupported":["c1"]`, "who sent it is told")
				// A retry is one, even if the claim were supported by now.
				again := r.records(contextWith(id, "run_2", "e3", cites...)).body
				require.Contains(t, again, `"repeat":true`)
				require.Contains(t, again, `"unsupported":["c1"]`)
			}
			e, err := found(j.reads.Lookup(t.Context(), "context_record ctx_2"))
			require.NoError(t, err)
			require.Equal(t, []bool{true}, supported(t, e))
		})
	}
}

func supported(t testing.TB, e *journal.Entry) (out []bool) {
	t.Helper()
	claims, err := json.Marshal(jsontext.Value(e.Body))
	require.NoError(t, err)
	for _, c := range unmarshal[struct {
		Claims []record.Claim `json:"claims"`
	}](t, string(claims)).Claims {
		out = append(out, c.Supported)
	}
	return out
}
