// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"encoding/json/v2"
	"net/http"
	"time"

	"github.com/readtrail/readtrail/internal/provenance"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// problem is why a request is refused, as problem details (RFC 9457). It never holds
// a value that the client sent: Detail is one of our sentences, and Pointer holds
// names that a schema has, and indices.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Pointer is a JSON Pointer (RFC 6901) into the request, as a URI fragment.
	Pointer string `json:"pointer,omitzero"`
	Code    string `json:"code"`
	// EventID is the entry that is in the way.
	EventID string `json:"event_id,omitzero"`
	// Receipt is that of a record which was written although it is refused, and
	// Receipts are those of all records of the request.
	Receipt  *receipt  `json:"receipt,omitzero"`
	Receipts []receipt `json:"receipts,omitzero"`

	// retryAfter is how long the client is told to wait, 0 if waiting does not help.
	retryAfter time.Duration
}

// problemType is what the type of a problem begins with, before its code.
const problemType = "urn:readtrail:problem:"

// The codes of the API itself. Those of records come from what decodes and keeps
// them.
const (
	codeMalformed    = "malformed"
	codeUnauthorized = "unauthorized"
	codeScope        = "scope_forbidden"
	codeEventType    = "event_type_forbidden"
	codeNotFound     = "not_found"
	codePruned       = "pruned"
	codeMethod       = "method_not_allowed"
	codeTimeout      = "request_timeout"
	codeTooLarge     = "too_large"
	codeEncoding     = "encoding_unsupported"
	codeMediaType    = "media_type_unsupported"
	codeNotAlone     = "decision_not_alone"
	codeUnmet        = "provenance_unmet"
	codeClaim        = provenance.CodeClaimUnsupported
	codeBusy         = "too_many_requests"
	codeUnavailable  = "journal_unavailable"
)

// kinds are status and title of the codes of the API itself.
var problemKinds = map[string]struct {
	status int
	title  string
}{
	codeMalformed:    {http.StatusBadRequest, "The request is malformed"},
	codeUnauthorized: {http.StatusUnauthorized, "Nobody vouches for the client"},
	codeScope:        {http.StatusForbidden, "The client may not write there"},
	codeEventType:    {http.StatusForbidden, "The client may not write that"},
	codeNotFound:     {http.StatusNotFound, "There is no such thing"},
	codePruned:       {http.StatusGone, "The entry was removed"},
	codeMethod:       {http.StatusMethodNotAllowed, "The path has another method"},
	codeTimeout:      {http.StatusRequestTimeout, "The body did not come in time"},
	codeTooLarge:     {http.StatusRequestEntityTooLarge, "The body is too large"},
	codeEncoding:     {http.StatusUnsupportedMediaType, "The content encoding is not taken"},
	codeMediaType:    {http.StatusUnsupportedMediaType, "The content type is not taken"},
	codeNotAlone:     {http.StatusBadRequest, "A decision comes in a request of its own"},
	codeUnmet:        {http.StatusUnprocessableEntity, "What the decision cites is not confirmed"},
	codeClaim:        {http.StatusUnprocessableEntity, "A claim is not supported"},
	codeBusy:         {http.StatusTooManyRequests, "More is under way than the receiver takes"},
	codeUnavailable:  {http.StatusServiceUnavailable, "The journal cannot be written"},
}

// newProblem makes a problem of one of the API's own codes.
func newProblem(code, detail string) *problem {
	kind := problemKinds[code]
	return &problem{Type: problemType + code, Title: kind.title, Status: kind.status, Detail: detail, Code: code}
}

// after says that the same request may be sent again, and when.
func (p *problem) after(wait time.Duration) *problem {
	p.retryAfter = wait
	return p
}

// reply spells the problem.
func (p *problem) reply() reply {
	body, _ := json.Marshal(p) // strings and numbers always marshal
	return reply{status: p.Status, media: "application/problem+json", body: append(body, '\n'), retryAfter: p.retryAfter, code: p.Code}
}

// receipt is a receipt as the API gives it.
type receipt struct {
	journal.Receipt
	Repeat bool `json:"repeat"`
	// Unmet is what is not confirmed of a decision.
	Unmet []record.Unmet `json:"unmet,omitzero"`
	// Unsupported are the ids of the claims of a context that are not supported by what
	// its execution was given.
	Unsupported []string `json:"unsupported,omitzero"`
}
