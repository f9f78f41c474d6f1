// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestASealedEntryIsWhatAnotherImplementationOfRFC8785Gives(t *testing.T) {
	w := journalOf(t, 3).event("journal.resumed", map[string]string{"writer": journal.VerifierVersion})
	// audit_event sorts before integrity, the other bodies after it.
	w.foreign("audit_event", "9.0.0")
	for _, line := range w.lines {
		line = bytes.TrimSuffix(line, []byte("\n"))
		want, err := jcs.Transform(line)
		require.NoError(t, err)
		require.Equal(t, string(want), string(line))

		// The payload by another way: members removed, canonicalized anew.
		var whole map[string]any
		require.NoError(t, json.Unmarshal(line, &whole))
		integrity := whole["integrity"].(map[string]any)
		delete(integrity, "record_hash")
		delete(integrity["signature"].(map[string]any), "value")
		text, err := json.Marshal(whole)
		require.NoError(t, err)
		payload, err := jcs.Transform(text)
		require.NoError(t, err)

		e := entryOf(t, line)
		require.Equal(t, string(payload), string(e.Payload()))
		require.Equal(t, "sha256:"+sha256Hex(payload), e.Integrity.RecordHash)
		digest := e.PayloadDigest()
		value, err := base64.StdEncoding.DecodeString(e.Integrity.Signature.Value)
		require.NoError(t, err)
		require.True(t, ed25519.Verify(trusted.PublicKey(), digest[:], value))
	}
}

func TestAnEntryTellsWhatWasWritten(t *testing.T) {
	w := journalOf(t, 2)
	e := entryOf(t, w.lines[1])
	require.Equal(t, record.KindRead, e.Kind)
	require.Equal(t, "1.0.0", e.SchemaVersion)
	require.Equal(t, "jrn_test", e.Header.JournalID)
	require.Equal(t, uint64(2), e.Header.Sequence)
	require.Equal(t, record.EventReadTool, e.Header.EventType)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", e.Header.Correlation.TraceID)
	require.Equal(t, "kyc", e.Header.Scope.RetentionClass)
	require.Equal(t, epoch, e.Header.OccurredAt.Std())
	require.Equal(t, w.at, e.Header.RecordedAt.Std())
	require.Equal(t, hashOf(t, w.lines[0]), e.Integrity.PreviousEventHash)
	require.Equal(t, trusted.KeyID(), e.Integrity.Signature.KeyID)
	require.Empty(t, entryOf(t, w.lines[0]).Integrity.PreviousEventHash)
}

func TestTheSizeOfALineIsKnownBeforeItIsSigned(t *testing.T) {
	u := journal.Assemble(record.KindRead, "1.0.0", []byte(`{}`), "", trusted)
	size := u.Size()
	line, err := u.Sign(trusted)
	require.NoError(t, err)
	require.Len(t, line, size)
	require.True(t, bytes.HasSuffix(line, []byte("}\n")))
}

func TestAnEntryIsSignedByTheKeyItNames(t *testing.T) {
	u := journal.Assemble(record.KindRead, "1.0.0", []byte(`{}`), "", trusted)
	_, err := u.Sign(stranger)
	require.ErrorContains(t, err, "cannot be signed by key")
}

// spoil changes a sound line and seals nothing anew.
func spoil(old, replacement string) func(line string) string {
	return func(line string) string {
		if !strings.Contains(line, old) {
			panic("test spoils nothing: " + old)
		}
		return strings.Replace(line, old, replacement, 1)
	}
}

