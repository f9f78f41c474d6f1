// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
)

func exampleRead() *Read {
	return &Read{
		Header: Header{
			EventType:   EventReadTool,
			OccurredAt:  TimeFromUnixNano(1791533523418000000),
			Correlation: Correlation{ExecutionID: "run_syn_0193", TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331"},
			ObservedBy:  ObservedBy{UpstreamContextSource: UnverifiedInput, Signal: SignalSpan, Dialect: "otel"},
		},
		ReadID:      "read_syn_0193_02",
		ExecutionID: "run_syn_0193",
		ToolCallID:  "call_syn_0193_02",
		Source:      Source{System: "crm-eu", Kind: SourceAPI, ToolID: "crm.customer.get", ToolVersion: "2026-09-30"},
		Request:     Request{RecordRefs: []string{"cust_syn_55120"}},
		Response:    Response{Status: StatusOK, SourceRecordVersion: "v41"},
		Retention:   Retention{ContentStored: DigestOnly, RedactionProfile: "strict/1"},
		Capture:     Capture{Request: CapturedNothing, Response: CapturedNothing},
		Basis:       map[string]Basis{"read_id": BasisAttribute},
	}
}

var exampleCompletion = Completion{
	EventID: "evt_01JZ8V4R9K2Q7M1W3D5N6P8X0A", JournalID: "jrn_1", Sequence: 7,
	RecordedAt:  NewTime(time.Unix(1791533524, 5)),
	Scope:       Scope{OrganizationRef: "bank", Environment: "production", RetentionClass: "kyc", Region: "eu"},
	CollectorID: "collector-1",
}

func TestACompletedBodyIsCanonicalByAnotherImplementation(t *testing.T) {
	read, err := NewReadDraft(exampleRead(), true)
	require.NoError(t, err)
	journal, err := NewJournalDraft(&Journal{Header: Header{EventType: EventJournalOpened}})
	require.NoError(t, err)
	lineage, err := NewLineageDraft(&Lineage{Header: Header{EventType: EventLineageSpans}}, []Span{{SpanID: "b7ad6b7169203331"}})
	require.NoError(t, err)
	for _, d := range []*Draft{read, journal, lineage} {
		c := exampleCompletion
		c.ConflictsWith = "evt_0"
		c.Parts = d.Parts()
		body := d.Complete(c)
		want, err := jcs.Transform(body)
		require.NoError(t, err)
		require.Equal(t, string(want), string(body))
		require.True(t, jsontext.Value(body).IsValid())
	}
}

func TestAStoredBodyTellsWhatItsDraftSaid(t *testing.T) {
	draft, err := NewReadDraft(exampleRead(), true)
	require.NoError(t, err)
	repeat, err := RepeatOf(KindRead, draft.Complete(exampleCompletion))
	require.NoError(t, err)
	require.Equal(t, Repeat{ID: draft.ID(), Given: true, EventID: exampleCompletion.EventID, Digest: draft.Digest()}, repeat)

	minted := exampleCompletion
	minted.EventID = EventID(ulid.MustNew(ulid.Timestamp(minted.RecordedAt.Std()), nil).String())
	repeat, err = RepeatOf(KindRead, draft.Complete(minted))
	require.NoError(t, err)
	require.Empty(t, repeat.EventID, "an event id of the time of recorded_at is the writer's own")

	unrecordable, err := NewUnrecordableDraft(Header{}, Unrecordable{Reason: "no_time", ItemID: "read_x", Item: SignalSpan})
	require.NoError(t, err)
	repeat, err = RepeatOf(KindJournal, unrecordable.Complete(exampleCompletion))
	require.NoError(t, err)
	require.Equal(t, Repeat{ID: "read_x", EventID: exampleCompletion.EventID, Digest: unrecordable.Digest()}, repeat)

	lineage, err := NewLineageDraft(&Lineage{Header: Header{EventType: EventLineageSpans, Correlation: Correlation{TraceID: "0af7"}}},
		[]Span{{SpanID: "b7ad6b7169203331"}, {SpanID: "b7ad6b7169203332"}})
	require.NoError(t, err)
	c := exampleCompletion
	c.Parts = lineage.Parts()
	repeat, err = RepeatOf(KindLineage, lineage.Complete(c))
	require.NoError(t, err)
	require.Len(t, repeat.Parts, 2)
	require.Equal(t, lineage.Parts()[1].Key, repeat.Parts[1])
}
