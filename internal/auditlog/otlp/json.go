// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strconv"

	"github.com/readtrail/readtrail/internal/content"
)

// JSON reads a request in OTLP/JSON: names in lowerCamelCase, ids in hex, 64-bit
// integers as numbers or as strings, null as not there.
func JSON(body []byte, limits Limits) (*Request, error) {
	q := &Request{}
	p := jsonReader{reader: reader{limits: limits, ignored: &q.Ignored}, in: jsontext.NewDecoder(bytes.NewReader(body))}
	if p.in.PeekKind() != jsontext.KindBeginObject {
		return nil, p.wrong(errJSON)
	}
	err := p.object(func(name string) error {
		if name != "resourceLogs" {
			return p.unknown()
		}
		return p.list(name, func() error {
			var g group
			err := p.resourceLogs(&g)
			g.flatten(q)
			return err
		})
	})
	if err == nil {
		if _, end := p.in.ReadToken(); !errors.Is(end, io.EOF) {
			err = p.wrong(errJSON)
		}
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

type jsonReader struct {
	reader
	in *jsontext.Decoder
}

// wrong returns a shared error at the place that is read.
func (p *jsonReader) wrong(err *Error) error { return p.failed(err) }

// object gives the name of every member of an object to a function, which reads the
// value. Members that are null are not there.
func (p *jsonReader) object(each func(name string) error) error {
	if p.in.PeekKind() != jsontext.KindBeginObject {
		return p.mistyped()
	}
	if _, err := p.in.ReadToken(); err != nil {
		return p.wrong(errJSON)
	}
	for p.in.PeekKind() != jsontext.KindEndObject {
		token, err := p.in.ReadToken()
		if err != nil {
			return p.wrong(errJSON)
		}
		name := token.String()
		if p.in.PeekKind() == jsontext.KindNull {
			if err := p.in.SkipValue(); err != nil {
				return p.wrong(errJSON)
			}
			continue
		}
		if err := each(name); err != nil {
			return err
		}
	}
	if _, err := p.in.ReadToken(); err != nil {
		return p.wrong(errJSON)
	}
	return nil
}

// list reads the elements of an array under a name.
func (p *jsonReader) list(name string, each func() error) error {
	p.enter(name)
	defer p.leave(1)
	if p.in.PeekKind() != jsontext.KindBeginArray {
		return p.mistyped()
	}
	if _, err := p.in.ReadToken(); err != nil {
		return p.wrong(errJSON)
	}
	for i := 0; p.in.PeekKind() != jsontext.KindEndArray; i++ {
		p.enter(strconv.Itoa(i))
		if err := each(); err != nil {
			return err
		}
		p.leave(1)
	}
	if _, err := p.in.ReadToken(); err != nil {
		return p.wrong(errJSON)
	}
	return nil
}

// mistyped tells a value of another type from bytes that are no JSON.
func (p *jsonReader) mistyped() error {
	if p.in.PeekKind() == jsontext.KindInvalid {
		return p.wrong(errJSON)
	}
	return p.wrong(errType)
}

func (p *jsonReader) unknown() error {
	*p.ignored++
	if err := p.in.SkipValue(); err != nil {
		return p.wrong(errJSON)
	}
	return nil
}

// counting has unknown fields counted apart.
func (p *jsonReader) counting(ignored *int, read func() error) error {
	outer := p.ignored
	p.ignored = ignored
	defer func() { p.ignored = outer }()
	return read()
}

func (p *jsonReader) resourceLogs(g *group) error {
	return p.counting(&g.ignored, func() error {
		return p.object(func(name string) error {
			switch name {
			case "resource":
				resource := emptyMap()
				g.resource = &resource
				p.enter(name)
				defer p.leave(1)
				return p.object(func(name string) error {
					switch name {
					case "attributes":
						return p.attributes(g.resource)
					case "droppedAttributesCount":
						n, err := p.count()
						if n > 0 {
							*p.ignored++
						}
						return err
					default:
						return p.unknown()
					}
				})
			case "scopeLogs":
				return p.list(name, func() error {
					var s scopeLogs
					err := p.counting(&s.ignored, func() error { return p.scopeLogs(&s) })
					g.scopes = append(g.scopes, s)
					return err
				})
			case "schemaUrl":
				_, err := p.text()
				return err
			default:
				return p.unknown()
			}
		})
	})
}

func (p *jsonReader) scopeLogs(s *scopeLogs) error {
	return p.object(func(name string) error {
		switch name {
		case "scope":
			p.enter(name)
			defer p.leave(1)
			return p.object(func(string) error {
				filled, err := p.filled()
				s.scoped = s.scoped || filled
				return err
			})
		case "logRecords":
			return p.list(name, func() error {
				if err := p.countRecord(); err != nil {
					return err
				}
				rec := Record{Pointer: p.pointer(), Attributes: emptyMap()}
				err := p.counting(&rec.Ignored, func() error { return p.record(&rec) })
				s.records = append(s.records, rec)
				return err
			})
		case "schemaUrl":
			_, err := p.text()
			return err
		default:
			return p.unknown()
		}
	})
}

// filled reads a value and says whether it says more than its absence would.
func (p *jsonReader) filled() (bool, error) {
	raw, err := p.in.ReadValue()
	if err != nil {
		return false, p.wrong(errJSON)
	}
	switch string(raw) {
	case `""`, `[]`, `{}`, `0`, `false`:
		return false, nil
	}
	return true, nil
}

func (p *jsonReader) record(rec *Record) error {
	return p.object(func(name string) (err error) {
		switch name {
		case "timeUnixNano":
			rec.Timestamp, err = p.unsigned(name)
		case "observedTimeUnixNano":
			rec.Observed, err = p.unsigned(name)
		case "severityNumber", "severityText":
			var filled bool
			filled, err = p.filled()
			rec.Severe = rec.Severe || filled
		case "body":
			p.enter(name)
			defer p.leave(1)
			var body Value
			if err = p.value(1, &body); err == nil && body.kind != content.KindEmpty {
				rec.Body = &body
			}
		case "attributes":
			err = p.attributes(&rec.Attributes)
		case "droppedAttributesCount":
			rec.Dropped, err = p.count()
		case "flags":
			rec.Flags, err = p.count()
		case "traceId":
			err = p.id(name, rec.TraceID[:])
		case "spanId":
			err = p.id(name, rec.SpanID[:])
		case "eventName":
			p.enter(name)
			defer p.leave(1)
			rec.EventName, err = p.text()
		default:
			err = p.unknown()
		}
		return err
	})
}

func (p *jsonReader) attributes(into *Value) error {
	return p.list("attributes", func() error { return p.keyValue(1, into) })
}

func (p *jsonReader) keyValue(depth int, into *Value) error {
	var m Member
	valued := false
	err := p.object(func(name string) (err error) {
		switch name {
		case "key":
			m.Name, err = p.text()
		case "value":
			valued = true
			err = p.value(depth, &m.Value)
		default:
			err = p.unknown()
		}
		return err
	})
	if err == nil && !valued {
		err = p.countValue(depth)
	}
	into.children = append(into.children, m)
	return err
}

// value reads an AnyValue.
func (p *jsonReader) value(depth int, v *Value) error {
	if err := p.countValue(depth); err != nil {
		return err
	}
	return p.object(func(name string) (err error) {
		kind, known := kindNames[name]
		if !known {
			return p.unknown()
		}
		if v.kind != content.KindEmpty {
			return p.wrong(errKinds)
		}
		v.kind = kind
		switch kind {
		case content.KindString:
			v.text, err = p.text()
		case content.KindBool:
			v.bits, err = p.bool()
		case content.KindInt:
			v.bits, err = p.signed()
		case content.KindDouble:
			v.bits, err = p.double()
		case content.KindBytes:
			v.text, err = p.base64()
		case content.KindArray:
			err = p.values(func() error {
				v.children = append(v.children, Member{})
				return p.value(depth+1, &v.children[len(v.children)-1].Value)
			})
		default:
			err = p.values(func() error { return p.keyValue(depth+1, v) })
		}
		return err
	})
}

var kindNames = map[string]content.Kind{
	"stringValue": content.KindString, "boolValue": content.KindBool, "intValue": content.KindInt, "doubleValue": content.KindDouble,
	"bytesValue": content.KindBytes, "arrayValue": content.KindArray, "kvlistValue": content.KindMap,
}

// values reads an ArrayValue or KeyValueList.
func (p *jsonReader) values(each func() error) error {
	return p.object(func(name string) error {
		if name != "values" {
			return p.unknown()
		}
		return p.list(name, each)
	})
}
