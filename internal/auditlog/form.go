// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/jsontext"
	"math"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// form is a spelling of a record as JSON, in RFC 8785, that a producer signs. The
// draft says how values are spelled and what is left out, but its text does not say
// how the fields of a record are named, nor what an array of attributes becomes. So
// there are the two readings of it; each says all of the record.
type form string

const (
	// formDataModel names the fields as the draft's data model and its examples do,
	// with Attributes as an object. The integrity hash is over this one.
	formDataModel form = "data_model"
	// formOTLPJSON names them as OTLP/JSON does, with attributes in their order.
	formOTLPJSON form = "otlp_json"
)

// integrityPrefix begins the names of the attributes that no proof covers.
const integrityPrefix = "audit.integrity."

// maxPlain is the largest magnitude that the draft spells as a JSON number.
const maxPlain = 1 << 53

// canonical spells a record. The resource is no part of it, as in the draft's
// examples, nor is severity, which no record may have.
func canonical(rec *otlp.Record, f form) (jsontext.Value, error) {
	s := speller{text: make([]byte, 0, 1024)}
	if f == formDataModel {
		s.dataModel(rec)
	} else {
		s.otlpJSON(rec)
	}
	text := jsontext.Value(s.text)
	return text, text.Canonicalize()
}

// integrityHash is the draft's hash of a canonical record, in hex.
func integrityHash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// speller spells JSON whose members are sorted later. All text in it is UTF-8.
type speller struct{ text []byte }

func (s *speller) raw(text string) { s.text = append(s.text, text...) }

func (s *speller) quote(text string) {
	s.text, _ = jsontext.AppendQuote(s.text, text) // the text of a request is UTF-8
}

func (s *speller) name(name string) {
	if last := s.text[len(s.text)-1]; last != '{' && last != '[' {
		s.raw(",")
	}
	s.quote(name)
	s.raw(":")
}

func (s *speller) nanoseconds(name string, ns uint64) {
	s.name(name)
	s.quote(strconv.FormatUint(ns, 10))
}

func (s *speller) given(name, text string) {
	if text != "" {
		s.name(name)
		s.quote(text)
	}
}

func (s *speller) dataModel(rec *otlp.Record) {
	s.raw("{")
	s.nanoseconds("Timestamp", rec.Timestamp)
	s.nanoseconds("ObservedTimestamp", rec.Observed)
	s.given("EventName", rec.EventName)
	s.given("TraceId", record.HexTraceID(rec.TraceID))
	s.given("SpanId", record.HexSpanID(rec.SpanID))
	if rec.Body != nil {
		s.name("Body")
		s.value(rec.Body)
	}
	s.name("Attributes")
	s.raw("{")
	for _, m := range rec.Attributes.Members() {
		if !strings.HasPrefix(m.Name, integrityPrefix) {
			s.name(m.Name)
			s.value(&m.Value)
		}
	}
	s.raw("}}")
}

func (s *speller) otlpJSON(rec *otlp.Record) {
	s.raw("{")
	s.nanoseconds("timeUnixNano", rec.Timestamp)
	s.nanoseconds("observedTimeUnixNano", rec.Observed)
	s.given("eventName", rec.EventName)
	s.given("traceId", record.HexTraceID(rec.TraceID))
	s.given("spanId", record.HexSpanID(rec.SpanID))
	if rec.Flags != 0 {
		s.name("flags")
		s.raw(strconv.FormatUint(uint64(rec.Flags), 10))
	}
	if rec.Body != nil {
		s.name("body")
		s.value(rec.Body)
	}
	s.name("attributes")
	s.members(rec.Attributes.Members(), true)
	s.raw("}")
}

// members spells an array of KeyValues.
func (s *speller) members(members []otlp.Member, ofRecord bool) {
	s.raw("[")
	first := true
	for i := range members {
		m := &members[i]
		if ofRecord && strings.HasPrefix(m.Name, integrityPrefix) {
			continue
		}
		if !first {
			s.raw(",")
		}
		first = false
		s.raw(`{"key":`)
		s.quote(m.Name)
		s.raw(`,"value":`)
		s.value(&m.Value)
		s.raw("}")
	}
	s.raw("]")
}

// value spells an AnyValue as an object with its kind as the name. The depth of
// values is bounded by the reader of the request.
func (s *speller) value(v *otlp.Value) {
	s.raw("{")
	switch v.Kind() {
	case content.KindString:
		s.string("stringValue", v.Str())
	case content.KindBool:
		s.raw(`"boolValue":` + strconv.FormatBool(v.Bool()))
	case content.KindInt:
		digits := strconv.FormatInt(v.Int(), 10)
		if n := v.Int(); n > maxPlain || n < -maxPlain {
			digits = `"` + digits + `"`
		}
		s.raw(`"intValue":` + digits)
	case content.KindDouble:
		s.raw(`"doubleValue":`)
		s.double(v.Double())
	case content.KindBytes:
		s.string("bytesValue", base64.StdEncoding.EncodeToString(v.Bytes()))
	case content.KindArray:
		s.raw(`"arrayValue":{"values":[`)
		elements := v.Members()
		for i := range elements {
			if i > 0 {
				s.raw(",")
			}
			s.value(&elements[i].Value)
		}
		s.raw("]}")
	case content.KindMap:
		s.raw(`"kvlistValue":{"values":`)
		s.members(v.Members(), false)
		s.raw("}")
	}
	s.raw("}")
}

// string spells a member that may be empty.
func (s *speller) string(name, text string) {
	s.name(name)
	s.quote(text)
}

// double spells what JSON has no number for as protobuf's JSON mapping does.
func (s *speller) double(d float64) {
	switch {
	case math.IsNaN(d):
		s.raw(`"NaN"`)
	case math.IsInf(d, 1):
		s.raw(`"Infinity"`)
	case math.IsInf(d, -1):
		s.raw(`"-Infinity"`)
	default:
		s.text = strconv.AppendFloat(s.text, d, 'g', -1, 64)
	}
}
