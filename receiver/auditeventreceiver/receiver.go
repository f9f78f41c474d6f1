// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/assembly"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
)

// eventReceiver runs the server between Start and Shutdown.
type eventReceiver struct {
	id        component.ID
	config    *Config
	settings  component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder

	// api, server and listener are nil before start, and so is assembler, which also is
	// if nothing is composed.
	api       *api
	assembler *assembly.Assembler
	server    *http.Server
	listener  net.Listener
	serving   sync.WaitGroup
}

func newReceiver(set receiver.Settings, config *Config) (*eventReceiver, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &eventReceiver{id: set.ID, config: config, settings: set.TelemetrySettings, telemetry: telemetry}, nil
}

// Start listens, or says which part of the configuration is in the way.
func (r *eventReceiver) Start(ctx context.Context, host component.Host) error {
	if err := r.start(ctx, host); err != nil {
		return fmt.Errorf("receivers::%s::%w", r.id, err)
	}
	return nil
}

func (r *eventReceiver) start(ctx context.Context, host component.Host) error {
	journal, err := keeperOf(host, r.config.Journal)
	if err != nil {
		return err
	}
	trust, err := r.config.Audit.trust()
	if err != nil {
		return err
	}
	api := newAPI(r.config, journal, trust, r.telemetry, newHealth(host), r.settings.Logger)
	if err := api.bindings.check(); err != nil {
		return err
	}
	assembler, err := r.assemblerFor(host)
	if err != nil {
		return err
	}
	api.assembler = assembler
	server, err := r.config.HTTP.ToServer(ctx, host.GetExtensions(), r.settings, api, confighttp.WithErrorHandler(api.refuseEarly))
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	server.Handler = unnamed(server.Handler)
	listener, err := r.config.HTTP.ToListener(ctx)
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	r.api, r.server, r.listener = api, server, listener
	if assembler != nil {
		r.assembler = assembler
		assembler.Start()
	}
	r.settings.Logger.Info("API is served", zap.Stringer("endpoint", listener.Addr()), zap.Bool("tls", r.config.HTTP.TLS.HasValue()))
	r.serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(fmt.Errorf("receivers::%s: server ended: %w", r.id, err)))
		}
	})
	return nil
}

// Shutdown takes no new requests and answers those that are there, as long as ctx
// allows. What is then cut off was not acknowledged.
func (r *eventReceiver) Shutdown(ctx context.Context) error {
	defer r.telemetry.Shutdown()
	if r.server == nil {
		return nil
	}
	r.api.endWaits(errClosing)
	err := r.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, r.server.Close())
	}
	r.serving.Wait()
	r.assembler.Close()
	return err
}
