// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/assembly"
	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/internal/intake"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

// api is the handler behind the server's TLS, authentication and decompression: it
// finds the endpoint, says who the client is and for whom it may write, takes the
// body within the limits, and answers.
type api struct {
	config    *Config
	journal   keeper
	bindings  bindings
	admission *admission
	// waits ends when nobody may wait any more, with errClosing.
	waits         context.Context
	endWaits      context.CancelCauseFunc
	instruments   instruments
	health        *health
	logger        *zap.Logger
	authenticator string
	// challenge says what the authenticator wants to see, "" if that is not known.
	challenge string
	trust     *auditlog.Trust
	endpoints []*endpoint
	// assembler is told of what is on disk, nil if nothing is composed.
	assembler *assembly.Assembler
}

// endpoint is one path of the API, in a file of its own.
type endpoint struct {
	// name is the endpoint in metrics.
	name string
	// method is the only one that the path has.
	method string
	// path is the path, or what it begins with if it ends in a slash; what follows is
	// call.rest.
	path string
	// media are the types of body that are taken, nil if there is none.
	media []string
	// serve answers a call.
	serve func(ctx context.Context, c *call) reply
	// refuse answers a call that does not come that far, and one that serve answers
	// with a problem. Nil means problem details.
	refuse func(p *problem, media string) reply
}

// endpointsOf are all paths of the API.
func endpointsOf(a *api) []*endpoint {
	return []*endpoint{a.recordsEndpoint(), a.receiptsEndpoint(), a.auditEndpoint()}
}

// call is a request whose client is known and whose body was taken.
type call struct {
	client upstream.Client
	// scopes are those that the client may touch, the one to write to first.
	scopes []record.Scope
	header http.Header
	query  string
	rest   string
	// media is the body's type, one of endpoint.media, and body belongs to the call
	// until its answer.
	media string
	body  []byte
}

// receivedContext is the trace context that the request came with, nil if there was
// none. Two headers are none: nobody says which is meant.
func (c *call) receivedContext() *record.ReceivedContext {
	headers := c.header.Values("Traceparent")
	if len(headers) != 1 {
		return nil
	}
	return intake.Traceparent(headers[0])
}

// scope is where the records of the call go.
func (c *call) scope() *record.Scope { return &c.scopes[0] }

func newAPI(config *Config, journal keeper, trust *auditlog.Trust, telemetry *metadata.TelemetryBuilder, health *health, logger *zap.Logger) *api {
	a := &api{
		config: config, journal: journal, trust: trust, health: health, logger: logger,
		bindings:    bindings{clients: config.Clients, journal: journal},
		instruments: instruments{telemetry},
	}
	a.admission = newAdmission(config, a.instruments)
	a.waits, a.endWaits = context.WithCancelCause(context.Background())
	if config.HTTP.Auth.HasValue() {
		id := config.HTTP.Auth.Get().Config.AuthenticatorID
		a.authenticator, a.challenge = id.String(), challenges[id.Type().String()]
	}
	a.endpoints = endpointsOf(a)
	return a
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	e, rest := a.endpointOf(r.URL.Path)
	var answer reply
	if e == nil {
		e = noEndpoint
		answer = e.refusal(newProblem(codeNotFound, "there is no such path"), "")
	} else {
		answer = a.answer(w, r, e, rest)
	}
	answer.write(w)
	a.instruments.answered(e, &answer, time.Since(begun))
}

// noEndpoint stands for all paths that there are not.
var noEndpoint = &endpoint{name: "none"}

// endpointOf finds the endpoint of a path, and what of the path is the client's.
func (a *api) endpointOf(path string) (e *endpoint, rest string) {
	for _, e := range a.endpoints {
		if path == e.path {
			return e, ""
		}
		if rest, found := strings.CutPrefix(path, e.path); found && strings.HasSuffix(e.path, "/") {
			return e, rest
		}
	}
	return nil, ""
}

func (a *api) answer(w http.ResponseWriter, r *http.Request, e *endpoint, rest string) reply {
	if r.Method != e.method {
		w.Header().Set("Allow", e.method)
		return e.refusal(newProblem(codeMethod, "this path has another method: see Allow"), "")
	}
	c := &call{
		client: upstream.ClientOf(r.Context(), r.TLS, a.authenticator),
		header: r.Header, query: r.URL.RawQuery, rest: rest,
	}
	if e.media != nil {
		var found bool
		if c.media, found = mediaOf(r.Header.Values("Content-Type"), e.media); !found {
			return e.refusal(newProblem(codeMediaType, "Content-Type must be one of: "+strings.Join(e.media, ", ")), "")
		}
	}
	organization, class := r.Header.Values(organizationHeader), r.Header.Values(retentionClassHeader)
	if len(organization) > 1 || len(class) > 1 {
		return e.refusal(newProblem(codeMalformed, organizationHeader+" and "+retentionClassHeader+" may stand once each"), c.media)
	}
	c.scopes = a.bindings.scopesOf(c.client, first(organization), first(class))
	if len(c.scopes) == 0 {
		return e.refusal(newProblem(codeScope, "this client may not use this organization and retention class"), c.media)
	}
	if e.media != nil {
		body, release, p := a.admission.read(r.Body, r.ContentLength)
		defer release()
		if p != nil {
			return e.refusal(p, c.media)
		}
		c.body = body
	}
	done, p := a.admission.enter(r.Context(), len(c.body))
	if p != nil {
		return e.refusal(p, c.media)
	}
	defer done()
	return e.serve(r.Context(), c)
}

// challenges are those of the authenticators in the distribution, by their types, as they
// are configured by default (RFC 9110, 11.6.1; RFC 7617; RFC 6750).
var challenges = map[string]string{
	"basicauth":       `Basic realm="readtrail"`,
	"bearertokenauth": `Bearer realm="readtrail"`,
	"oidc":            `Bearer realm="readtrail"`,
}

// refusal is the endpoint's answer to a problem.
func (e *endpoint) refusal(p *problem, media string) reply {
	if e.refuse != nil {
		return e.refuse(p, media)
	}
	return p.reply()
}

// refuseEarly answers what the server refuses before the API sees it: who did not
// authenticate, and a body whose encoding cannot be read. The text says more than a
// stranger may know, and can hold what the client sent; so it goes nowhere.
func (a *api) refuseEarly(w http.ResponseWriter, r *http.Request, _ string, status int) {
	e, _ := a.endpointOf(r.URL.Path)
	if e == nil {
		e = noEndpoint
	}
	p := newProblem(codeEncoding, "the body cannot be read as its Content-Encoding says, or that encoding is not taken")
	if status == http.StatusUnauthorized {
		p = newProblem(codeUnauthorized, "the request did not authenticate")
		if a.challenge != "" {
			w.Header().Set("WWW-Authenticate", a.challenge)
		}
	}
	media, _ := mediaOf(r.Header.Values("Content-Type"), e.media)
	answer := e.refusal(p, media)
	answer.write(w)
	a.instruments.answered(e, &answer, 0)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
