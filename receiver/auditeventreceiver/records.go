// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"net/http"

	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/record"
)

// recordsEndpoint takes records of all kinds that clients give, one, an array or one
// a line. What is refused writes nothing; after a crash or trouble with the disk a part
// may stand until the same request comes again.
func (a *api) recordsEndpoint() *endpoint {
	return &endpoint{
		name: "records", method: http.MethodPost, path: "/v1/records", media: []string{mediaJSON, mediaNDJSON},
		serve: func(ctx context.Context, c *call) reply {
			decoded, p := a.decode(c)
			if p != nil {
				return p.reply()
			}
			if p := a.checkEventTypes(c, decoded); p != nil {
				return p.reply()
			}
			if p := alone(decoded); p != nil {
				return p.reply()
			}
			if p := a.confirm(ctx, c, decoded); p != nil {
				return p.reply()
			}
			records, p := incomingOf(decoded)
			if p != nil {
				return p.reply()
			}
			receipts, p := a.append(ctx, c, records)
			if p != nil {
				return p.reply()
			}
			unmet, p := a.unmetOf(ctx, c, decoded, receipts)
			if p != nil {
				return p.reply()
			}
			unsupported, p := a.unsupportedOf(ctx, c, decoded, records, receipts)
			if p != nil {
				return p.reply()
			}
			return a.receiptsReply(records, receipts, unmet, unsupported)
		},
	}
}

// decode reads the records of a call. Who sent them and the trace context of the
// request are what the receiver knows and a client cannot claim (requirement D5).
func (a *api) decode(c *call) ([]intake.Record, *problem) {
	format := intake.JSON
	if c.media == mediaNDJSON {
		format = intake.NDJSON
	}
	observed := intake.Observed{UpstreamContextSource: c.client.Source, ReceivedContext: c.receivedContext()}
	limits := intake.Limits{Bytes: a.config.HTTP.MaxRequestBodySize, Records: a.config.Limits.RecordsPerRequest}
	decoded, refused := intake.DecodeText(c.body, format, limits, observed)
	if refused != nil {
		return nil, undecoded(refused)
	}
	return decoded, nil
}

// alone refuses a request that has records beside decisions, of which the answer may be
// that they are recorded and must not be acted on: it would be that of a permission too.
func alone(decoded []intake.Record) *problem {
	decisions := 0
	other := -1
	for i := range decoded {
		if isDecision(&decoded[i]) {
			decisions++
		} else if other < 0 {
			other = i
		}
	}
	if decisions == 0 || other < 0 {
		return nil
	}
	p := newProblem(codeNotAlone, "a decision, or an audit event with field_provenance, stands in one request with other records; nothing was written; send decisions in requests of their own")
	p.Pointer = fragment(decoded[other].Pointer(""))
	return p
}

// isDecision reports whether sources of fields are checked of a record.
func isDecision(r *intake.Record) bool {
	switch body := r.Body.(type) {
	case *record.Decision:
		return true
	case *intake.AuditEvent:
		return body.Sources() != nil
	default:
		return false
	}
}

// incomingOf makes the drafts of records as they are now.
func incomingOf(decoded []intake.Record) ([]incoming, *problem) {
	records := make([]incoming, len(decoded))
	for i := range decoded {
		draft, err := decoded[i].Draft()
		beside, besideErr := decoded[i].Beside()
		if err != nil || besideErr != nil {
			p := newProblem(codeMalformed, "the record cannot stand in an entry")
			p.Pointer = fragment(decoded[i].Pointer(""))
			return nil, p
		}
		records[i] = incoming{draft: draft, pointer: decoded[i].Pointer(""), beside: beside}
	}
	return records, nil
}

// undecoded is the answer when a body is not what the schemas and rules allow.
func undecoded(r *intake.Problem) *problem {
	p := &problem{Type: problemType + r.Code, Title: "The request is not what schemas and rules allow", Status: r.Status, Detail: r.Detail, Code: r.Code}
	switch r.Status {
	case http.StatusRequestEntityTooLarge:
		p.Title = problemKinds[codeTooLarge].title
	case http.StatusNotFound:
		p.Title = problemKinds[codeNotFound].title
	}
	if r.Pointer != "" {
		p.Pointer = fragment(r.Pointer)
	}
	return p
}
