// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"encoding/json/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// FuzzDecode holds that a request is refused with a problem that names a place, or
// gives drafts that fit their schemas and hold all that was said.
func FuzzDecode(f *testing.F) {
	for _, text := range append(texts(), auditTexts(f)...) {
		f.Add([]byte(text), false)
		f.Add([]byte("["+text+"]"), false)
		f.Add([]byte(strings.ReplaceAll(text, "\n", "")), true)
	}
	f.Add([]byte(`[[[[{"a":1,"a":null}]]]]`), false)
	f.Fuzz(func(t *testing.T, text []byte, ndjson bool) {
		format := JSON
		if ndjson {
			format = NDJSON
		}
		records, p := Decode(bytes.NewReader(text), format, Limits{Bytes: 1 << 16, Records: 10}, authenticated)
		if p != nil {
			require.Nil(t, records)
			require.NotZero(t, p.Status)
			require.NotEmpty(t, p.Detail)
			require.Less(t, len(p.Pointer), longestPointer+64)
			for _, c := range p.Pointer {
				require.True(t, strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_.[]/?", c), p.Pointer)
			}
			return
		}
		require.NotEmpty(t, records)
		for _, r := range records {
			d, err := r.Draft()
			require.NoError(t, err)
			require.NoError(t, schema.ValidateDraft(d))
			if beside, err := r.Beside(); beside != nil || err != nil {
				require.NoError(t, err)
				require.NoError(t, schema.ValidateDraft(beside))
				d = beside
			}
			var header struct {
				ObservedBy record.ObservedBy `json:"observed_by"`
				OccurredAt record.Time       `json:"occurred_at"`
			}
			require.NoError(t, json.Unmarshal(d.Body(), &header))
			require.Equal(t, record.SignalAPI, header.ObservedBy.Signal)
			require.Equal(t, d.Kind() == record.KindJournal, header.OccurredAt.IsZero(), "the journal says when it was told")
		}
	})
}

// FuzzParseTime holds that what is taken is what a strict reader of RFC 3339 takes,
// to the nanosecond.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		"2026-10-09T08:12:03Z", "2026-10-09T08:12:03.123456789+14:00", "2026-10-09T08:12:03.1-00:00", "2026-10-09T08:12:03,1Z", "0000-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999-23:59", "2026-10-09T8:12:03Z", "2026-10-09T08:12:60Z", "2026-10-09T08:12:03.1234567890Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseTime(s)
		if err != nil {
			require.True(t, got.IsZero())
			return
		}
		want, err := time.Parse(time.RFC3339Nano, s)
		require.NoError(t, err)
		require.True(t, want.Equal(got.Std()))
		again, err := record.ParseTime(got.String())
		require.NoError(t, err)
		require.Equal(t, got.String(), again.String())
	})
}

// FuzzTraceparent holds that ids are taken as entries spell them, or not at all.
func FuzzTraceparent(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, header string) {
		if c := Traceparent(header); c != nil {
			require.Len(t, c.TraceID, 32)
			require.Len(t, c.ParentSpanID, 16)
			require.Equal(t, header[3:35], c.TraceID)
			require.Equal(t, header[36:52], c.ParentSpanID)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	text := plannedText()
	for b.Loop() {
		if _, p := decodeJSON(text); p != nil {
			b.Fatal(p)
		}
	}
}
