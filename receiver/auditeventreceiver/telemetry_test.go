// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadatatest"
	"github.com/readtrail/readtrail/record"
)

func TestMetricsSayWhatWasAnswered(t *testing.T) {
	r := newRig(t, nil)
	point := func(value int64, attributes ...attribute.KeyValue) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: value, Attributes: attribute.NewSet(attributes...)}
	}
	require.Equal(t, http.StatusOK, r.decide("a b").status)
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		return []journal.Receipt{{Repeat: true}}, nil
	})
	require.Equal(t, http.StatusOK, r.decide("a").status)
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		return nil, errors.New("disk")
	})
	require.Equal(t, http.StatusServiceUnavailable, r.decide("a").status)
	require.Equal(t, http.StatusNotFound, r.send("GET", "/", "").status)

	options := []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}
	records, none := attribute.String("endpoint", "records"), attribute.String("endpoint", "none")
	decision := attribute.String("kind", "decision_record")
	metadatatest.AssertEqualReceiverAuditEventRequests(t, r.tel, []metricdata.DataPoint[int64]{
		point(2, records, attribute.Int("status", 200)), point(1, records, attribute.Int("status", 503)), point(1, none, attribute.Int("status", 404)),
	}, options...)
	metadatatest.AssertEqualReceiverAuditEventRecords(t, r.tel, []metricdata.DataPoint[int64]{
		point(2, decision, attribute.Bool("repeat", false)), point(1, decision, attribute.Bool("repeat", true)),
	}, options...)
	metadatatest.AssertEqualReceiverAuditEventRefusals(t, r.tel, []metricdata.DataPoint[int64]{
		point(1, records, attribute.String("code", "journal_unavailable")), point(1, none, attribute.String("code", "not_found")),
	}, options...)
	metadatatest.AssertEqualReceiverAuditEventDuration(t, r.tel, []metricdata.HistogramDataPoint[float64]{
		{Attributes: attribute.NewSet(records)}, {Attributes: attribute.NewSet(none)},
	}, append(options, metricdatatest.IgnoreValue())...)
	metadatatest.AssertEqualReceiverAuditEventRequestsInFlight(t, r.tel, []metricdata.DataPoint[int64]{point(0)}, options...)
	metadatatest.AssertEqualReceiverAuditEventBytesInFlight(t, r.tel, []metricdata.DataPoint[int64]{point(0)}, options...)
}
