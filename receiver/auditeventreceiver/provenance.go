// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"encoding/json/v2"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/provenance"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// errClosing ends a wait because the receiver shuts down.
	errClosing = errors.New("the receiver shuts down")
	// errManyWait says that as many requests wait as may.
	errManyWait = errors.New("as many requests wait for entries as may")
)

// confirm says in decisions, audit events and contexts what the journal confirms of what they cite
// (requirements B2, B4, G3). It waits for telemetry that is on its way: all records
// of a call together for provenance_wait. What cannot be looked up is no finding: then
// nothing is written, and the client comes again.
func (a *api) confirm(ctx context.Context, c *call, decoded []intake.Record) *problem {
	if !slices.ContainsFunc(decoded, mayCite) {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.waits, func() { cancel(errClosing) })()
	ctx, over := context.WithTimeout(ctx, a.config.ProvenanceWait+a.config.Limits.JournalTimeout)
	defer over()
	w := waiting{api: a, organization: c.scope().OrganizationRef, bytes: len(c.body)}
	defer w.end()
	for i := range decoded {
		r := &decoded[i]
		var p *problem
		switch body := r.Body.(type) {
		case *record.Decision:
			body.Unmet, p = w.confirmSources(ctx, c, r, body)
		case *intake.AuditEvent:
			if sources := body.Sources(); sources != nil {
				body.Unmet, p = w.confirmSources(ctx, c, r, sources)
			}
		case *record.Context:
			p = w.confirmClaims(ctx, c, r, body)
		}
		if p != nil {
			return p
		}
	}
	return nil
}

// mayCite reports whether a record is of a kind of which something is confirmed.
func mayCite(r intake.Record) bool {
	switch r.Body.(type) {
	case *record.Decision, *intake.AuditEvent, *record.Context:
		return true
	default:
		return false
	}
}

// waiting is what the records of one call share: one time that they wait together,
// and one place among those that wait.
type waiting struct {
	api          *api
	organization string
	bytes        int
	late         chan struct{}
	ends         []func()
}

// patience begins to wait.
func (w *waiting) patience() (<-chan struct{}, error) {
	if w.late == nil {
		done, ok := w.api.admission.wait(w.bytes)
		if !ok {
			return nil, errManyWait
		}
		late := make(chan struct{})
		timer := time.AfterFunc(w.api.config.ProvenanceWait, func() { close(late) })
		w.late, w.ends = late, append(w.ends, done, func() { timer.Stop() })
	}
	return w.late, nil
}

func (w *waiting) end() {
	for _, end := range w.ends {
		end()
	}
}

func (w *waiting) await(ctx context.Context, need provenance.Need) *problem {
	follow := func(execution string, wake chan<- struct{}) (provenance.Trail, error) {
		return w.api.journal.Follow(w.organization, execution, wake)
	}
	return w.problemOf(ctx, provenance.Await(ctx, follow, need, w.patience))
}

// problemOf is the answer when nothing is known of what a record cites.
func (w *waiting) problemOf(ctx context.Context, err error) *problem {
	retryAfter := w.api.config.Limits.RetryAfter
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errManyWait):
		return newProblem(codeBusy, "as many requests as may wait for what they cite; send this one again later, or when its reads are recorded").after(retryAfter)
	case errors.Is(context.Cause(ctx), errClosing):
		return newProblem(codeUnavailable, "the receiver shuts down, and nothing was written; send the same request again").after(retryAfter)
	default:
		return w.api.unreadable(err)
	}
}

// confirmSources returns what is unmet of the sources that a decision or an audit event
// names. A retry gets the answer that the first one got, whatever came since.
func (w *waiting) confirmSources(ctx context.Context, c *call, r *intake.Record, d *record.Decision) ([]record.Unmet, *problem) {
	stored, known, p := w.stored(ctx, c, r)
	if p != nil || known {
		if stored == nil {
			return nil, p
		}
		unmet, err := w.api.recordedUnmet(ctx, c, r)
		return unmet, w.problemOf(ctx, err)
	}
	need := provenance.OfDecision(d)
	if p := w.await(ctx, need); p != nil {
		return nil, p
	}
	for _, id := range need.Unseen() {
		switch e, err := w.api.journal.FindRead(ctx, w.organization, id); {
		case err == nil:
			need.Elsewhere(e)
		case !errors.Is(err, ledger.ErrNotFound):
			return nil, w.problemOf(ctx, err)
		}
	}
	return need.Unmet(), nil
}

// confirmClaims says of the claims of a context which are supported.
func (w *waiting) confirmClaims(ctx context.Context, c *call, r *intake.Record, x *record.Context) *problem {
	if len(x.Claims) == 0 {
		return nil
	}
	if _, known, p := w.stored(ctx, c, r); p != nil || known {
		return p
	}
	need := provenance.OfContext(x)
	if p := w.await(ctx, need); p != nil {
		return p
	}
	if i := need.Mark(); i >= 0 && w.api.config.Claims == claimsRefuse {
		p := newProblem(codeClaim, "the claim cites nothing, or an entry that is in no context of its execution; nothing was written")
		p.Pointer = fragment(r.Pointer("/claims/" + strconv.Itoa(i)))
		return p
	}
	return nil
}

// stored looks whether the journal has a record with this id already. Known says that
// it has: the entry is nil if that has another body, which the journal refuses.
func (w *waiting) stored(ctx context.Context, c *call, r *intake.Record) (e *journal.Entry, known bool, p *problem) {
	draft, err := r.Draft()
	if err != nil {
		return nil, false, nil // which is refused when it is to be written
	}
	e, err = w.api.journal.FindRecord(ctx, *c.scope(), r.Kind, draft.ID())
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, w.problemOf(ctx, err)
	}
	if repeat, err := record.RepeatOf(e.Kind, e.Body); err != nil || repeat.Digest != draft.Digest() {
		return nil, true, nil
	}
	return e, true, nil
}

// recordedUnmet returns what the journal says is unmet of a record that it has: of an
// audit event the record beside it says so.
func (a *api) recordedUnmet(ctx context.Context, c *call, r *intake.Record) ([]record.Unmet, error) {
	draft, err := r.Beside()
	if err == nil && draft == nil {
		draft, err = r.Draft()
	}
	if err != nil {
		return nil, err
	}
	e, err := a.journal.FindRecord(ctx, *c.scope(), r.Kind, draft.ID()) // both are in one journal
	if err != nil {
		return nil, err
	}
	var body struct {
		Unmet  []record.Unmet `json:"unmet"`
		Detail struct {
			Unmet []record.Unmet `json:"unmet"`
		} `json:"detail"`
	}
	_ = json.Unmarshal(e.Body, &body) // an entry of ours
	return append(body.Unmet, body.Detail.Unmet...), nil
}

// unmetOf returns what is unmet of each record as the journal has it. Of a repeat that
// came at the same time as the first one that is what was written then.
func (a *api) unmetOf(ctx context.Context, c *call, decoded []intake.Record, receipts []journal.Receipt) ([][]record.Unmet, *problem) {
	unmet := make([][]record.Unmet, len(receipts))
	for i, receipt := range receipts {
		switch body := decoded[i].Body.(type) {
		case *record.Decision:
			unmet[i] = body.Unmet
		case *intake.AuditEvent:
			if body.Sources() == nil {
				continue
			}
			unmet[i] = body.Unmet
		default:
			continue
		}
		if !receipt.Repeat {
			continue
		}
		var err error
		if unmet[i], err = a.recordedUnmet(ctx, c, &decoded[i]); err != nil {
			return nil, a.unreadable(err)
		}
	}
	return unmet, nil
}
