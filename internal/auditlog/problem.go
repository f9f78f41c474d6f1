// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"errors"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
)

// Problem says why a request is refused. It quotes nothing of the request but the id
// that the draft has the answer name.
type Problem struct {
	// HTTP is the status of the answer.
	HTTP int
	// Status is a value of the draft.
	Status Status
	// Code is a stable token that says which rule it is.
	Code string
	// Pointer is the JSON Pointer of what is wrong in the request as OTLP/JSON, ""
	// for all of it.
	Pointer string
	// Detail says in one line what is wrong and what to do.
	Detail string
	// Record is the index of the record in the request, -1 for none.
	Record int
	// EventID is the entry that is in the way, "" if none is.
	EventID string
}

func (p *Problem) Error() string { return p.Code + " at " + p.Pointer + ": " + p.Detail }

// invalid is the problem of a record that does not meet the draft's data model.
func invalid(code, pointer, detail string) *Problem {
	return &Problem{HTTP: httpBadRequest, Status: StatusSchemaInvalid, Code: code, Pointer: pointer, Detail: detail, Record: -1}
}

// unverified is the problem of a record whose proof does not hold, or is not there
// though the configuration demands one.
func unverified(code, pointer, detail string) *Problem {
	return &Problem{HTTP: httpBadRequest, Status: StatusVerifyFailed, Code: code, Pointer: pointer, Detail: detail, Record: -1}
}

// unreadable is the problem of bytes that are no request.
func unreadable(err error) *Problem {
	e, ok := errors.AsType[*otlp.Error](err)
	switch {
	case !ok:
		return invalid(otlp.CodeMalformed, "", "the request cannot be read")
	case e.Code == otlp.CodeTooLarge:
		p := invalid(e.Code, e.Pointer, e.Detail)
		p.HTTP = httpTooLarge
		return p
	default:
		return invalid(e.Code, e.Pointer, e.Detail)
	}
}

// The HTTP status codes of the draft. There is no 207.
const (
	httpOK          = 200
	httpAccepted    = 202
	httpBadRequest  = 400
	httpConflict    = 409
	httpTooLarge    = 413
	httpInternal    = 500
	httpUnavailable = 503
)
