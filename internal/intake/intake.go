// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package intake turns the bytes of a request into bodies of records. Bytes come
// from anyone: memory is bounded by limits, nothing panics, and a problem names a
// place and never a value. Nothing is repaired or guessed: what a record could not
// hold is refused, and what a client says is in the record or the client is told.
//
// Only the spelling of times is changed: RFC 3339 with any offset and up to nine
// fractional digits becomes the one spelling of contract 2.
package intake

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// Format is how records stand in a request.
type Format int

const (
	// JSON is one object, or an array of them.
	JSON Format = iota
	// NDJSON is one object a line (application/x-ndjson). A last empty line is
	// none; any other is refused.
	NDJSON
)

// Limits bound what a request may ask for.
type Limits struct {
	// Bytes are those of the request after decompression.
	Bytes int64
	// Records are those of a batch.
	Records int
}

// DefaultLimits are what a client can rely on.
func DefaultLimits() Limits { return Limits{Bytes: 8 << 20, Records: 1000} }

// Observed is what the receiver knows of a request and a client cannot claim.
type Observed struct {
	// UpstreamContextSource is "authenticated:" and who it is, or
	// record.UnverifiedInput (contract 1).
	UpstreamContextSource string
	// ReceivedContext is that of the request itself, nil if there was none.
	ReceivedContext *record.ReceivedContext
}

// Record is one record of a request.
type Record struct {
	// Index is its place in an array or NDJSON, from 0.
	Index   int
	Kind    record.Kind
	Version string
	// Body is a *record.Action, *record.Approval, *record.Decision, *record.Context,
	// *AuditEvent or *AuditPart. What intake itself finds out may be added to it
	// before Draft, but for an action and an approval, of which it finds out nothing.
	Body any
	// draft is that of a body that stays as it is.
	draft *record.Draft
	// at is the JSON Pointer of the body in the request.
	at string
}

// Draft returns the draft of the body as it is now. The application gave its ids.
func (r *Record) Draft() (*record.Draft, error) {
	if r.draft != nil {
		return r.draft, nil
	}
	switch body := r.Body.(type) {
	case *AuditEvent:
		event, _, err := body.drafts(r.Version)
		return event, err
	case *AuditPart:
		return body.draft()
	default:
		return record.NewBodyDraft(r.Kind, r.Version, true, r.Body)
	}
}

// Beside returns the draft of what has to stand behind the record in the same batch,
// nil for most records.
func (r *Record) Beside() (*record.Draft, error) {
	body, ok := r.Body.(*AuditEvent)
	if !ok {
		return nil, nil
	}
	_, beside, err := body.drafts(r.Version)
	return beside, err
}

// Pointer returns the JSON Pointer in the request of a place in the body, such as
// /action/host.
func (r *Record) Pointer(inBody string) string { return r.at + inBody }

// Decode reads the records of a request, all of them or none.
func Decode(r io.Reader, format Format, limits Limits, observed Observed) ([]Record, *Problem) {
	text, err := io.ReadAll(io.LimitReader(r, limits.Bytes+1))
	tooLarge, _ := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge != nil:
		return nil, problem(CodeTooLarge, "")
	case err != nil:
		return nil, problem(CodeUnreadable, "")
	}
	return DecodeText(text, format, limits, observed)
}

// DecodeText is Decode for a request that was read already. It keeps nothing of it.
func DecodeText(text []byte, format Format, limits Limits, observed Observed) ([]Record, *Problem) {
	if int64(len(text)) > limits.Bytes {
		return nil, problem(CodeTooLarge, "")
	}
	items, many, p := split(text, format, limits.Records)
	if p != nil {
		return nil, p
	}
	records := make([]Record, 0, len(items))
	for i, item := range items {
		at := ""
		if many {
			at = "/" + strconv.Itoa(i)
		}
		record, p := decode(item, observed)
		if p != nil {
			p.Pointer = at + p.Pointer
			return nil, p
		}
		record.Index, record.at = i, at+"/"+string(record.Kind)
		records = append(records, *record)
	}
	return records, nil
}

// split returns the values of a request that should be records, and whether they
// are counted.
func split(text []byte, format Format, most int) (items []jsontext.Value, many bool, p *Problem) {
	if format == NDJSON {
		return lines(text, most)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text)) // of which values are parts
	if many = d.PeekKind() == jsontext.KindBeginArray; many {
		_, _ = d.ReadToken() // which was seen
	}
	for {
		if many && d.PeekKind() == jsontext.KindEndArray {
			_, _ = d.ReadToken() // which was seen
			break
		}
		if len(items) == most {
			return nil, many, problem(CodeTooManyRecords, "")
		}
		item, err := d.ReadValue()
		if err != nil {
			return nil, many, syntax(err)
		}
		items = append(items, item)
		if !many {
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, many, problem(CodeMalformed, "")
	}
	if len(items) == 0 {
		return nil, many, problem(CodeNoRecords, "")
	}
	return items, many, nil
}

func lines(text []byte, most int) (items []jsontext.Value, many bool, p *Problem) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	if len(text) == 0 {
		return nil, true, problem(CodeNoRecords, "")
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(items) == most {
			return nil, true, problem(CodeTooManyRecords, "")
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(line))
		item, err := d.ReadValue()
		if err == nil {
			if _, rest := d.ReadToken(); !errors.Is(rest, io.EOF) {
				err = errRest
			}
		}
		if err != nil {
			p := syntax(err)
			p.Pointer = "/" + strconv.Itoa(len(items)) + p.Pointer
			return nil, true, p
		}
		items = append(items, item)
	}
	return items, true, nil
}

var errRest = errors.New("something follows a value")
