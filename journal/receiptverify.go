// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"encoding/json/v2"
	"errors"

	"github.com/readtrail/readtrail/record"
)

// MaxReceiptsBytes bounds what is read of receipts.
const MaxReceiptsBytes = 16 << 20

// KeptReceipt is a receipt as a client keeps it, with the proof that it may have
// asked for.
type KeptReceipt struct {
	Receipt
	// Proof is a C2SP tlog-proof with its checkpoint, "" if there is none.
	Proof string `json:"proof,omitzero"`
	// Checkpoint is the signed note that the proof ends in, once more; "" if there is
	// none.
	Checkpoint string `json:"checkpoint,omitzero"`
}

// errReceipts is constant: a file that is something else is not quoted.
var errReceipts = errors.New("not a receipt, nor an answer with receipts: event_id, sequence, record_hash, key_id and signature must be there")

// ParseReceipts reads one receipt, or an answer that has some. Members that this
// version does not know are left alone; nothing is said of them.
func ParseReceipts(text []byte) ([]KeptReceipt, error) {
	if len(text) > MaxReceiptsBytes {
		return nil, errReceipts
	}
	var answer struct {
		KeptReceipt
		Receipts []KeptReceipt `json:"receipts"`
		// Receipt is where the details of a problem have it.
		Problem *KeptReceipt `json:"receipt"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, errReceipts
	}
	kept := answer.Receipts
	switch {
	case answer.Problem != nil:
		kept = append(kept, *answer.Problem)
	case kept == nil:
		kept = []KeptReceipt{answer.KeptReceipt}
	}
	for i := range kept {
		if r := &kept[i]; r.EventID == "" || r.Sequence == 0 || r.RecordHash == "" || r.KeyID == "" || r.Signature == "" {
			return nil, errReceipts
		}
	}
	if len(kept) == 0 {
		return nil, errReceipts
	}
	return kept, nil
}

// Verify says whether a key of the registry signed an entry with this record hash and
// may have done so for this journal, sequence and time; "" means that it did. Whether
// the entry says the same of event id, journal, sequence and time is for MatchesEntry:
// the signature covers them only through the hash.
func (r *Receipt) Verify(registry *Registry) Code {
	hash, ok := ParseHash(r.RecordHash)
	if !ok {
		return CodeSignatureInvalid
	}
	key, found := registry.Key(r.KeyID)
	if !found {
		return CodeKeyUnknown
	}
	value, err := decodeBase64([]byte(r.Signature))
	if err != nil {
		return CodeSignatureInvalid
	}
	message, signature := hash[:], value
	if len(value) != ed25519.SignatureSize { // the two algorithms of contract 4 differ in length
		g, err := parseGroupSignature(value)
		if err != nil {
			return CodeSignatureInvalid
		}
		message, signature = groupMessage(g.root(hash)), g.signature[:]
	}
	if !ed25519.Verify(key.PublicKey, message, signature) {
		return CodeSignatureInvalid
	}
	return key.judge(r.JournalID, r.Sequence, r.RecordedAt)
}

// ParseEnvelope parses one entry that may be pretty-printed, as VerifyEnvelope takes
// it. It verifies nothing.
func ParseEnvelope(text []byte) (*Entry, error) {
	form, err := canonicalForm(text)
	if err != nil {
		return nil, err
	}
	return ParseLine(form)
}

// MatchesEntry says what of a receipt its entry, which was verified before, does not
// say; "" means nothing. An audit_event does not name its journal.
func (r *Receipt) MatchesEntry(e *Entry) string {
	switch {
	case r.RecordHash != e.Integrity.RecordHash:
		return "record_hash"
	case r.EventID != e.Header.EventID:
		return "event_id"
	case r.Sequence != e.Header.Sequence:
		return "sequence"
	case e.Kind != record.KindAuditEvent && r.JournalID != e.Header.JournalID:
		return "journal_id"
	case r.RecordedAt != e.Header.RecordedAt:
		return "recorded_at"
	case r.KeyID != e.Integrity.Signature.KeyID:
		return "key_id"
	}
	return ""
}
