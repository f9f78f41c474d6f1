// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"crypto/ed25519"
	"encoding/json/v2"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func aRecord() Record {
	return ActionRecord(&record.Action{
		Header:   record.Header{EventID: "evb_1", EventType: "action.planned", OccurredAt: record.NewTime(time.Now()), Correlation: record.Correlation{ExecutionID: "run_1"}},
		ActionID: "act_1", EdgeType: record.EdgeExternalAction, State: record.ActionPlanned, Actor: NewActor("agent_process", "deployer"),
		Target:           record.ActionTarget{Channel: "http", Host: "h.example", Port: 443, Protocol: "https", Method: "GET", CredentialRef: "none", Redaction: "none"},
		IdempotencyToken: record.IdempotencyToken("act_1"),
	})
}

func TestABatchIsSentAgainAfter429And503(t *testing.T) {
	f := newFakeJournal(t)
	f.answer = func(w http.ResponseWriter, _ []byte) bool {
		switch f.posts {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			return false
		}
		return true
	}
	receipts, err := f.client().Append(t.Context(), aRecord())
	require.NoError(t, err)
	require.Len(t, receipts, 1)
	require.Equal(t, "evb_1", receipts[0].EventID)
	require.Equal(t, 3, f.posts)
	require.Len(t, f.records, 1)
}

func TestTriesAreBounded(t *testing.T) {
	f := newFakeJournal(t)
	f.answer = func(w http.ResponseWriter, _ []byte) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	c := f.client()
	c.MaxTries = 3
	_, err := c.Append(t.Context(), aRecord())
	require.ErrorIs(t, err, ErrUnavailable)
	require.Equal(t, 3, f.posts)
}

func TestAWaitThatIsTooLongIsNotWaitedFor(t *testing.T) {
	f := newFakeJournal(t)
	f.answer = func(w http.ResponseWriter, _ []byte) bool {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, err := f.client().Append(t.Context(), aRecord())
	require.ErrorIs(t, err, ErrUnavailable)
	require.Equal(t, 1, f.posts)
}

func TestARefusalIsFinalAndQuotesNothing(t *testing.T) {
	f := newFakeJournal(t)
	f.setRefusal("planned", http.StatusConflict, "approval_not_bound")
	_, err := f.client().Append(t.Context(), aRecord())
	var refused *Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, &Refusal{Status: 409, Code: "approval_not_bound", Pointer: "#/0"}, refused)
	require.NotContains(t, err.Error(), "CANARY")
	require.Equal(t, 1, f.posts)
}

func TestAStrangersAnswerIsNoCode(t *testing.T) {
	r := refusalOf(403, []byte(`{"code":"CANARY code","pointer":"CANARY pointer","event_id":"CANARY event"}`))
	require.Equal(t, &Refusal{Status: 403, Code: "status_403"}, r)
	require.Equal(t, &Refusal{Status: 302, Code: "status_302"}, refusalOf(302, []byte("<html>")))
}

