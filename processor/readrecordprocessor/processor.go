// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"golang.org/x/sync/semaphore"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
)

// recorder is what the two signals share. It keeps nothing of a request.
type recorder struct {
	id      component.ID
	sources []genai.SourceRule
	records bool
	// authenticator is what the configuration says about the receivers.
	authenticator string
	lifter        *genai.Lifter
	stripper      *strip.Stripper
	telemetry     *metadata.TelemetryBuilder
	admission     *semaphore.Weighted
}

// maxInFlightBytes bounds the telemetry that is being lifted or waits for the
// journal, in bytes as weight.go counts them. Requests beyond it wait their
// turn: in a burst the first are acknowledged before the senders' patience ends,
// where all at once would end together, and too late.
const maxInFlightBytes = 8 << 20

// admit waits until a request of a weight may be worked on and returns how to end
// that. One larger than the bound is worked on alone.
func (r *recorder) admit(ctx context.Context, weight int) (release func(), err error) {
	taken := min(int64(weight), maxInFlightBytes)
	if err := r.admission.Acquire(ctx, taken); err != nil {
		return nil, fmt.Errorf("wait for earlier requests: %w", err)
	}
	return func() { r.admission.Release(taken) }, nil
}

func newRecorder(set processor.Settings, config *Config) (*recorder, error) {
	lifter, stripper, err := config.Compile()
	if err != nil {
		return nil, fmt.Errorf("processors::%s::%w", set.ID, err)
	}
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &recorder{
		id: set.ID, sources: config.Sources,
		records: config.Records, authenticator: config.Authenticator, lifter: lifter, stripper: stripper, telemetry: telemetry,
		admission: semaphore.NewWeighted(maxInFlightBytes),
	}, nil
}

// Start refuses a rule whose evidence store is not there: nothing of the source
// could ever be recorded, and the first read would be the first to tell.
func (r *recorder) Start(_ context.Context, host component.Host) error {
	if !r.records {
		return nil
	}
	for i := range r.sources {
		store := r.sources[i].Retention.EvidenceStore
		if store == (component.ID{}) {
			continue
		}
		extension, found := host.GetExtensions()[store]
		if !found {
			return fmt.Errorf("processors::%s::sources::%d::retention::evidence_store: no extension %s is running: "+
				"configure extensions::%[3]s and list it in service::extensions", r.id, i, store)
		}
		if _, keeps := extension.(carrier.Keeper); !keeps {
			return fmt.Errorf("processors::%s::sources::%d::retention::evidence_store: extension %s keeps no copies: "+
				"name one of type evidence_store", r.id, i, store)
		}
	}
	return nil
}

// Capabilities tells the service that the data is changed in place.
func (r *recorder) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Shutdown releases the instruments; there is nothing else to stop.
func (r *recorder) Shutdown(context.Context) error {
	r.telemetry.Shutdown()
	return nil
}

// tracesProcessor is not made by processorhelper, whose functions cannot give
// the next consumer another context, which is where records travel.
type tracesProcessor struct {
	*recorder
	next consumer.Traces
}

func (p *tracesProcessor) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	release, err := p.admit(ctx, weightOfTraces(td))
	if err != nil {
		return err
	}
	defer release()
	pass := p.begin(ctx)
	if err := pass.traces(ctx, td); err != nil {
		return err
	}
	ctx, takeBack := pass.end(ctx)
	defer takeBack()
	return p.next.ConsumeTraces(ctx, td)
}

// logsProcessor is tracesProcessor for logs.
type logsProcessor struct {
	*recorder
	next consumer.Logs
}

func (p *logsProcessor) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	release, err := p.admit(ctx, weightOfLogs(ld))
	if err != nil {
		return err
	}
	defer release()
	pass := p.begin(ctx)
	if err := pass.logs(ctx, ld); err != nil {
		return err
	}
	ctx, takeBack := pass.end(ctx)
	defer takeBack()
	return p.next.ConsumeLogs(ctx, ld)
}
