// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

func TestASingleEntryIsVerifiedHoweverItIsPrinted(t *testing.T) {
	w := journalOf(t, 2).group(3)
	registry := registryOf(t, trustedKey(trusted))
	for i, line := range w.lines {
		printed := jsontext.Value(bytes.Clone(line))
		require.NoError(t, printed.Indent())
		for _, text := range [][]byte{line, printed, []byte("\n " + string(printed))} {
			e := journal.VerifyEnvelope(text, journal.Options{Registry: registry})
			require.Equal(t, 0, e.ExitCode(), "%+v", e)
			assert.Equal(t, []journal.Check{journal.Valid, journal.Valid, journal.Valid}, []journal.Check{e.Hash, e.Signature, e.Schema})
			assert.Equal(t, []journal.Check{journal.NotPerformed, journal.NotPerformed}, []journal.Check{e.Chain, e.Place}, "never by an entry alone")
			assert.Equal(t, uint64(i+1), e.Sequence)
			assert.Equal(t, hashOf(t, line), e.RecordHash)
		}
	}
	require.Equal(t, 2, journal.VerifyEnvelope(w.lines[1], journal.Options{}).ExitCode(), "without keys")
}

func TestASingleEntryThatWasChangedIsBroken(t *testing.T) {
	w := journalOf(t, 2)
	line := string(w.lines[1])
	registry := registryOf(t, trustedKey(trusted))
	value := entryOf(t, w.lines[1]).Integrity.Signature.Value
	for name, c := range map[string]struct {
		text string
		code journal.Code
	}{
		"a value":                     {strings.Replace(line, `"bank"`, `"tank"`, 1), journal.CodeRecordHashMismatch},
		"a signature":                 {strings.Replace(line, value, entryOf(t, w.lines[0]).Integrity.Signature.Value, 1), journal.CodeSignatureInvalid},
		"a number that does not last": {strings.Replace(line, `"sequence":2`, `"sequence":2.0`, 1), journal.CodeNotCanonical},
		"a number that rounds":        {strings.Replace(line, `"sequence":2`, `"sequence":9007199254740993`, 1), journal.CodeNotCanonical},
		"a member twice":              {strings.Replace(line, `"sequence":2`, `"sequence":2,"sequence":2`, 1), journal.CodeNotCanonical},
		"two entries":                 {line + line, journal.CodeNotCanonical},
		"no entry":                    {`{"a":{}}`, journal.CodeSchemaInvalid},
		"nothing":                     {``, journal.CodeNotCanonical},
		"an array":                    {`[]`, journal.CodeSchemaInvalid},
	} {
		e := journal.VerifyEnvelope([]byte(c.text), journal.Options{Registry: registry})
		require.Equal(t, 1, e.ExitCode(), name)
		require.Equal(t, c.code, e.Report().FirstBad.Code, name)
		require.NotEqual(t, journal.Valid, e.Signature, name)
	}
	e := journal.VerifyEnvelope([]byte(line), journal.Options{Registry: registryOf(t, trustedKey(stranger))})
	require.Equal(t, journal.CodeKeyUnknown, e.Report().FirstBad.Code)
}

func FuzzEnvelope(f *testing.F) {
	w := journalOf(f, 2)
	f.Add(w.lines[1])
	f.Add([]byte(`{"integrity":{},"read_record":{},"schema_version":"1.0.0"}`))
	registry := registryOf(f, trustedKey(trusted))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := journal.VerifyEnvelope(text, journal.Options{Registry: registry})
		if e.ExitCode() == 0 {
			form := jsontext.Value(bytes.Clone(text))
			require.NoError(t, form.Canonicalize())
			require.Contains(t, []string{string(w.lines[0][:len(w.lines[0])-1]), string(w.lines[1][:len(w.lines[1])-1])}, string(form), "nothing else is signed")
		}
	})
}