// TestOnlyAReceiptForWhatWasSentCounts answers with what is none.
func TestOnlyAReceiptForWhatWasSentCounts(t *testing.T) {
	for name, damage := range map[string]func(*Receipt){
		"another event":      func(r *Receipt) { r.EventID = "evb_2" },
		"no journal":         func(r *Receipt) { r.JournalID = "" },
		"no sequence":        func(r *Receipt) { r.Sequence = 0 },
		"no key":             func(r *Receipt) { r.KeyID = "" },
		"no time":            func(r *Receipt) { r.RecordedAt = record.Time{} },
		"no signature":       func(r *Receipt) { r.Signature = "" },
		"a torn hash":        func(r *Receipt) { r.RecordHash = r.RecordHash[:20] },
		"another's hash":     func(r *Receipt) { r.RecordHash = "sha256:" + strings.Repeat("0", 64) },
		"another key":        func(r *Receipt) { r.KeyID = "other" },
		"a damaged signed":   func(r *Receipt) { r.Signature = strings.Repeat("A", 86) + "==" },
		"an uppercase digit": func(r *Receipt) { r.RecordHash = "sha256:" + strings.Repeat("A", 64) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeJournal(t)
			f.answer = func(w http.ResponseWriter, body []byte) bool {
				batch, _ := f.read(body)
				r := f.take(batch[0])
				damage(&r)
				_ = json.MarshalWrite(w, map[string]any{"receipts": []Receipt{r}})
				return true
			}
			c := f.client()
			c.Keys = map[string]ed25519.PublicKey{"k": f.key.Public().(ed25519.PublicKey)}
			_, err := c.Append(t.Context(), aRecord())
			require.ErrorIs(t, err, ErrUnavailable)
			require.Equal(t, 1, f.posts)
		})
	}
	for name, text := range map[string]string{"no receipt": `{"receipts":[]}`, "no JSON": `OK`, "two": `{"receipts":[{},{}]}`, "null": `null`} {
		t.Run(name, func(t *testing.T) {
			f := newFakeJournal(t)
			f.answer = func(w http.ResponseWriter, _ []byte) bool {
				_, _ = io.WriteString(w, text)
				return true
			}
			_, err := f.client().Append(t.Context(), aRecord())
			require.ErrorIs(t, err, ErrUnavailable)
		})
	}
}

func TestAReceiptWithAKnownKeysSignatureCounts(t *testing.T) {
	f := newFakeJournal(t)
	c := f.client()
	c.Keys = map[string]ed25519.PublicKey{"k": f.key.Public().(ed25519.PublicKey)}
	_, err := c.Append(t.Context(), aRecord())
	require.NoError(t, err)
}

func TestRecordsFollowNoRedirect(t *testing.T) {
	f := newFakeJournal(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(f.url, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	_, err := (&Client{URL: elsewhere.URL}).Append(t.Context(), aRecord())
	var refused *Refusal
	require.ErrorAs(t, err, &refused)
	require.Zero(t, f.posts)
}

func TestTheExecutorsOwnCredentialIsPutOnEachTryAndNeverPrinted(t *testing.T) {
	f := newFakeJournal(t)
	c := f.client()
	c.Authorize = func(*http.Request) error { return errors.New("CANARY-token-1") }
	_, err := c.Append(t.Context(), aRecord())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "CANARY")
	require.Zero(t, f.posts)
}

// TestACollectorThatIsNotTrustedIsNamedAsThat asks once: another try does not change a
// certificate.
func TestACollectorThatIsNotTrustedIsNamedAsThat(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	tr := newTransport(f)
	tr.Executor.Journal = &Client{URL: server.URL}
	_, err := post(t, tr, aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, CodeJournalUntrusted, e.Code)
	require.ErrorIs(t, err, ErrUnavailable)
	require.Zero(t, target.count())
}

func TestWhereRecordsGoIsSaidWithEachRequest(t *testing.T) {
	f := newFakeJournal(t)
	var headers http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = r.Header
		f.ServeHTTP(w, r)
	}))
	defer server.Close()
	_, err := (&Client{URL: server.URL, Organization: "acme", RetentionClass: "treasury_10y"}).Append(t.Context(), aRecord())
	require.NoError(t, err)
	require.Equal(t, []string{"acme", "treasury_10y"}, []string{headers.Get("Readtrail-Organization"), headers.Get("Readtrail-Retention-Class")})
	_, err = (&Client{URL: server.URL}).Append(t.Context(), aRecord())
	require.NoError(t, err)
	require.Empty(t, headers.Values("Readtrail-Organization"), "the receiver's own choice")
}

func TestAnErrorSaysWhereTheRecordIsWrong(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	f.setRefusal("planned", http.StatusBadRequest, "invalid")
	_, err := post(t, newTransport(f), aCall(), target.URL)
	require.Contains(t, failed(t, err).Error(), ": invalid at #/0; nothing was sent")
}