func TestALineIsRefused(t *testing.T) {
	line := string(bytes.TrimSuffix(journalOf(t, 2).lines[1], []byte("\n")))
	signature := entryOf(t, []byte(line)).Integrity.Signature
	const system = `"system":"crm-eu"`
	inSource := func(member string) func(string) string { return spoil(system, system+","+member) }
	notCanonical, schemaInvalid := journal.CodeNotCanonical, journal.CodeSchemaInvalid
	for _, c := range []struct {
		name  string
		code  journal.Code
		spoil func(string) string
	}{
		{"with a space", notCanonical, spoil(`":{`, `": {`)},
		{"with a LF in it", notCanonical, spoil(`,`, ",\n")},
		{"with a CR at its end", notCanonical, func(l string) string { return l + "\r" }},
		{"with a byte order mark", notCanonical, func(l string) string { return "\ufeff" + l }},
		{"with a second value", notCanonical, func(l string) string { return l + "{}" }},
		{"cut off", notCanonical, func(l string) string { return l[:len(l)-1] }},
		{"empty", notCanonical, func(string) string { return "" }},
		{"with an escape that is not needed", notCanonical, spoil("crm-eu", `\u0063rm-eu`)},
		{"with an escaped slash", notCanonical, spoil("</script>", `<\/script>`)},
		{"with capitals in an escape", notCanonical, spoil("crm-eu", `crm\u001F`)},
		{"with members out of order", notCanonical, spoil(`"kind":"api",`+system, system+`,"kind":"api"`)},
		{"with a member twice", notCanonical, inSource(system)},
		{"with a member twice, once escaped", notCanonical, inSource(`"\u0073ystem":"x"`)},
		{"with invalid UTF-8 in a value", notCanonical, spoil("crm-eu", "crm\xff")},
		{"with invalid UTF-8 in a name", notCanonical, inSource("\"x\xff\":1")},
		{"with a lone surrogate", notCanonical, spoil("crm-eu", `crm\ud800`)},
		{"with a lone surrogate as bytes", notCanonical, spoil("crm-eu", "crm\xed\xa0\x80")},
		{"with a fraction", notCanonical, inSource(`"x":1.5`)},
		{"with a fraction of zero", notCanonical, inSource(`"x":1.0`)},
		{"with an exponent", notCanonical, inSource(`"x":1e2`)},
		{"with minus zero", notCanonical, inSource(`"x":-0`)},
		{"with 2^53", notCanonical, inSource(`"x":9007199254740992`)},
		{"with -2^53", notCanonical, inSource(`"x":-9007199254740992`)},
		{"with 2^53+1, which rounds", notCanonical, inSource(`"x":9007199254740993`)},
		{"with a number that no double holds", notCanonical, inSource(`"x":` + strings.Repeat("9", 400))},
		{"with a leading zero", notCanonical, inSource(`"x":01`)},
		{"nested too deep", notCanonical, inSource(`"x":` + strings.Repeat("[", 62) + strings.Repeat("]", 62))},
		{"nested far too deep", notCanonical, func(string) string { return strings.Repeat("[", 1<<20) }},
		{"longer than 1 MiB", notCanonical, spoil("crm-eu", strings.Repeat("x", 1<<20))},
		{"with a record hash in capitals", notCanonical, func(l string) string {
			h := entryOf(t, []byte(l)).Integrity.RecordHash
			return strings.Replace(l, h, "sha256:"+strings.ToUpper(h[7:]), 1)
		}},
		{"with a predecessor that is no hash", notCanonical, spoil(`"previous_event_hash":"sha256:`, `"previous_event_hash":"sha257:`)},
		{"with base64 that has bits to spare", notCanonical, func(l string) string {
			return strings.Replace(l, signature.PublicKey, spareBits(signature.PublicKey), 1)
		}},
		{"with a signature that has bits to spare", notCanonical, func(l string) string {
			return strings.Replace(l, signature.Value, spareBits(signature.Value), 1)
		}},
		{"with a line break in base64", notCanonical, func(l string) string {
			return strings.Replace(l, signature.Value, signature.Value[:4]+`\n`+signature.Value[4:], 1)
		}},
		{"with base64 without its padding", notCanonical, spoil(`=","value"`, `","value"`)},
		{"with base64 of the URL alphabet", notCanonical, func(l string) string {
			return strings.Replace(l, signature.Value, "-_"+signature.Value[2:], 1)
		}},
		{"with a short signature", notCanonical, func(l string) string { return strings.Replace(l, signature.Value, "AAAA", 1) }},
		{"with a key id that is no thumbprint", notCanonical, func(l string) string { return strings.Replace(l, signature.KeyID, "AAAA", 1) }},
		{"that is no object", schemaInvalid, func(string) string { return `[1]` }},
		{"with a fourth member", schemaInvalid, spoil(`{"integrity"`, `{"a":{},"integrity"`)},
		{"with two members", schemaInvalid, spoil(`,"schema_version":"1.0.0"`, ``)},
		{"without a schema version", schemaInvalid, spoil(`,"schema_version":"1.0.0"`, `,"second_body":{}`)},
		{"with a schema version that is none", schemaInvalid, spoil(`"1.0.0"`, `"1.0"`)},
		{"with a schema version that is a number", schemaInvalid, spoil(`"1.0.0"`, `1`)},
		{"with a body under a name that no body has", schemaInvalid, spoil(`"read_record"`, `"read-record"`)},
		{"with a body that is no object", schemaInvalid, func(l string) string {
			return strings.Replace(l, string(entryOf(t, []byte(l)).Body), `"x"`, 1)
		}},
		{"without an integrity member", schemaInvalid, spoil(`"hash_algorithm":"SHA-256",`, ``)},
		{"with another hash algorithm", schemaInvalid, spoil(`"SHA-256"`, `"SHA-1"`)},
		{"with another member of integrity", schemaInvalid, spoil(`"hash_algorithm"`, `"hash":1,"hash_algorithm"`)},
		{"without its record hash", schemaInvalid, func(l string) string {
			return strings.Replace(l, `"record_hash":"`+hashOf(t, []byte(l))+`",`, "", 1)
		}},
		{"without its signature's value", schemaInvalid, func(l string) string { return strings.Replace(l, `,"value":"`+signature.Value+`"`, "", 1) }},
		{"without its signature", schemaInvalid, func(l string) string {
			from, to := strings.Index(l, `"signature"`), strings.Index(l, `"verification"`)
			return l[:from] + l[to:]
		}},
		{"with a verification that a verifier would give", schemaInvalid, spoil(`"not_performed"`, `"valid"`)},
		{"without a journal_id", schemaInvalid, spoil(`"journal_id":"jrn_test",`, ``)},
		{"with an empty journal_id", schemaInvalid, spoil(`"jrn_test"`, `""`)},
		{"with an event_id that is null", schemaInvalid, spoil(`"event_id":"evt_00000000000000000000000002"`, `"event_id":null`)},
		{"without an event_id", schemaInvalid, spoil(`"event_id":"evt_00000000000000000000000002",`, ``)},
		{"with an empty event_type", schemaInvalid, spoil(`"read.tool"`, `""`)},
		{"with an event_type that is an array", schemaInvalid, spoil(`"read.tool"`, `[]`)},
		{"with a correlation that is null", schemaInvalid, func(l string) string {
			return regexp.MustCompile(`"correlation":\{[^}]*\}`).ReplaceAllString(l, `"correlation":null`)
		}},
		{"with an empty id in its correlation", schemaInvalid, spoil(`"trace_id":"0af7651916cd43dd8448eb211c80319c"`, `"trace_id":""`)},
		{"with null for an id in its correlation", schemaInvalid, spoil(`"trace_id":"0af7651916cd43dd8448eb211c80319c"`, `"trace_id":null`)},
		{"with another member in its correlation", schemaInvalid, spoil(`"trace_id":"0af7651916cd43dd8448eb211c80319c"`, `"trace_id":"0af7651916cd43dd8448eb211c80319c","trace_idx":1`)},
		{"with another type in its scope", schemaInvalid, spoil(`"organization_ref":"bank"`, `"organization_ref":1`)},
		{"without its scope", schemaInvalid, func(l string) string {
			return regexp.MustCompile(`"scope":\{[^}]*\},`).ReplaceAllString(l, "")
		}},
		{"with sequence 0", schemaInvalid, spoil(`"sequence":2`, `"sequence":0`)},
		{"with a negative sequence", schemaInvalid, spoil(`"sequence":2`, `"sequence":-2`)},
		{"with a sequence as a string", schemaInvalid, spoil(`"sequence":2`, `"sequence":"2"`)},
		{"without recorded_at", schemaInvalid, spoil(`"recorded_at"`, `"recorded_by"`)},
		{"with milliseconds", schemaInvalid, spoil(`.418000000Z"`, `.418Z"`)},
		{"with a comma in a time", schemaInvalid, spoil(`.418000000Z"`, `,418000000Z"`)},
		{"with an offset", schemaInvalid, spoil(`.418000000Z"`, `.418000000+00:00"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := journal.ParseLine([]byte(c.spoil(line)))
			problem, ok := errors.AsType[*journal.ParseError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, c.code, problem.Code, "%v", err)
			assert.Less(t, len(err.Error()), 200)
			assert.NotContains(t, err.Error(), "crm", "an error never quotes the line")
		})
	}
}

// spareBits returns base64 that a lenient decoder reads as the same bytes.
func spareBits(s string) string {
	at := strings.Index(s, "=") - 1
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return s[:at] + string(alphabet[strings.IndexByte(alphabet, s[at])^1]) + s[at+1:]
}

func TestTheLargestEntryIsTaken(t *testing.T) {
	w := newWriter(t)
	w.begin()
	body := func(fill int) []byte {
		return []byte(`{"journal_id":"j","recorded_at":"2026-10-09T08:12:03.418000000Z","sequence":1,"x":"` + strings.Repeat("x", fill) + `"}`)
	}
	size := journal.Assemble("future_record", "9.0.0", body(0), "", trusted).Size()
	w.seal("future_record", "9.0.0", body(record.MaxEntryBytes+1-size))
	require.Len(t, w.lines[0], record.MaxEntryBytes+1)
	require.Equal(t, record.Kind("future_record"), entryOf(t, w.lines[0]).Kind)
	report := verifyLines(t, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
}

func TestOfAnUnknownBodyOnlyTheFrameIsRead(t *testing.T) {
	w := newWriter(t)
	w.begin()
	w.seal("future_record", "1.0.0", []byte(`{"correlation":7,"event_type":[],"journal_id":"j","recorded_at":"2026-10-09T08:12:03.418000000Z","sequence":1}`))
	e := entryOf(t, w.lines[0])
	require.Equal(t, journal.EntryHeader{JournalID: "j", Sequence: 1, RecordedAt: record.NewTime(epoch)}, e.Header)
}

// FuzzParseLine holds that no two lines say the same: what parses equals its
// canonical form by two implementations, and its payload is the line without
// two members.
func FuzzParseLine(f *testing.F) {
	w := journalOf(f, 3)
	w.foreign("audit_event", "9.0.0")
	for _, line := range w.lines {
		line = bytes.TrimSuffix(line, []byte("\n"))
		f.Add(line)
		f.Add(bytes.Replace(line, []byte(`"system"`), []byte(`"\u0073ystem"`), 1))
		f.Add(bytes.Replace(line, []byte(`"sequence":2`), []byte(`"sequence":2.0`), 1))
	}
	f.Add([]byte(`{"integrity":{},"read_record":{},"schema_version":"1.0.0"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := journal.ParseLine(bytes.Clone(line))
		if err != nil {
			return
		}
		canonical := jsontext.Value(bytes.Clone(line))
		require.NoError(t, canonical.Canonicalize())
		require.Equal(t, string(canonical), string(line))
		other, err := jcs.Transform(line)
		require.NoError(t, err)
		require.Equal(t, string(other), string(line))
		require.True(t, jsontext.Value(e.Payload()).IsValid())
		i := e.Integrity
		require.Len(t, e.Payload(), len(line)-len(`"record_hash":"",`)-len(i.RecordHash)-len(`,"value":""`)-len(i.Signature.Value))
	})
}
