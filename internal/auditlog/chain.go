// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"context"
	"slices"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Journal is the journal of actions that a request is for.
type Journal interface {
	// Append writes all drafts or, with a *ledger.Refusal, none. The receipts are
	// those of durable entries.
	Append(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error)
	// Lookup returns the durable entries that are known under ids or marks of drafts,
	// nil for one that is not there.
	Lookup(ctx context.Context, ids ...string) ([]*journal.Entry, error)
	// Name tells one journal from another one.
	Name() string
}

// What can be wrong with a producer's chain, or keeps it from being checked. These
// are written into the record, which is taken all the same: the draft wants a broken
// chain to be seen, not to be refused.
const (
	chainStreamAmbiguous   = "stream_ambiguous"
	chainNumberMissing     = "number_missing"
	chainNumberTaken       = "number_taken"
	chainOutOfOrder        = "out_of_order"
	chainAfterEnd          = "after_end"
	chainGenesisPointer    = "genesis_with_predecessor"
	chainPredecessor       = "predecessor_unknown"
	chainHashMissing       = "previous_hash_missing"
	chainHashMismatch      = "previous_hash_mismatch"
	chainRecordIDMismatch  = "previous_record_id_mismatch"
	chainKeyChanged        = "key_changed_without_transition"
	chainUnsignedAfterSign = "unsigned_after_signed"
)

// unbroken are the problems that leave a chain unchecked, but not broken.
var unbroken = []string{chainStreamAmbiguous, chainNumberMissing, chainHashMissing}

// chain looks up what the journal has of streams, and what stands before in the same
// request.
type chain struct {
	journal Journal
	// before are the records of this request under their marks.
	before map[string]*record.AuditLog
}

// add makes a record one that stands before.
func (c *chain) add(log *record.AuditLog) {
	if _, twice := c.before[record.AuditLogID(log.RecordID)]; twice {
		return
	}
	c.before[record.AuditLogID(log.RecordID)] = log
	if s := log.Sequence; s != nil {
		if _, taken := c.before[s.PositionMark(s.Number)]; s.Number > 0 && !taken {
			c.before[s.PositionMark(s.Number)] = log
		}
		if s.End {
			c.before[s.EndMark()] = log
		}
	}
}

// find returns the records that are known under ids or marks, nil for one that is
// not there.
func (c *chain) find(ctx context.Context, ids ...string) ([]*record.AuditLog, error) {
	found := make([]*record.AuditLog, len(ids))
	var asked []string
	var at []int
	for i, id := range ids {
		if found[i] = c.before[id]; found[i] == nil {
			asked, at = append(asked, id), append(at, i)
		}
	}
	if len(asked) == 0 {
		return found, nil
	}
	entries, err := c.journal.Lookup(ctx, asked...)
	if err != nil {
		return nil, err
	}
	for k, e := range entries {
		if e == nil {
			continue
		}
		if found[at[k]], err = record.ReadAuditLog(e.Body); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// check says how a record fits what the journal has of its stream.
func (c *chain) check(ctx context.Context, log *record.AuditLog) error {
	s := log.Sequence
	if s == nil {
		return nil
	}
	var problems []string
	if s.StreamID == nil {
		problems = append(problems, chainStreamAmbiguous)
	}
	found, err := c.compare(ctx, log)
	if err != nil {
		return err
	}
	s.Problems = append(problems, found...)
	switch {
	case slices.ContainsFunc(s.Problems, func(p string) bool { return !slices.Contains(unbroken, p) }):
		s.Check = record.ChainBroken
	case len(s.Problems) > 0:
		s.Check = record.ChainNotChecked
	case s.Number == 1:
		s.Check = record.ChainGenesis
	default:
		s.Check = record.ChainContinues
	}
	return nil
}

// compare finds what stands around a record: the end of its stream, what has its
// number, what has the next one, and what it says it follows.
func (c *chain) compare(ctx context.Context, log *record.AuditLog) (problems []string, err error) {
	s := log.Sequence
	ids := []string{s.EndMark()}
	switch {
	case s.Number > 0:
		ids = append(ids, s.PositionMark(s.Number), s.PositionMark(s.Number+1), s.PositionMark(s.Number-1))
	case s.PreviousRecordID != nil:
		ids = append(ids, record.AuditLogID(*s.PreviousRecordID))
	}
	found, err := c.find(ctx, ids...)
	if err != nil {
		return nil, err
	}
	if last := found[0]; last != nil && last.RecordID != log.RecordID {
		problems = append(problems, chainAfterEnd)
	}
	if s.Number == 0 {
		problems = append(problems, chainNumberMissing)
		if len(found) > 1 {
			problems = append(problems, behind(log, found[1])...)
		}
		return problems, nil
	}
	if same := found[1]; same != nil && same.RecordID != log.RecordID {
		problems = append(problems, chainNumberTaken)
	}
	if found[2] != nil {
		problems = append(problems, chainOutOfOrder)
	}
	if s.Number > 1 {
		return append(problems, behind(log, found[3])...), nil
	}
	if s.PreviousHash != "" || s.PreviousRecordID != nil {
		problems = append(problems, chainGenesisPointer)
	}
	return problems, nil
}

// behind compares a record with the one before it.
func behind(log, previous *record.AuditLog) (problems []string) {
	if previous == nil {
		return []string{chainPredecessor}
	}
	s := log.Sequence
	switch s.PreviousHash {
	case "":
		problems = append(problems, chainHashMissing)
	case previous.PayloadDigest:
	default:
		problems = append(problems, chainHashMismatch)
	}
	if s.PreviousRecordID != nil && *s.PreviousRecordID != previous.RecordID {
		problems = append(problems, chainRecordIDMismatch)
	}
	before, now := outgoing(previous), signedBy(log)
	switch {
	case before == nil || now == nil && len(previous.Integrity.Proofs) == 0:
	case now == nil:
		problems = append(problems, chainUnsignedAfterSign)
	case !sameKey(before, now):
		problems = append(problems, chainKeyChanged)
	}
	return problems
}

// signedBy returns the proof of a record's producer, nil if it has none.
func signedBy(log *record.AuditLog) *record.AuditProof {
	for i := range log.Integrity.Proofs {
		if p := &log.Integrity.Proofs[i]; p.Signer == signerProducer {
			return p
		}
	}
	return nil
}

// outgoing returns the proof whose key signs the record behind: the incoming one of a
// key transition, else that of the record.
func outgoing(log *record.AuditLog) *record.AuditProof {
	if t := log.Integrity.Transition; t != nil {
		return &t.Proof
	}
	return signedBy(log)
}

// sameKey reports whether two proofs are by one key, as far as can be said.
func sameKey(a, b *record.AuditProof) bool {
	if a.VerifiedBy != "" && b.VerifiedBy != "" {
		return a.VerifiedBy == b.VerifiedBy
	}
	if a.Algorithm != b.Algorithm || a.Key.Form != b.Key.Form {
		return false
	}
	return a.Key.Ref == nil || *a.Key.Ref == *b.Key.Ref
}
