// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json/jsontext"
)

// MaxEnvelopeBytes bounds what is read of a single entry with its spaces.
const MaxEnvelopeBytes = 8 << 20

// Envelope is what VerifyEnvelope found out about one entry that was taken out of
// its journal. Where it stood, and whether anything stands around it, is not
// checked: only a journal or a proof shows that.
type Envelope struct {
	JournalID  string `json:"journal_id,omitzero"`
	Sequence   uint64 `json:"sequence,omitzero"`
	Kind       string `json:"kind,omitzero"`
	RecordHash string `json:"record_hash,omitzero"`
	KeyID      string `json:"key_id,omitzero"`
	// Hash says whether the bytes are those that record_hash names, in RFC 8785 form.
	Hash      Check `json:"hash"`
	Signature Check `json:"signature"`
	Schema    Check `json:"schema"`
	// Chain and Place are never performed.
	Chain Check `json:"chain"`
	Place Check `json:"place"`
	// Findings have no place in a file.
	Findings []Finding `json:"findings"`

	report *Report
}

// Report returns the findings as those of a journal.
func (e *Envelope) Report() *Report { return e.report }

// ExitCode returns the verdict: 0 valid, 1 broken, 2 not checked.
func (e *Envelope) ExitCode() int {
	switch {
	case e.report.FirstBad != nil:
		return 1
	case e.Hash != Valid || e.Signature != Valid || e.report.unchecked:
		return 2
	default:
		return 0
	}
}

// VerifyEnvelope checks one entry alone: hash, signature, key and schema. The text
// may be written in any way that says the same, with spaces and members in any
// order: it is brought into RFC 8785 form before, and refused if a number in it
// would not survive that. Nowhere else is that allowed.
func VerifyEnvelope(text []byte, opt Options) *Envelope {
	opt.Since, opt.Reconcile = nil, nil
	v := newVerifier(context.Background(), &Source{Segments: []Segment{{}}}, opt)
	e := &Envelope{Hash: Failed, Signature: NotPerformed, Schema: NotPerformed, Chain: NotPerformed, Place: NotPerformed, report: &v.report}
	v.judgeEnvelope(e, text)
	e.Findings = v.report.Findings
	return e
}

func (v *verifier) judgeEnvelope(e *Envelope, text []byte) {
	form, err := canonicalForm(text)
	if err != nil {
		v.note(Finding{Code: CodeNotCanonical, Detail: err.Error()})
		return
	}
	k := newChecker(&v.options)
	k.alone = true
	c := k.check(form)
	if c.notEntry != nil {
		v.note(Finding{Code: c.notEntry.Code, Detail: c.notEntry.Unwrap().Error()})
		return
	}
	e.JournalID, e.Sequence, e.Kind, e.RecordHash, e.KeyID = c.journalID, c.sequence, string(c.kind), c.recordHash.String(), c.keyID
	if c.computed != c.recordHash {
		e.Signature = Failed
		v.find(&c, v.placed(&c, CodeRecordHashMismatch))
		return
	}
	e.Hash = Valid
	v.prepareEnvelope(&c)
	v.checkTrust(&c)
	v.checkSchema(&c)
	v.audited.add(&c)
	e.Signature, e.Schema = outcome(v.signatureBroken, v.signatureOpen), outcome(v.schemaBroken, v.schemaOpen)
	v.finishNameless()
	e.Signature = outcome(v.signatureBroken, v.signatureOpen)
	if v.keyUsed {
		v.note(Finding{Code: CodeTimeUnattested})
	}
	v.finishAudited()
}

// prepareEnvelope looks up what the policy says of the journal that an entry names.
func (v *verifier) prepareEnvelope(c *checked) {
	v.report.JournalID = c.journalID
	var listed bool
	v.out.policy, listed = v.options.Policy.Journal(c.journalID)
	v.unlisted = !listed
	v.checkListed(c)
}

// canonicalForm returns the RFC 8785 form of a text whose numbers are those of an
// entry.
func canonicalForm(text []byte) ([]byte, error) {
	if len(text) > MaxEnvelopeBytes {
		return nil, tooLong(int64(len(text))).Unwrap()
	}
	if err := checkTokens(text); err != nil {
		return nil, err
	}
	form := jsontext.Value(append([]byte(nil), text...))
	if err := form.Canonicalize(); err != nil {
		return nil, syntaxError(err)
	}
	return form, nil
}
