// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"encoding/json/jsontext"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// alike holds that a text is taken or refused as by the plain way, which has the last
// word on the place and the reason too.
func alike(t *testing.T, text []byte) {
	items, _, p := split(text, JSON, 10)
	if p != nil {
		return
	}
	for _, item := range items {
		want, wantProblem := plainDecode(bytes.Clone(item), authenticated)
		got, gotProblem := decode(item, authenticated)
		require.Equal(t, wantProblem, gotProblem, string(text))
		require.Equal(t, want == nil, got == nil)
		if got == nil {
			continue
		}
		require.Equal(t, want.Body, got.Body, string(text))
		wantDraft, err := want.Draft()
		require.NoError(t, err)
		gotDraft, err := got.Draft()
		require.NoError(t, err)
		require.Equal(t, string(wantDraft.Body()), string(gotDraft.Body()))
	}
}

// pieces are texts that something in an item says no to, or could be confused by.
func pieces() []string {
	return []string{
		`null`, `""`, `0`, `-0`, `1.5`, `9007199254740992`, `"x"`, `"Bearer abc"`, `"sk-0123456789abcdef"`, `{}`, `[]`, `{"":1}`, `[null]`, `"a\u0062c"`, `"a\/b"`, `"é"`,
		`["a","a"]`, `[["a"]]`, `{"a":{"b":{"c":"d"}}}`, `"marta@example.com"`, `"sha256:x"`, `true`, `"2026-10-09T10:12:03.5+02:00"`, `"*"`, `443`, `"api"`, `"unverified_input"`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70), strings.Repeat(`{"a":`, 63) + "1" + strings.Repeat("}", 63),
	}
}

// names are those of members that somebody gives, and of some that nobody does.
func names() []string {
	return []string{
		`"*"`, `"a/b"`, `"a~b"`, `"observed_by/signal"`, `"observed_by"`, `"signal"`, `"supported"`, `"claims"`, `"unmet"`, `"sequence"`, `"scope"`, `"event_id"`, `"event_type"`,
		`"step_id"`, `"derived_from"`, `"document_id"`, `"received_context"`, `"collector_id"`, `"password=1"`, `"action_record"`, `"integrity"`, `"schema_version"`, `"read_record"`,
		`"event_\u0069d"`, `"capture"`, `"basis"`,
	}
}

// spoiled returns a text in which a value or a name is another.
func spoiled(text []byte, random *rand.Rand) []byte {
	type span struct {
		begin, end int64
		name       bool
	}
	var spans []span
	d := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(text)), jsontext.AllowDuplicateNames(true))
	for {
		kind := d.PeekKind()
		at := d.InputOffset()
		var err error
		if kind == '{' || kind == '[' {
			_, err = d.ReadToken()
		} else if kind == '}' || kind == ']' {
			_, err = d.ReadToken()
			if err == nil {
				continue
			}
		} else {
			_, err = d.ReadValue()
		}
		if err != nil {
			break
		}
		end := d.InputOffset()
		begin := at + int64(len(text[at:end])-len(bytes.TrimLeft(text[at:end], " ,:\r\n\t")))
		of, n := d.StackIndex(d.StackDepth())
		spans = append(spans, span{begin, end, of == '{' && n%2 == 1 && kind == '"'})
	}
	if len(spans) == 0 {
		return text
	}
	s := spans[random.IntN(len(spans))]
	switch {
	case s.name && random.IntN(3) == 0:
		piece := pieces()[random.IntN(len(pieces()))]
		other := names()[random.IntN(len(names()))] + ":" + piece + ","
		return slices.Concat(text[:s.begin], []byte(other), text[s.begin:])
	case s.name:
		return slices.Concat(text[:s.begin], []byte(names()[random.IntN(len(names()))]), text[s.end:])
	default:
		rest := text[s.end:]
		if c := text[s.begin]; c == '{' || c == '[' {
			value := jsontext.NewDecoder(bytes.NewReader(text[s.begin:]))
			if _, err := value.ReadValue(); err == nil {
				rest = text[s.begin+value.InputOffset():]
			}
		}
		return slices.Concat(text[:s.begin], []byte(pieces()[random.IntN(len(pieces()))]), rest)
	}
}

func TestASurveyFindsWhatThePlainWayFinds(t *testing.T) {
	const changes = 80 // of each text
	random := rand.New(rand.NewPCG(1, 2))
	for _, text := range append(texts(), auditTexts(t)...) {
		alike(t, []byte(text))
		for range changes {
			other := spoiled([]byte(text), random)
			alike(t, other)
			alike(t, spoiled(other, random))
		}
	}
}

// FuzzSurvey is the same for as many changes as somebody has time for.
func FuzzSurvey(f *testing.F) {
	for _, text := range append(texts(), auditTexts(f)...) {
		f.Add([]byte(text), uint64(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		for range seed % 4 {
			text = spoiled(text, random)
		}
		alike(t, text)
	})
}
