// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// forged is an entry that says something else, hashed and signed by another
// implementation than ours, which would refuse to.
func forged(t *testing.T, line []byte, s seedSigner, change func(entry map[string]any)) []byte {
	var entry map[string]any
	require.NoError(t, json.Unmarshal(line, &entry))
	change(entry)
	integrity := entry["integrity"].(map[string]any)
	signature := integrity["signature"].(map[string]any)
	delete(integrity, "record_hash")
	delete(signature, "value")
	canonical := func() []byte {
		text, err := json.Marshal(entry)
		require.NoError(t, err)
		text, err = jcs.Transform(text)
		require.NoError(t, err)
		return text
	}
	digest := sha256.Sum256(canonical())
	value, err := s.Sign(digest[:])
	require.NoError(t, err)
	integrity["record_hash"] = "sha256:" + hex.EncodeToString(digest[:])
	signature["value"] = base64.StdEncoding.EncodeToString(value)
	return append(canonical(), '\n')
}

// bodyOf returns the body of a decoded entry.
func bodyOf(entry map[string]any) map[string]any {
	for name, member := range entry {
		if name != "integrity" && name != "schema_version" {
			return member.(map[string]any)
		}
	}
	panic("entry has no body")
}

// What the trusted writer signed in another form than an entry has is not the
// fault of the storage: the form is refused, and all else is judged.
func TestAFormThatWasSignedIsRefusedAsAForm(t *testing.T) {
	verification := func(member string, value any) func(map[string]any) {
		return func(e map[string]any) {
			e["integrity"].(map[string]any)["verification"].(map[string]any)[member] = value
		}
	}
	body := func(member string, value any) func(map[string]any) {
		return func(e map[string]any) { bodyOf(e)[member] = value }
	}
	for _, c := range []struct {
		name   string
		change func(e map[string]any)
		// known says that only a body of this version has the form.
		known bool
	}{
		{"a verification that says valid", verification("status", "valid"), false},
		{"a verification with a failure", verification("failure_codes", []string{"key_unknown"}), false},
		{"a verification with null for the failures", verification("failure_codes", nil), false},
		{"a verification without a verifier", verification("verifier_version", ""), false},
		{"a verification with null for the verifier", verification("verifier_version", nil), false},
		{"a verification without its members", func(e map[string]any) {
			e["integrity"].(map[string]any)["verification"] = map[string]any{}
		}, false},
		{"a verification with another member", verification("verdict", "valid"), false},
		{"a verification that is a number", func(e map[string]any) { e["integrity"].(map[string]any)["verification"] = 7 }, false},
		{"no verification", func(e map[string]any) { delete(e["integrity"].(map[string]any), "verification") }, false},
		{"null for the verification", func(e map[string]any) { e["integrity"].(map[string]any)["verification"] = nil }, false},
		{"an occurred_at without nanoseconds", body("occurred_at", "2026-10-09T08:12:03Z"), true},
		{"an execution_id that is a number", body("execution_id", 7), true},
		{"an event_type that nobody knows", body("event_type", "read.mind"), true},
		{"an event_id that is null", body("event_id", nil), true},
		{"a correlation that is empty", body("correlation", []int{}), true},
		{"a scope with null", body("scope", map[string]any{"organization_ref": nil}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			writers := []*writer{journalOf(t, 2).read()}
			if !c.known {
				writers = append(writers, journalOf(t, 2).foreign("future_record", "1.0.0"))
			}
			for _, w := range writers {
				line := forged(t, w.lines[2], trusted, c.change)
				_, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
				problem, ok := errors.AsType[*journal.ParseError](err)
				if c.name == "an event_type that nobody knows" || c.name == "an execution_id that is a number" {
					require.NoError(t, err, "what a body says is for the schema to judge")
				} else {
					require.True(t, ok, "%v", err)
					require.Equal(t, journal.CodeSchemaInvalid, problem.Code)
				}
				report := verifyLines(t, w.lines[0], w.lines[1], line)
				require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(report), "%+v", report)
				require.Equal(t, uint64(3), report.FirstBad.Sequence)
				require.Equal(t, journal.Failed, report.Schema)
				require.Equal(t, journal.Valid, report.Signature)
				require.Equal(t, journal.Valid, report.Chain)
			}
		})
	}
}

func TestAFirstEntryHasNoPredecessorNotEvenNull(t *testing.T) {
	for _, previous := range []any{nil, ""} {
		w := newWriter(t).foreign("future_record", "1.0.0")
		line := forged(t, w.lines[0], trusted, func(e map[string]any) { e["integrity"].(map[string]any)["previous_event_hash"] = previous })
		_, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
		require.ErrorContains(t, err, "previous_event_hash")
		report := verifyLines(t, line)
		require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(report))
		require.Equal(t, journal.Valid, report.Signature)
	}
}

func TestASignedEntryWithoutItsFrameIsRefused(t *testing.T) {
	for _, kind := range []record.Kind{"future_record", "audit_event"} {
		for member, value := range map[string]any{"sequence": "3", "recorded_at": "2026-10-09", "journal_id": ""} {
			w := journalOf(t, 2).foreign(kind, "9.0.0").read()
			line := forged(t, w.lines[2], trusted, func(e map[string]any) { bodyOf(e)[member] = value })
			report := verifyLines(t, w.lines[0], w.lines[1], line, w.lines[3])
			require.Equal(t, []journal.Code{journal.CodeSchemaInvalid, journal.CodePreviousHashMismatch}, brokenCodes(report), member)
			require.Equal(t, uint64(3), report.FirstBad.Sequence)
			require.Equal(t, hashOf(t, w.lines[1]), report.FirstBad.ObservedPreviousHash)
			require.Equal(t, report.FirstBad.ExpectedRecordHash, report.FirstBad.ObservedRecordHash)
		}
	}
}

func TestAnAuditEventNeedNameNoJournalButNoOtherOne(t *testing.T) {
	nameless := func(t *testing.T, kind record.Kind, id any) *journal.Report {
		w := journalOf(t, 2).foreign(kind, "9.0.0")
		return verifyLines(t, w.lines[0], w.lines[1], forged(t, w.lines[2], trusted, func(e map[string]any) {
			if bodyOf(e)["journal_id"] = id; id == nil {
				delete(bodyOf(e), "journal_id")
			}
		}))
	}
	require.Equal(t, 0, nameless(t, "audit_event", nil).ExitCode())
	require.Equal(t, []journal.Code{journal.CodeJournalIDMismatch}, brokenCodes(nameless(t, "audit_event", "jrn_other")))
	require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(nameless(t, "future_record", nil)))
}
