// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/record"
)

// ErrNoEntries says that a journal has segments but not one line in them.
var ErrNoEntries = errors.New("journal holds no entry")

// Options are what a verifier is given from outside the journal.
type Options struct {
	// Registry holds the trusted keys. Without one no signature is checked.
	Registry *Registry
	// SkipSchema leaves out holding entries against the schemas of their bodies, which
	// takes most of the time. The report then never says that the schema is valid.
	SkipSchema bool
	// Policy is what the journal must look like; nil demands nothing.
	Policy *Policy
	// Checkpoints are those that were kept apart from the journal.
	Checkpoints *Checkpoints
	// Since is a checkpoint that the caller verified the journal up to before, and that
	// was kept since then. What it covers is read, hashed and chained again, but no
	// signature and no schema in it is checked: that the journal gives the root of the
	// checkpoint proves that the entries are the same.
	Since *SignedCheckpoint
	// OpenEnd says that the source is a copy that never has the end of a journal that is
	// written, as an archive of sealed segments is: a checkpoint beyond its last entry
	// says how far the copy goes, not that something was cut off.
	OpenEnd bool
	// Patience is how long is waited for the end of a last line that the journal did
	// not have when it was opened: a writer may be about to write it.
	Patience time.Duration
	// Reconcile, if set, collects what the audit events of the journal name. The report
	// says of it only what Resolve adds.
	Reconcile *Reconciliation
	// Progress, if set, is told now and then how many bytes were checked.
	Progress func(done, total int64)

	// seek, if set, has lines looked through for ids and not judged otherwise.
	seek *seeker
}

// Verify checks every line of a journal (contract 6): canonical form, hash,
// signature, key, schema, sequence and chain. It reads the journal once, in
// bounded memory, goes on behind damage, and never writes. An error means that
// no verdict is possible: the journal cannot be read or, with ErrNoEntries, is
// empty.
func Verify(ctx context.Context, s *Source, opt Options) (*Report, error) {
	v := newVerifier(ctx, s, opt)
	total := s.Size()
	id, err := findJournalID(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", s.Path, err)
	}
	v.prepare(id)
	err = checkLines(ctx, s, &opt, func(lines []checked, read int64) {
		for i := range lines {
			v.add(&lines[i])
		}
		if opt.Progress != nil {
			opt.Progress(read, total)
		}
	})
	if err == nil {
		err = v.err
	}
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", s.Path, err)
	}
	v.enter(len(s.Segments) - 1)
	v.tellName()
	if v.report.RecordsChecked == 0 && v.report.FirstBad == nil {
		return nil, fmt.Errorf("verify %s: %w", s.Path, ErrNoEntries)
	}
	return v.finish(), nil
}

// verifier judges the lines of a journal in order.
type verifier struct {
	source  *Source
	options Options
	report  Report
	head    head
	// segment is the one that is read, and misnamed what is wrong with its name
	// if no entry in it said so yet.
	segment  int
	misnamed *Finding
	// broken and open say for the checks of the report whether one line failed
	// them, and whether one could not be given to them.
	chainBroken, schemaBroken, schemaOpen   bool
	signatureBroken, signatureOpen, keyUsed bool
	tornTail                                bool
	// damaged says that an entry is broken, whatever the outside says.
	damaged bool
	// broken counts the broken findings at entries.
	broken uint64

	// unlisted says that the policy lists no such journal, which the first entry is
	// told; covered that an entry was taken as verified before.
	unlisted, covered bool
	// boundKeys are keys that were used and that the registry bounds by sequences of
	// journals, in a journal of which no entry says which it is.
	boundKeys bool
	// keysOpen says that keys could not be judged after all, once all entries were seen.
	keysOpen bool

	// proven says that the caller proves which checkpoints cover an entry.
	proven bool

	out     attestations
	lineage lineage
	audited audited
	// reconciling is nil if nothing is reconciled.
	reconciling *reconciling
	// pruned is what announced the removal of what stood before the first entry.
	pruned *announcement
	// announcedOnly says that nothing but pruned makes the first link valid.
	announcedOnly bool
	ctx           context.Context
	err           error
}

func newVerifier(ctx context.Context, s *Source, opt Options) *verifier {
	v := &verifier{ctx: ctx, source: s, options: opt}
	v.report = Report{Path: s.Path, FirstLink: NotPerformed, Tail: NotPerformed, Time: NotPerformed, Findings: []Finding{}, Counts: map[Code]uint64{}}
	v.head.start = true
	if opt.Reconcile != nil {
		v.reconciling = opt.Reconcile.begin(s, &v.report)
	}
	if len(s.Segments) > 0 && s.Segments[0].FirstSequence > 0 {
		v.head.promised = true
		v.head.sequence = s.Segments[0].FirstSequence - 1
	}
	return v
}

