// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// EntryVerifier checks entries of one journal that were taken out of it: hash,
// signature, key and schema of each alone. That they stood in the journal is for
// proofs to show. It is not for concurrent use.
type EntryVerifier struct {
	v *verifier
	k *checker
}

// EntryVerdict is what was found out about an entry alone.
type EntryVerdict struct {
	// Entry is parsed if nothing is wrong with its form, else nil.
	Entry *Entry
	// Hash covers canonical form, record hash and journal id.
	Hash, Signature, Schema Check
	// TimeAttested says that the key was judged at an attestation, and not at
	// recorded_at.
	TimeAttested bool
	// Findings have no place in a file.
	Findings []Finding
}

// NewEntryVerifier returns a verifier for the entries of a journal. The checkpoints
// in opt say when entries existed; that they are checkpoints of one tree, and
// that it holds the entries, is for the caller to know. The findings are about the
// checkpoints and the policy.
func NewEntryVerifier(journalID string, opt Options) (*EntryVerifier, []Finding) {
	opt.Since, opt.Reconcile = nil, nil
	v := newVerifier(context.Background(), &Source{Segments: []Segment{{}}}, opt)
	v.proven = true
	v.prepare(journalID)
	v.checkListed(&checked{journalID: journalID})
	for _, f := range v.out.said {
		v.note(f)
	}
	return &EntryVerifier{v: v, k: newChecker(&v.options)}, v.report.Findings
}

// Cosigned reports whether a checkpoint that as many witnesses cosigned as the
// policy demands covers an entry.
func (e *EntryVerifier) Cosigned(sequence uint64) bool {
	return slices.ContainsFunc(e.v.out.all, func(a attestation) bool { return a.cosigned && !a.distrusted && a.size >= sequence })
}

// Verify checks a line without its LF.
func (e *EntryVerifier) Verify(line []byte) *EntryVerdict {
	v := e.v
	v.report.Findings, v.report.Counts, v.report.FirstBad = nil, map[Code]uint64{}, nil
	v.chainBroken, v.signatureBroken, v.signatureOpen, v.schemaBroken, v.schemaOpen = false, false, false, false, false
	verdict := &EntryVerdict{Hash: Failed, Signature: NotPerformed, Schema: NotPerformed}
	e.judge(verdict, line)
	verdict.Findings = v.report.Findings
	return verdict
}

func (e *EntryVerifier) judge(verdict *EntryVerdict, line []byte) {
	v := e.v
	c := e.k.check(line)
	if c.notEntry != nil {
		v.note(Finding{Code: c.notEntry.Code, Detail: c.notEntry.Unwrap().Error()})
		return
	}
	if c.computed != c.recordHash {
		verdict.Signature = Failed
		v.find(&c, v.placed(&c, CodeRecordHashMismatch))
		return
	}
	v.checkJournal(&c)
	v.checkTrust(&c)
	v.checkSchema(&c)
	verdict.Hash = outcome(v.chainBroken, false)
	verdict.Signature, verdict.Schema = outcome(v.signatureBroken, v.signatureOpen), outcome(v.schemaBroken, v.schemaOpen)
	verdict.TimeAttested = e.Attested(c.sequence)
	if parsed, err := ParseLine(line); err == nil {
		verdict.Entry = parsed
	}
}

// Attested reports whether somebody outside says when an entry existed.
func (e *EntryVerifier) Attested(sequence uint64) bool {
	all := e.v.out.all
	i := slices.IndexFunc(all, func(a attestation) bool { return a.size >= sequence })
	return i >= 0 && all[i].earliest != nil
}

// JudgeCheckpoint says whether a key of the registry signed a checkpoint and was
// valid at a time: that of its attestation or, as a lower bound, recorded_at of
// an entry that it covers. "" means that it was.
func (r *Registry) JudgeCheckpoint(s *SignedCheckpoint, at record.Time) Code {
	key, err := s.Signer(r)
	if err != nil {
		return CodeCheckpointSignatureInvalid
	}
	if key.judge(s.Origin, s.Size, at) != "" {
		return CodeCheckpointSignatureInvalid
	}
	return ""
}

// JudgeAt says whether a key may sign at a time what is of no journal; "" means that
// it may.
func (k *Key) JudgeAt(at record.Time) Code { return k.judge("", 0, at) }

// NewCheckpoints returns an empty set of checkpoints, see ReadCheckpoints.
func NewCheckpoints(registry *Registry, policy *Policy) *Checkpoints {
	return &Checkpoints{registry: registry, policy: policy, byOrigin: map[string][]outside{}}
}

// Take takes a checkpoint that was parsed, with its time stamps. Findings name it by name.
func (c *Checkpoints) Take(s *SignedCheckpoint, tokens [][]byte, name string) {
	c.keep(s, name, tokens)
}

// Signatures returns how many signatures a checkpoint carries, verified or not.
func (s *SignedCheckpoint) Signatures() int { return len(s.signatures) }

// RecordHash returns the record hash that an entry names.
func (e *Entry) RecordHash() [sha256.Size]byte {
	hash, _ := ParseHash(e.Integrity.RecordHash)
	return hash
}
