// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// receiptOf is what a client was told of an entry.
func receiptOf(t testing.TB, line []byte) (journal.Receipt, *journal.Entry) {
	t.Helper()
	e, err := journal.ParseLine(line[:len(line)-1])
	require.NoError(t, err)
	return journal.Receipt{
		EventID: e.Header.EventID, JournalID: e.Header.JournalID, Sequence: e.Header.Sequence, RecordHash: e.Integrity.RecordHash,
		KeyID: e.Integrity.Signature.KeyID, Signature: e.Integrity.Signature.Value, RecordedAt: e.Header.RecordedAt,
	}, e
}

func TestAReceiptHoldsOnlyAsItWasGiven(t *testing.T) {
	line := newWriter(t).read().lines[0]
	given, entry := receiptOf(t, line)
	registry := registryOf(t, trustedKey(trusted), trustedKey(stranger))
	require.Empty(t, given.Verify(registry))
	require.Empty(t, given.MatchesEntry(entry))

	flipped, err := base64.StdEncoding.DecodeString(given.Signature)
	require.NoError(t, err)
	flipped[5] ^= 1
	for name, test := range map[string]struct {
		forge   func(*journal.Receipt)
		code    journal.Code
		matches string
	}{
		"another hash":       {func(r *journal.Receipt) { r.RecordHash = journal.SpellHash([32]byte{1}) }, journal.CodeSignatureInvalid, "record_hash"},
		"no hash":            {func(r *journal.Receipt) { r.RecordHash = "SHA256:" }, journal.CodeSignatureInvalid, "record_hash"},
		"another signature":  {func(r *journal.Receipt) { r.Signature = base64.StdEncoding.EncodeToString(flipped) }, journal.CodeSignatureInvalid, ""},
		"a short signature":  {func(r *journal.Receipt) { r.Signature = r.Signature[:8] }, journal.CodeSignatureInvalid, ""},
		"no base64":          {func(r *journal.Receipt) { r.Signature = "?" }, journal.CodeSignatureInvalid, ""},
		"another key":        {func(r *journal.Receipt) { r.KeyID = stranger.KeyID() }, journal.CodeSignatureInvalid, "key_id"},
		"a key of nobody":    {func(r *journal.Receipt) { r.KeyID = incoming.KeyID() }, journal.CodeKeyUnknown, "key_id"},
		"an earlier time":    {func(r *journal.Receipt) { r.RecordedAt = record.NewTime(epoch.AddDate(-1, 0, 0)) }, journal.CodeKeyNotYetValid, "recorded_at"},
		"another event id":   {func(r *journal.Receipt) { r.EventID = "evt_1" }, "", "event_id"},
		"another sequence":   {func(r *journal.Receipt) { r.Sequence++ }, "", "sequence"},
		"another journal id": {func(r *journal.Receipt) { r.JournalID = "jrn_other" }, "", "journal_id"},
	} {
		t.Run(name, func(t *testing.T) {
			r := given
			test.forge(&r)
			assert.Equal(t, test.code, r.Verify(registry))
			assert.Equal(t, test.matches, r.MatchesEntry(entry))
		})
	}
}

func TestAReceiptOfAGroupHoldsForItsEntryOnly(t *testing.T) {
	w := newWriter(t).group(3)
	registry := registryOf(t, trustedKey(trusted))
	first, _ := receiptOf(t, w.lines[0])
	second, _ := receiptOf(t, w.lines[1])
	require.Empty(t, first.Verify(registry))
	require.Empty(t, second.Verify(registry))
	first.RecordHash = second.RecordHash
	require.Equal(t, journal.CodeSignatureInvalid, first.Verify(registry))
}

func FuzzParseReceipts(f *testing.F) {
	for _, seed := range []string{
		`{"event_id":"e","sequence":1,"record_hash":"sha256:00","key_id":"k","signature":"s","recorded_at":"2026-11-30T00:00:00.000000000Z"}`,
		`{"receipts":[{"event_id":"e","sequence":1,"record_hash":"h","key_id":"k","signature":"s","repeat":false}]}`,
		`{"code":"unmet","receipt":{"event_id":"e","sequence":1,"record_hash":"h","key_id":"k","signature":"s"}}`,
		`{"receipts":[]}`, `{"event_id":"a","event_id":"b"}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	registry := registryOf(f, trustedKey(trusted))
	f.Fuzz(func(t *testing.T, text []byte) {
		receipts, err := journal.ParseReceipts(text)
		require.Equal(t, err == nil, len(receipts) > 0)
		for i := range receipts {
			require.NotEmpty(t, receipts[i].Verify(registry), "nobody forges a signature by chance")
		}
	})
}
