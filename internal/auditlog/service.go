// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Deferral says what becomes of a record whose proof is not there or cannot be
// checked.
type Deferral string

// The deferrals.
const (
	// Accept takes the record: 200. The record and the answer say that nothing was
	// verified.
	Accept Deferral = "accept"
	// Pending takes the record, and the answer is 202: the draft forbids to
	// acknowledge delivery before the proof was checked, and a client asks again.
	Pending Deferral = "pending"
	// Reject does not take it: 400.
	Reject Deferral = "refuse"
)

// Options configure a Service.
type Options struct {
	Mapper Mapper
	// Unsigned is for records without a proof: Accept or Reject.
	Unsigned Deferral
	// Unverified is for records whose proof cannot be checked.
	Unverified Deferral
	Limits     otlp.Limits
	// RetryAfter is what a client is told to wait if the journal is not available, in
	// seconds.
	RetryAfter int
	// Now is the clock, time.Now if nil.
	Now func() time.Time
}

// DefaultLimits bound a request of the largest usual body.
var DefaultLimits = otlp.Limits{Records: 1000, Values: 1 << 16, Depth: 64}

// Service takes requests. It is safe for concurrent use.
type Service struct {
	options Options
	seed    maphash.Seed
	// turns have the requests of one stream come one after the other, so that each
	// sees what is before it.
	turns [64]chan struct{}
}

// New returns a Service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limits == (otlp.Limits{}) {
		o.Limits = DefaultLimits
	}
	s := &Service{options: o, seed: maphash.MakeSeed()}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// Format is how a request is spelled.
type Format int

// The formats of OTLP over HTTP.
const (
	Protobuf Format = iota
	JSON
)

// Request is a request whose client was admitted.
type Request struct {
	Format Format
	Body   []byte
	// Source is the upstream_context_source of contract 1.
	Source  string
	Journal Journal
}

// Receive takes a request: all of its records, or none.
func (s *Service) Receive(ctx context.Context, r Request) Answer {
	read := otlp.Protobuf
	if r.Format == JSON {
		read = otlp.JSON
	}
	request, err := read(r.Body, s.options.Limits)
	if err != nil {
		return refuse(nil, 1, unreadable(err), 0)
	}
	count := len(request.Records)
	if count == 0 {
		return refuse(nil, 1, invalid("no_records", "", "the request has no log records"), 0)
	}
	all, p := s.mapAll(request, r.Source)
	if p != nil {
		return refuse(all, count, p, 0)
	}
	leave, err := s.enter(ctx, r.Journal, all)
	if err != nil {
		return s.unavailable(all)
	}
	defer leave()
	drafts, p, err := draftAll(ctx, r.Journal, all)
	switch {
	case err != nil:
		return s.unavailable(all)
	case p != nil:
		return refuse(all, count, p, 0)
	}
	receipts, err := r.Journal.Append(ctx, drafts)
	if refusal, is := errors.AsType[*ledger.Refusal](err); is {
		return refuse(all, count, conflict(request, refusal), 0)
	}
	if err != nil {
		return s.unavailable(all)
	}
	answers := make([]recordAnswer, count)
	for i := range all {
		if answers[i], err = s.answer(ctx, r.Journal, all[i], receipts[i]); err != nil {
			return s.unavailable(all)
		}
	}
	return answerAll(all, answers)
}

// mapAll maps the records up to the first one that is wrong.
func (s *Service) mapAll(request *otlp.Request, source string) (all []*mapped, p *Problem) {
	now := s.options.Now()
	for i := range request.Records {
		rec := &request.Records[i]
		rec.Ignored += request.Ignored
		m, p := s.options.Mapper.mapRecord(rec, source, now)
		if p == nil {
			p = s.demand(m, rec)
		}
		all = append(all, m)
		if p != nil {
			p.Record = i
			return all, p
		}
	}
	return all, nil
}

// demand holds a record against what the configuration demands of proofs.
func (s *Service) demand(m *mapped, rec *otlp.Record) *Problem {
	switch i := &m.log.Integrity; {
	case i.Status == record.ProofPassed:
	case i.Reason == reasonUnsigned && s.options.Unsigned == Reject:
		return unverified("proof_missing", rec.Pointer, "the record has no "+attrValue+", which this collector demands")
	case i.Reason != reasonUnsigned && s.options.Unverified == Reject:
		return unverified("proof_unverified", rec.Pointer, "the proof of the record cannot be checked ("+i.Reason+"), which this collector demands")
	}
	return nil
}

