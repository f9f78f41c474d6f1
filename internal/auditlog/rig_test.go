// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json/v2"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// now is when the requests of these tests come, by the clock of the service.
var now = time.Unix(1_800_000_000, 0)

type signer struct{ private ed25519.PrivateKey }

func (s signer) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s signer) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

func (s signer) Sign(message []byte) ([]byte, error) { return ed25519.Sign(s.private, message), nil }

func seeded(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, 32))
}
func publicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// rig is a service over a journal on disk.
type rig struct {
	t       *testing.T
	dir     string
	ledger  *ledger.Ledger
	service *auditlog.Service
	options auditlog.Options
	// fails is what Append returns instead of writing.
	fails error
}

var _ auditlog.Journal = (*rig)(nil)

func newRig(t *testing.T, change ...func(*auditlog.Options)) *rig {
	r := &rig{t: t, dir: t.TempDir()}
	r.options = auditlog.Options{Unsigned: auditlog.Accept, Unverified: auditlog.Pending, RetryAfter: 7, Now: func() time.Time { return now }}
	for _, c := range change {
		c(&r.options)
	}
	r.service = auditlog.New(r.options)
	r.open()
	t.Cleanup(func() { require.NoError(t, r.ledger.Close(context.Background())) })
	return r
}

func (r *rig) open() {
	l, err := ledger.Open(r.t.Context(), ledger.Options{
		Dir: r.dir, FS: durable.OS{}, Signer: signer{seeded(1)}, CollectorID: "collector-1",
		Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "default"},
	})
	require.NoError(r.t, err)
	r.ledger = l
}

// reopen is what a restart of the collector is to the journal.
func (r *rig) reopen() {
	require.NoError(r.t, r.ledger.Close(context.Background()))
	r.open()
	r.service = auditlog.New(r.options)
}

// Append implements auditlog.Journal.
func (r *rig) Append(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	if r.fails != nil {
		return nil, r.fails
	}
	return r.ledger.AppendStrict(ctx, drafts)
}

// Lookup implements auditlog.Journal.
func (r *rig) Lookup(ctx context.Context, ids ...string) ([]*journal.Entry, error) {
	return r.ledger.Lookup(ctx, ids...)
}

// Name implements auditlog.Journal.
func (r *rig) Name() string { return "bank/default/actions" }

// entries returns the records that clients gave, in their order. All entries are
// valid against their schemas.
func (r *rig) entries() (all []*journal.Entry) {
	for line, err := range segment.Lines(durable.OS{}, r.dir, segment.Position{}) {
		require.NoError(r.t, err)
		e, err := journal.ParseLine(slices.Clone(line.Bytes))
		require.NoError(r.t, err)
		require.NoError(r.t, schema.Validate(e.Kind, e.SchemaVersion, line.Bytes), "%s", line.Bytes)
		if strings.HasPrefix(e.Header.EventType, "audit_log.") {
			all = append(all, e)
		}
	}
	return all
}

// details returns what stands in the journal of the records.
func (r *rig) details() (all []*record.AuditLog) {
	for _, e := range r.entries() {
		log, err := record.ReadAuditLog(e.Body)
		require.NoError(r.t, err)
		if log != nil {
			all = append(all, log)
		}
	}
	return all
}

// object is a JSON object.
type object = map[string]any

// reply is an answer as a client reads it.
type reply struct {
	object
	http, retryAfter int
	text             string
}

func (r *rig) send(f auditlog.Format, body []byte) reply {
	return r.sendAs("unverified_input", f, body)
}

func (r *rig) sendAs(source string, f auditlog.Format, body []byte) reply {
	r.t.Helper()
	a := r.service.Receive(r.t.Context(), auditlog.Request{Format: f, Body: body, Source: source, Journal: r})
	out := reply{http: a.HTTP, retryAfter: a.RetryAfter, text: string(a.Body)}
	require.NoError(r.t, json.Unmarshal(a.Body, &out.object), "%s", a.Body)
	return out
}

// post sends log records in OTLP/JSON under a resource.
func (r *rig) post(records ...object) reply {
	r.t.Helper()
	return r.send(auditlog.JSON, request(records...))
}

func request(records ...object) []byte {
	return requestOf(object{"service.name": "auth-service", "service.instance.id": "auth-1"}, records...)
}

func requestOf(resource object, records ...object) []byte {
	text, err := json.Marshal(object{"resourceLogs": []any{object{
		"resource":  object{"attributes": attributes(resource)},
		"scopeLogs": []any{object{"logRecords": records}},
	}}})
	if err != nil {
		panic(err)
	}
	return text
}

// attributes spells attributes as OTLP/JSON does, sorted by name.
func attributes(of object) []any {
	all := []any{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, object{"key": name, "value": anyValue(of[name])})
	}
	return all
}

func anyValue(v any) object {
	switch v := v.(type) {
	case string:
		return object{"stringValue": v}
	case int:
		return object{"intValue": v}
	case bool:
		return object{"boolValue": v}
	case float64:
		return object{"doubleValue": v}
	case []string:
		values := []any{}
		for _, s := range v {
			values = append(values, anyValue(s))
		}
		return object{"arrayValue": object{"values": values}}
	case object:
		return v
	default:
		panic(v)
	}
}

// auditRecord is the draft's example of a login, with other attributes.
func auditRecord(id string, other ...object) object {
	named := object{
		"audit.record.id": id, "audit.actor.id": "u8472", "audit.actor.type": "user", "audit.action": "LOGIN", "audit.outcome": "success",
		"audit.target.id": "/api/auth/session", "audit.target.type": "http.endpoint", "audit.source.id": "203.0.113.42", "audit.source.type": "ipv4",
		"audit.schema.version": "1.0.0", "session.id": "sess-abc123",
	}
	for _, o := range other {
		for name, v := range o {
			if v == nil {
				delete(named, name)
			} else {
				named[name] = v
			}
		}
	}
	return object{
		"timeUnixNano": "1799999990000000000", "observedTimeUnixNano": "1799999990001000000",
		"eventName": "user.login.success", "attributes": attributes(named),
	}
}

// with changes fields of a log record.
func with(rec, change object) object {
	out := maps.Clone(rec)
	for name, v := range change {
		if v == nil {
			delete(out, name)
		} else {
			out[name] = v
		}
	}
	return out
}

var errDisk = errors.New("disk is full")

// lockstep runs functions at once.
func lockstep(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
