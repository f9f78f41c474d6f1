// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func observedBy(t *testing.T, observed Observed, said object) record.ObservedBy {
	t.Helper()
	text := plannedText()
	if said != nil {
		text = change(t, text, set(said, "observed_by"))
	}
	records, p := Decode(strings.NewReader(text), JSON, DefaultLimits(), observed)
	require.Nil(t, p, "%v", p)
	return records[0].Body.(*record.Action).ObservedBy
}

func TestAClientMayOnlyClaimLess(t *testing.T) {
	assert.Equal(t, record.UnverifiedInput, observedBy(t, Observed{}, nil).UpstreamContextSource)
	assert.Equal(t, record.UnverifiedInput, observedBy(t, authenticated, object{"upstream_context_source": "unverified_input"}).UpstreamContextSource)
	assert.Equal(t, "authenticated:executor-eu", observedBy(t, authenticated, nil).UpstreamContextSource)
}

func TestTheContextOfARequestIsKeptUnlessTheRecordHasIt(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7" // of the record
	other := &record.ReceivedContext{TraceID: strings.Repeat("a", 32), ParentSpanID: strings.Repeat("b", 16)}
	assert.Equal(t, other, observedBy(t, Observed{ReceivedContext: other}, nil).ReceivedContext)
	assert.Nil(t, observedBy(t, Observed{ReceivedContext: &record.ReceivedContext{TraceID: trace, ParentSpanID: span}}, nil).ReceivedContext)
}

// An application may say what it received itself, unless the request came with another
// trace than the record and that: then there is no place for both.
func TestNobodyHidesTheContextOfARequestBehindAnother(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736" // of the record
	claimed := strings.Repeat("c", 32)
	said := object{"received_context": object{"trace_id": claimed}}
	for _, request := range []*record.ReceivedContext{nil, {TraceID: claimed, ParentSpanID: strings.Repeat("b", 16)}, {TraceID: trace, ParentSpanID: strings.Repeat("b", 16)}} {
		assert.Equal(t, &record.ReceivedContext{TraceID: claimed}, observedBy(t, Observed{ReceivedContext: request}, said).ReceivedContext)
	}
	text := change(t, plannedText(), set(said, "observed_by"))
	_, p := Decode(strings.NewReader(text), JSON, DefaultLimits(), Observed{ReceivedContext: &record.ReceivedContext{TraceID: strings.Repeat("a", 32), ParentSpanID: strings.Repeat("b", 16)}})
	require.NotNil(t, p)
	assert.Equal(t, []string{CodeOurs, "/action_record/observed_by/received_context"}, []string{p.Code, p.Pointer})
}

func TestATraceparentIsReadAsW3CSays(t *testing.T) {
	const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	want := &record.ReceivedContext{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", ParentSpanID: "00f067aa0ba902b7"}
	assert.Equal(t, want, Traceparent(valid))
	assert.Equal(t, want, Traceparent("cc"+valid[2:]+"-what-comes-later"))
	for _, header := range []string{
		"", "x", valid[:54], valid + "-x", "ff" + valid[2:], "cc" + valid[2:] + "x", strings.ToUpper(valid),
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-" + strings.Repeat("0", 16) + "-01",
		strings.ReplaceAll(valid, "-", "_"), "0-04bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	} {
		assert.Nil(t, Traceparent(header), header)
	}
}