// final reports whether a record is delivered though its proof was not checked.
func (s *Service) final(i *record.AuditIntegrity) bool {
	return i.Status == record.ProofPassed || i.Reason == reasonUnsigned || s.options.Unverified == Accept
}

// enter waits for the turns of all streams of a request.
func (s *Service) enter(ctx context.Context, j Journal, all []*mapped) (leave func(), err error) {
	var turns []int
	for _, m := range all {
		if q := m.log.Sequence; q != nil {
			turns = append(turns, int(maphash.String(s.seed, j.Name()+" "+q.EndMark())%uint64(len(s.turns))))
		}
	}
	slices.Sort(turns)
	turns = slices.Compact(turns)
	entered := 0
	leave = func() {
		for _, t := range turns[:entered] {
			<-s.turns[t]
		}
	}
	for _, t := range turns {
		select {
		case s.turns[t] <- struct{}{}:
			entered++
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

// draftAll looks at the chains and makes the drafts.
func draftAll(ctx context.Context, j Journal, all []*mapped) (drafts []*record.Draft, p *Problem, err error) {
	c := &chain{journal: j, before: map[string]*record.AuditLog{}}
	for i, m := range all {
		if err := c.check(ctx, &m.log); err != nil {
			return nil, nil, err
		}
		c.add(&m.log)
		draft, err := record.NewAuditLogDraft(m.header, &m.log)
		if err != nil {
			p := invalid("record_too_large", "", "the record exceeds what an entry can hold")
			p.HTTP, p.Record = httpTooLarge, i
			return nil, p, nil
		}
		drafts = append(drafts, draft)
	}
	return drafts, nil, nil
}

// conflict is the problem of a record whose id another payload has.
func conflict(request *otlp.Request, r *ledger.Refusal) *Problem {
	detail := "another record has the same " + attrRecordID + " and another payload; do not retry"
	if r.Reason == ledger.ReasonElsewhere {
		detail = "a record with the same " + attrRecordID + " stands in another retention class of the organization; do not retry here"
	}
	p := invalid(r.Code, "", detail)
	p.HTTP, p.Record, p.EventID = httpConflict, r.Index, r.EventID
	if r.Index >= 0 && r.Index < len(request.Records) {
		p.Pointer = request.Records[r.Index].Pointer
	}
	return p
}

// answer says what became of a record that the journal has. Of a repeat that is what
// the first answer said, from what stands there.
func (s *Service) answer(ctx context.Context, j Journal, m *mapped, receipt journal.Receipt) (recordAnswer, error) {
	if !receipt.Repeat {
		return taken(m, &m.log.Integrity, m.log.Sequence, receipt, s.final(&m.log.Integrity)), nil
	}
	found, err := (&chain{journal: j}).find(ctx, record.AuditLogID(m.log.RecordID))
	if err != nil {
		return recordAnswer{}, err
	}
	first := found[0]
	if first == nil { // pruned between
		first = &m.log
	}
	integrity := &first.Integrity
	if integrity.Status != record.ProofPassed && len(integrity.Proofs) > 0 {
		if integrity, err = s.settle(ctx, j, m, integrity, receipt); err != nil {
			return recordAnswer{}, err
		}
	}
	return taken(m, integrity, first.Sequence, receipt, s.final(integrity)), nil
}

// settle ends the wait of a record whose proof could not be checked when it came: if
// it can be now, an entry says so.
func (s *Service) settle(ctx context.Context, j Journal, m *mapped, then *record.AuditIntegrity, receipt journal.Receipt) (*record.AuditIntegrity, error) {
	if m.log.Integrity.Status != record.ProofPassed {
		found, err := j.Lookup(ctx, record.AuditLogVerifiedID(m.log.RecordID))
		if err != nil || found[0] == nil {
			return then, err
		}
		return record.ReadAuditLogVerified(found[0].Body)
	}
	verified := &record.AuditLogVerified{RecordID: m.log.RecordID, EntryID: receipt.EventID, Integrity: m.log.Integrity}
	draft, err := record.NewAuditLogVerifiedDraft(m.header, verified)
	if err != nil {
		return nil, err
	}
	_, err = j.Append(ctx, []*record.Draft{draft})
	return &m.log.Integrity, err
}

func (s *Service) unavailable(all []*mapped) Answer {
	p := &Problem{
		HTTP: httpUnavailable, Status: StatusInternal, Code: "journal_unavailable",
		Detail: "the journal is not available; nothing is acknowledged, send the same again", Record: -1,
	}
	if len(all) == 1 {
		p.Record = 0
	}
	return refuse(all, len(all), p, max(1, s.options.RetryAfter))
}
