// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

// instruments are the receiver's metrics. They are about the receiver and not about
// a request, so that they take no context of one.
type instruments struct {
	telemetry *metadata.TelemetryBuilder
}

// answered counts one answer and what it tells.
func (i instruments) answered(e *endpoint, r *reply, took time.Duration) {
	ctx := context.Background()
	i.telemetry.ReceiverAuditEventRequests.Add(ctx, 1, labels.of(label{endpoint: e.name, status: r.status}))
	i.telemetry.ReceiverAuditEventDuration.Record(ctx, took.Seconds(), labels.of(label{endpoint: e.name}))
	if r.code != "" {
		i.telemetry.ReceiverAuditEventRefusals.Add(ctx, 1, metric.WithAttributes(attribute.String("code", r.code), attribute.String("endpoint", e.name)))
	}
	counts := make(map[written]int64, 1)
	for _, w := range r.written {
		counts[w]++
	}
	for w, n := range counts {
		i.telemetry.ReceiverAuditEventRecords.Add(ctx, n, labels.of(label{written: w}))
	}
}

func (i instruments) chainWarnings(records int) {
	i.telemetry.ReceiverAuditEventChainWarnings.Add(context.Background(), int64(records))
}

// unmet counts what is not confirmed of a decision.
func (i instruments) unmet(unmet []record.Unmet) {
	for _, u := range unmet {
		i.telemetry.ReceiverAuditEventUnmet.Add(context.Background(), 1, metric.WithAttributes(attribute.String("finding", u.Code)))
	}
}

func (i instruments) waiting(n int64) {
	i.telemetry.ReceiverAuditEventWaiting.Add(context.Background(), n)
}

// assembled counts what became of looking for an audit event.
func (i instruments) assembled(result string) {
	i.telemetry.ReceiverAuditEventAssembled.Add(context.Background(), 1, metric.WithAttributes(attribute.String("result", result)))
}

func (i instruments) requestsInFlight(n int64) {
	i.telemetry.ReceiverAuditEventRequestsInFlight.Add(context.Background(), n)
}

func (i instruments) bytesInFlight(n int64) {
	i.telemetry.ReceiverAuditEventBytesInFlight.Add(context.Background(), n)
}

// label is what tells apart the series of a metric that every request counts in: an
// endpoint, with or without a status, or what was written.
type label struct {
	endpoint string
	status   int
	written  written
}

// labelSets are attributes by label, made once: there are few.
type labelSets struct{ made sync.Map }

var labels labelSets

func (s *labelSets) of(l label) metric.MeasurementOption {
	if known, found := s.made.Load(l); found {
		return known.(metric.MeasurementOption)
	}
	var attributes []attribute.KeyValue
	switch {
	case l.endpoint == "":
		attributes = append(attributes, attribute.String("kind", string(l.written.kind)), attribute.Bool("repeat", l.written.repeat))
	case l.status != 0:
		attributes = append(attributes, attribute.String("endpoint", l.endpoint), attribute.Int("status", l.status))
	default:
		attributes = append(attributes, attribute.String("endpoint", l.endpoint))
	}
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	s.made.Store(l, option)
	return option
}
