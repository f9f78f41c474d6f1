// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// Receipt is the journal's statement that a record is durable.
type Receipt struct {
	EventID   string `json:"event_id"`
	JournalID string `json:"journal_id"`
	// Sequence is the entry's place in the journal, from 1.
	Sequence int64 `json:"sequence"`
	// RecordHash is "sha256:" and 64 hexadecimal digits.
	RecordHash string `json:"record_hash"`
	KeyID      string `json:"key_id"`
	// Signature is base64 of the Ed25519 signature over the 32 bytes of RecordHash.
	Signature  string      `json:"signature"`
	RecordedAt record.Time `json:"recorded_at"`
	// Repeat says that the journal had the record already.
	Repeat bool `json:"repeat"`
}

// errReceipt is never worth another try: the journal has the records or somebody else
// answered.
var errReceipt = fmt.Errorf("%w: the answer is no receipt for them", ErrUnavailable)

// receipts reads the answer to a batch and checks that it is about that batch.
func (c *Client) receipts(answer []byte, records []Record) ([]Receipt, error) {
	var got struct {
		Receipts []Receipt `json:"receipts"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Receipts) != len(records) {
		return nil, errReceipt
	}
	for i := range got.Receipts {
		r := &got.Receipts[i]
		if records[i].EventID != "" && r.EventID != records[i].EventID {
			return nil, fmt.Errorf("%w (record %d: another event_id)", errReceipt, i)
		}
		if r.JournalID != got.Receipts[0].JournalID {
			return nil, fmt.Errorf("%w (record %d: another journal)", errReceipt, i)
		}
		if err := r.check(c.Keys); err != nil {
			return nil, fmt.Errorf("%w (record %d: %w)", errReceipt, i, err)
		}
	}
	return got.Receipts, nil
}

// check demands the shape of a receipt, and the signature if there are keys.
func (r *Receipt) check(keys map[string]ed25519.PublicKey) error {
	digits, isDigest := strings.CutPrefix(r.RecordHash, "sha256:")
	hash, err := hex.DecodeString(digits)
	if !isDigest || err != nil || len(hash) != 32 || hex.EncodeToString(hash) != digits {
		return errors.New("its record_hash is no SHA-256")
	}
	signature, err := base64.StdEncoding.DecodeString(r.Signature)
	if r.EventID == "" || r.JournalID == "" || r.KeyID == "" || r.Sequence < 1 || r.RecordedAt.IsZero() || err != nil || len(signature) == 0 {
		return errors.New("a member is missing")
	}
	if keys == nil {
		return nil
	}
	key, known := keys[r.KeyID]
	if !known || len(key) != ed25519.PublicKeySize {
		return errors.New("its key is not known here")
	}
	if !ed25519.Verify(key, hash, signature) {
		return errors.New("its signature is not valid")
	}
	return nil
}
