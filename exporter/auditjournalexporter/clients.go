// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/record"
)

// checkClients says which binding names a scope that the journal does not have.
func (e *journalExporter) checkClients() error {
	scopes := e.journal.Scopes()
	for i := range e.config.Clients {
		binding := &e.config.Clients[i]
		if coversAny(binding, scopes) {
			continue
		}
		class := ""
		if binding.RetentionClass != "" {
			class = " and class " + binding.RetentionClass
		}
		return fmt.Errorf("exporters::%s::clients::%d: the journal has no scope for organization %s%s: add it to extensions::%s::scope::routes",
			e.id, i, binding.OrganizationRef, class, e.config.Journal)
	}
	return nil
}

func coversAny(b *upstream.Binding, scopes []record.Scope) bool {
	for _, scope := range scopes {
		if b.Covers(scope) {
			return true
		}
	}
	return false
}

// errForbidden is the answer to a client whose telemetry chooses what is not its own.
// It is permanent: the same request is refused for as long as the configuration is as
// it is, and what is not the client's to write is no evidence that could be lost. The
// text is the same whatever the telemetry chose, so that nobody learns from it what
// there is.
var errForbidden = consumererror.NewPermanent(&forbidden{"this client may not write for the organization, or to the retention class, that a resource of this request chooses; " +
	"nothing of the request was written: set the resource attributes that choose those of the client, or have the client added to clients of the audit_journal exporter"})

// forbidden is a refusal that OTLP receivers answer with PermissionDenied, or 403.
type forbidden struct{ text string }

// Error implements error.
func (f *forbidden) Error() string { return f.text }

// GRPCStatus tells receivers what to answer.
func (f *forbidden) GRPCStatus() *status.Status { return status.New(codes.PermissionDenied, f.text) }

// admit refuses a batch of which anything would be written to a scope that its sender
// may not write to (contract 7). A batch of which nothing would be written chooses
// nothing, and may come from anybody.
func (e *journalExporter) admit(ctx context.Context, batch *carrier.Batch) error {
	if e.config.Clients == nil {
		return nil
	}
	client := upstream.InPipeline(ctx, "")
	own := e.config.Clients.Of(client)
	for i := range batch.Items {
		if scope := e.journal.ScopeOf(&batch.Items[i]); !own.Cover(scope) {
			return e.forbid(ctx, client, scope)
		}
	}
	if !e.config.Lineage {
		return nil
	}
	for i := range batch.Lineages {
		if scope := e.journal.ScopeOf(&carrier.Item{Resource: batch.Lineages[i].Resource}); !own.Cover(scope) {
			return e.forbid(ctx, client, scope)
		}
	}
	return nil
}

// forbid counts and logs a refusal. The component is as well as before: a client must
// not be able to say otherwise.
func (e *journalExporter) forbid(ctx context.Context, client upstream.Client, scope record.Scope) error {
	e.telemetry.ExporterAuditJournalRefusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", "scope_forbidden")))
	who := client.Subject
	if who == "" {
		who = "unknown"
	}
	e.refusals.Warn("Refused telemetry that chooses an organization or retention class which its client may not write to",
		zap.String("client", who), zap.String("organization_ref", scope.OrganizationRef), zap.String("retention_class", scope.RetentionClass))
	return errForbidden
}

// sampled returns a logger that writes some lines of each message a minute: clients
// decide how often there is something to say.
func sampled(logger *zap.Logger) *zap.Logger {
	const lines = 10
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, lines, 0)
	}))
}
