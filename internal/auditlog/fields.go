// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// fields are what a record says under the names of the draft.
type fields struct {
	rec    *otlp.Record
	values map[string]*otlp.Value
}

// read looks at a record by the rules of the draft's data model.
func (m *Mapper) read(rec *otlp.Record, now time.Time) (*fields, *Problem) {
	if p := checkFrame(rec, now.Add(m.ClockTolerance)); p != nil {
		return nil, p
	}
	f := &fields{rec: rec, values: make(map[string]*otlp.Value, len(attributes))}
	members := rec.Attributes.Members()
	names := make(map[string]struct{}, len(members))
	at := rec.Pointer + "/attributes"
	for i := range members {
		if _, twice := names[members[i].Name]; twice {
			return nil, invalid("attribute_twice", at, "an attribute stands twice in the record")
		}
		names[members[i].Name] = struct{}{}
		a, known := attributeNamed(members[i].Name)
		if !known {
			continue
		}
		if p := checkAttribute(a, members[i].Name, &members[i].Value, at); p != nil {
			return nil, p
		}
		f.values[members[i].Name] = &members[i].Value
	}
	for _, name := range required {
		if f.values[name] == nil {
			return nil, invalid("attribute_missing", at, "the required attribute "+name+" is missing")
		}
	}
	return f, f.checkValues(at)
}

// checkFrame looks at the fields of a LogRecord. now is the latest that the
// observed timestamp may be.
func checkFrame(rec *otlp.Record, now time.Time) *Problem {
	at := rec.Pointer
	const latest = 1 << 63 // nanoseconds that a time can hold
	switch {
	case rec.Resource == nil || rec.Resource.Len() == 0:
		return invalid("resource_missing", at, "the record has no resource, or one without attributes")
	case rec.Scoped:
		return invalid("scope_set", at, "the instrumentation scope must be empty")
	case rec.Severe:
		return invalid("severity_set", at, "severityNumber and severityText must not be set")
	case rec.Timestamp == 0:
		return invalid("timestamp_missing", at+"/timeUnixNano", "timeUnixNano is missing")
	case rec.Observed == 0:
		return invalid("observed_timestamp_missing", at+"/observedTimeUnixNano", "observedTimeUnixNano is missing")
	case rec.Observed < rec.Timestamp:
		return invalid("observed_before_timestamp", at+"/observedTimeUnixNano", "observedTimeUnixNano is before timeUnixNano")
	case rec.Observed >= latest || time.Unix(0, int64(rec.Observed)).After(now):
		return invalid("observed_in_future", at+"/observedTimeUnixNano", "observedTimeUnixNano is in the future; compare the clocks")
	case rec.EventName == "":
		return invalid("event_name_missing", at+"/eventName", "eventName is missing")
	case holdsSecret(rec.EventName):
		return invalid("credential", at+"/eventName", "eventName looks like a credential")
	case rec.Dropped > 0:
		return invalid("attributes_dropped", at+"/droppedAttributesCount", "the sender left attributes out; audit records are whole")
	default:
		return nil
	}
}

func checkAttribute(a attribute, name string, v *otlp.Value, at string) *Problem {
	if a.several && v.Kind() == content.KindArray {
		if n := v.Len(); n == 0 || n > maxProofs {
			return invalid("attribute_invalid", at, "the attribute "+name+" has no element, or more than "+strconv.Itoa(maxProofs))
		}
		a.several = false
		for i := range v.Members() {
			if p := checkAttribute(a, name, &v.Members()[i].Value, at); p != nil {
				return p
			}
		}
		return nil
	}
	switch {
	case v.Kind() != a.kind:
		return invalid("attribute_type", at, "the attribute "+name+" has another type than the draft gives it")
	case a.kind == content.KindString && v.Str() == "":
		return invalid("attribute_empty", at, "the attribute "+name+" is empty")
	case len(a.oneOf) > 0 && !slices.Contains(a.oneOf, v.Str()):
		return invalid("attribute_invalid", at, "the attribute "+name+" is none of: "+strings.Join(a.oneOf, ", "))
	case a.kind == content.KindString && !isProofName(name) && holdsSecret(v.Str()):
		return invalid("credential", at, "the attribute "+name+" looks like a credential")
	default:
		return nil
	}
}

// isProofName reports whether an attribute holds a proof, which may look like anything.
func isProofName(name string) bool {
	return name == attrNewValue || name == attrValue || strings.HasPrefix(name, attrValue+".")
}

// checkValues looks at values that have a form of their own.
func (f *fields) checkValues(at string) *Problem {
	for _, name := range []string{attrRecordID, attrPreviousRecordID, attrStreamID} {
		if s, given := f.text(name); given && !isEchoed(s) {
			return invalid("attribute_invalid", at, "the attribute "+name+" has more than "+strconv.Itoa(maxGiven)+" bytes, or control characters")
		}
	}
	if v := f.values[attrNumber]; v != nil && (v.Int() < 1 || v.Int() > record.MaxInteger) {
		return invalid("attribute_invalid", at, "the attribute "+attrNumber+" does not count from 1")
	}
	if s, given := f.text(attrPreviousHash); given {
		if _, ok := parseHash(s); !ok {
			return invalid("attribute_invalid", at, "the attribute "+attrPreviousHash+" is no SHA-256 in 64 lowercase hex digits")
		}
	}
	return nil
}

// isEchoed reports whether an id can stand in an answer.
func isEchoed(s string) bool {
	return len(s) <= maxGiven && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}

// parseHash reads a hash of the draft, which may say that it is one.
func parseHash(s string) (string, bool) {
	digits := strings.TrimPrefix(s, "sha256:")
	if len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	return digits, true
}

// text returns the text of an attribute of the draft.
func (f *fields) text(name string) (string, bool) {
	v := f.values[name]
	if v == nil || v.Kind() != content.KindString {
		return "", false
	}
	return v.Str(), true
}

// texts returns the texts of an attribute that may be a list.
func (f *fields) texts(name string) (all []string) {
	v := f.values[name]
	switch {
	case v == nil:
	case v.Kind() == content.KindString:
		all = append(all, v.Str())
	default:
		for i := range v.Members() {
			all = append(all, v.Members()[i].Value.Str())
		}
	}
	return all
}

// ofResource returns the text of an attribute of the resource, "" if it is none.
func (f *fields) ofResource(name string) string {
	if v := f.rec.Resource.Get(name); v != nil && v.Kind() == content.KindString {
		return v.Str()
	}
	return ""
}

// isProof reports whether a text is base64 of a proof by its length: a signature of
// the algorithms known here has at most 512 bytes.
func isProof(s string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return b, err == nil
}