// add judges the next line.
func (v *verifier) add(c *checked) {
	broken := v.broken
	v.judge(c)
	if v.reconciling != nil {
		v.reconciling.add(v, c, c.trusted && v.broken == broken)
	}
}

func (v *verifier) judge(c *checked) {
	v.enter(c.segment)
	if c.torn {
		v.addTorn(c)
		return
	}
	v.report.RecordsChecked++
	if c.notEntry != nil {
		v.addUnreadable(c, c.notEntry.Code, c.notEntry.Unwrap().Error())
		return
	}
	if v.report.FirstSequence == 0 {
		v.report.FirstSequence = c.sequence
	}
	if c.computed != c.recordHash {
		v.addAltered(c)
		return
	}
	v.report.LastSequence = max(v.report.LastSequence, c.sequence)
	v.covered = v.covered || c.covered
	v.checkListed(c)
	v.lookForPruned(c)
	v.checkTrust(c)
	v.checkSchema(c)
	v.checkJournal(c)
	v.checkPlace(c)
	v.checkArtifact(c)
	v.lineage.add(c)
	v.audited.add(c)
	v.tellName()
}

// addTorn takes a line that its file cuts off.
func (v *verifier) addTorn(c *checked) {
	if c.segment != len(v.source.Segments)-1 || v.source.endsEarly {
		v.report.RecordsChecked++
		v.addUnreadable(c, CodeNotCanonical, "segment ends in the middle of a line")
		return
	}
	if v.inFlight(c.segment, c.offset) {
		return
	}
	v.tornTail = true
	v.find(c, Finding{Code: CodeTornTail, Sequence: v.head.next()})
}

// addUnreadable takes a line that is no entry.
func (v *verifier) addUnreadable(c *checked, code Code, detail string) {
	v.chainBroken, v.signatureOpen, v.schemaOpen = true, true, true
	v.find(c, Finding{
		Code: code, Sequence: v.head.next(), Detail: detail,
		ObservedPreviousHash: c.previous.String(), ExpectedRecordHash: c.computed.String(), ObservedRecordHash: c.recordHash.String(),
	})
	v.out.grows = false
	v.head.skip(c.recordHash, c.computed)
}

// addAltered takes an entry whose bytes are not those of its record hash. The
// entry after it may chain to either hash: one of them is the original.
func (v *verifier) addAltered(c *checked) {
	v.chainBroken, v.signatureBroken, v.schemaOpen = true, true, true
	f := v.placed(c, CodeRecordHashMismatch)
	if next := v.head.next(); next != 0 && next != c.sequence {
		f.Sequence, f.Detail = next, fmt.Sprintf("entry names sequence %d", c.sequence)
		if c.sequence == 0 {
			f.Detail = "the sequence that the entry names cannot be read"
		}
	}
	if v.head.skipped == 0 {
		f.ExpectedPreviousHash = v.head.hash.String()
	}
	v.find(c, f)
	v.report.LastSequence = max(v.report.LastSequence, f.Sequence)
	if v.head.skipped == 0 && v.head.next() == c.sequence {
		v.grow(c)
	} else {
		v.out.grows = false
	}
	v.head.skip(c.recordHash, c.computed)
}

func (v *verifier) checkSchema(c *checked) {
	switch c.schema {
	case Failed:
		v.schemaBroken = true
		f := v.placed(c, CodeSchemaInvalid)
		f.Detail = c.schemaError
		v.find(c, f)
	case NotPerformed:
		v.schemaOpen = true
		if v.options.SkipSchema {
			return
		}
		f := v.placed(c, CodeUnsupportedSchemaVersion)
		f.Detail = c.schemaError
		v.find(c, f)
	}
}

func (v *verifier) checkJournal(c *checked) {
	switch {
	case c.journalID == "" && c.kind == record.KindAuditEvent:
	case c.journalID != v.report.JournalID || c.journalID == "":
		v.chainBroken = true
		v.find(c, v.placed(c, CodeJournalIDMismatch))
	}
}

// placed begins a finding about an entry that can be read.
func (v *verifier) placed(c *checked, code Code) Finding {
	f := Finding{
		Code: code, Sequence: c.sequence, ObservedPreviousHash: c.previous.String(),
		ExpectedRecordHash: c.computed.String(), ObservedRecordHash: c.recordHash.String(),
	}
	if hashes := v.head.predecessors(c.sequence); len(hashes) > 0 {
		f.ExpectedPreviousHash = hashes[0].String()
	}
	return f
}

func (v *verifier) find(c *checked, f Finding) {
	f.Segment, f.Offset = v.source.Segments[c.segment].Path, c.offset
	if f.Class == "" && f.Code.Doc().Class == ClassBroken {
		v.damaged = true
		v.broken++
	}
	v.note(f)
}

func outcome(broken, open bool) Check {
	switch {
	case broken:
		return Failed
	case open:
		return NotPerformed
	default:
		return Valid
	}
}
