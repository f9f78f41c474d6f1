// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// mediaProtobuf is OTLP in protobuf; the answer is JSON in any case, since the draft
// has no message for it.
const mediaProtobuf = "application/x-protobuf"

// auditEndpoint takes records of the OpenTelemetry audit-logging draft, all of a
// request or none. What it refuses, it refuses as the draft says, and not with
// problem details.
func (a *api) auditEndpoint() *endpoint {
	service := auditlog.New(a.config.Audit.options(a))
	return &endpoint{
		name: "audit", method: http.MethodPost, path: "/v1/audit", media: []string{mediaProtobuf, mediaJSON},
		serve: func(ctx context.Context, c *call) reply {
			if types, all := a.bindings.eventTypesOf(c.client, c.scope()); !all && !slices.Contains(types, record.EventAuditLogReceived) {
				p := eventTypeForbidden()
				return auditReply(auditlog.Refuse(p.Status, p.Code, p.Detail, 0))
			}
			ctx, cancel := context.WithTimeout(ctx, a.config.Limits.JournalTimeout)
			defer cancel()
			request := auditlog.Request{Format: auditlog.Protobuf, Body: c.body, Source: c.client.Source, Journal: actionsOf{a, *c.scope()}}
			if c.media == mediaJSON {
				request.Format = auditlog.JSON
			}
			answer := service.Receive(ctx, request)
			if answer.ChainWarnings > 0 {
				a.instruments.chainWarnings(answer.ChainWarnings)
				a.logger.Warn("Producer's chain of audit records is broken: the entries say how; see docs/audit-draft.md")
			}
			if answer.HTTP == http.StatusBadRequest && answer.Status == auditlog.StatusVerifyFailed {
				a.logger.Warn("Audit record was refused: its proof is missing or does not hold")
			}
			return auditReply(answer)
		},
		refuse: func(p *problem, _ string) reply {
			seconds := int((p.retryAfter + time.Second - 1) / time.Second)
			return auditReply(auditlog.Refuse(p.Status, p.Code, p.Detail, seconds))
		},
	}
}

// auditReply is an answer of the draft.
func auditReply(answer auditlog.Answer) reply {
	r := reply{status: answer.HTTP, media: mediaJSON, body: answer.Body, retryAfter: time.Duration(answer.RetryAfter) * time.Second}
	if answer.HTTP >= http.StatusBadRequest {
		r.code = answer.Outcome
	}
	for range answer.Records {
		r.written = append(r.written, written{record.KindJournal, false})
	}
	for range answer.Repeats {
		r.written = append(r.written, written{record.KindJournal, true})
	}
	return r
}

// actionsOf is the journal of actions of a scope.
type actionsOf struct {
	api   *api
	scope record.Scope
}

var _ auditlog.Journal = actionsOf{}

// Append implements auditlog.Journal.
func (j actionsOf) Append(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	receipts, err := j.api.journal.AppendStrict(ctx, j.scope, drafts)
	j.api.sawJournal(err)
	return receipts, err
}

// Lookup implements auditlog.Journal.
func (j actionsOf) Lookup(ctx context.Context, ids ...string) ([]*journal.Entry, error) {
	entries, err := j.api.journal.Lookup(ctx, j.scope, ids...)
	j.api.sawJournal(err)
	return entries, err
}

// Name implements auditlog.Journal.
func (j actionsOf) Name() string {
	return j.scope.OrganizationRef + "\n" + j.scope.RetentionClass
}
