// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"strconv"

	"github.com/readtrail/readtrail/internal/content"
)

// Request holds the log records of a request in their order.
type Request struct {
	Records []Record
	// Ignored is how many fields of no record, of no resource and of no scope this
	// version does not know.
	Ignored int
}

// Record is a LogRecord with what its request says around it.
type Record struct {
	// Resource is a map; nil says that there is none. Records of one group share it.
	Resource *Value
	// Scoped says that the InstrumentationScope is not empty.
	Scoped bool
	// Timestamp and Observed are in nanoseconds since the epoch, 0 if not set.
	Timestamp, Observed uint64
	EventName           string
	// Severe says that a severity, as a number or a text, is set.
	Severe bool
	// Body is nil if there is none.
	Body *Value
	// Attributes is a map, whose names may repeat.
	Attributes Value
	TraceID    [16]byte
	SpanID     [8]byte
	Flags      uint32
	// Dropped is how many attributes the sender says that it left out.
	Dropped uint32
	// Ignored is how many fields of the record, its resource and its scope this
	// version does not know.
	Ignored int
	// Pointer is the JSON Pointer of the record in the request as OTLP/JSON.
	Pointer string
}

// Limits bound what a request may hold. A limit of 0 allows nothing.
type Limits struct {
	Records int
	// Values counts every AnyValue and KeyValue of the request.
	Values int
	// Depth is how deep values nest; one without others in it has the depth 1.
	Depth int
}

// Error says what is wrong with the bytes of a request. It quotes nothing of them.
type Error struct {
	// Code is a Code constant.
	Code string
	// Pointer is the JSON Pointer of what is wrong, as OTLP/JSON, "" for the whole.
	Pointer string
	// Detail says in one line what is wrong.
	Detail string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Pointer + ": " + e.Detail
}

// The codes of errors.
const (
	CodeMalformed = "malformed"
	CodeTooLarge  = "too_large"
)

func malformed(detail string) *Error { return &Error{Code: CodeMalformed, Detail: detail} }

// reader counts against the limits and knows where it reads.
type reader struct {
	limits          Limits
	values, records int
	ignored         *int
	path            []string
}

// at makes an error one about the place that is read.
func (r *reader) at(err *Error) *Error {
	if err.Pointer == "" {
		for _, step := range r.path {
			err.Pointer += "/" + step
		}
	}
	return err
}

func (r *reader) enter(steps ...string) { r.path = append(r.path, steps...) }
func (r *reader) leave(steps int)       { r.path = r.path[:len(r.path)-steps] }

func (r *reader) pointer() string { return r.at(&Error{}).Pointer }

// countRecord counts one more record.
func (r *reader) countRecord() error {
	if r.records++; r.records > r.limits.Records {
		return &Error{Code: CodeTooLarge, Detail: "the request has more than " + strconv.Itoa(r.limits.Records) + " records; send fewer at once"}
	}
	return nil
}

// countValue counts one more value at a depth.
func (r *reader) countValue(depth int) error {
	if r.values++; r.values > r.limits.Values {
		return &Error{Code: CodeTooLarge, Detail: "the request has more than " + strconv.Itoa(r.limits.Values) + " values; send fewer at once"}
	}
	if depth > r.limits.Depth {
		return r.at(malformed("values nest deeper than " + strconv.Itoa(r.limits.Depth)))
	}
	return nil
}

var (
	errTwice = malformed("a field that has one value stands twice")
	errKinds = malformed("a value has two kinds")
	errText  = malformed("text is not UTF-8")
	errType  = malformed("a field has another type than OTLP gives it")
	errBytes = malformed("bytes are not base64")
	errID    = malformed("an id has the wrong length or is not hex")
	errEnds  = malformed("the request ends early or is no protobuf")
	errJSON  = malformed("the request is not JSON, has a name twice, or is not UTF-8")
)

// failed makes an error of its own out of one that is shared.
func (r *reader) failed(err *Error) error {
	own := *err
	return r.at(&own)
}

// group is a ResourceLogs while it is read: its parts come in any order.
type group struct {
	resource *Value
	ignored  int
	scopes   []scopeLogs
}

// scopeLogs is a ScopeLogs while it is read.
type scopeLogs struct {
	scoped  bool
	ignored int
	records []Record
}

// flatten gives the records of a group what stands around them.
func (g *group) flatten(q *Request) {
	for i := range g.scopes {
		s := &g.scopes[i]
		for j := range s.records {
			rec := &s.records[j]
			rec.Resource, rec.Scoped = g.resource, s.scoped
			rec.Ignored += g.ignored + s.ignored
			q.Records = append(q.Records, *rec)
		}
	}
}

// emptyMap is a map without members.
func emptyMap() Value { return Value{kind: content.KindMap} }
