// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/readtrail/readtrail/internal/content"
)

// Protobuf reads a request in protobuf.
func Protobuf(body []byte, limits Limits) (*Request, error) {
	q := &Request{}
	p := protobuf{reader{limits: limits, ignored: &q.Ignored}}
	groups := 0
	err := p.message(body, func(f field) error {
		if f.number != 1 {
			return p.unknown(f)
		}
		p.enter("resourceLogs", strconv.Itoa(groups))
		groups++
		var g group
		if err := p.resourceLogs(f, &g); err != nil {
			return err
		}
		p.leave(2)
		g.flatten(q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

type protobuf struct{ reader }

// field is a field of a message as the wire has it.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte
	bits   uint64
}

// message gives every field of a message to a function.
func (p *protobuf) message(b []byte, each func(field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return p.failed(errEnds)
		}
		f := field{number: number, kind: kind}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			f.bits, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.bits, n = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(b)
			f.bits = uint64(bits)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default: // groups, which OTLP never had
			return p.failed(errEnds)
		}
		if n < 0 {
			return p.failed(errEnds)
		}
		b = b[n:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

func (p *protobuf) unknown(field) error {
	*p.ignored++
	return nil
}

// inside reads a message whose unknown fields are counted apart.
func (p *protobuf) inside(f field, ignored *int, each func(field) error) error {
	if f.kind != protowire.BytesType {
		return p.failed(errType)
	}
	outer := p.ignored
	p.ignored = ignored
	defer func() { p.ignored = outer }()
	return p.message(f.bytes, each)
}

func (p *protobuf) resourceLogs(f field, g *group) error {
	return p.inside(f, &g.ignored, func(f field) error {
		switch f.number {
		case 1:
			if g.resource != nil {
				return p.failed(errTwice)
			}
			resource := emptyMap()
			g.resource = &resource
			p.enter("resource")
			defer p.leave(1)
			return p.inside(f, &g.ignored, func(f field) error { return p.attributes(f, 1, 2, g.resource, nil) })
		case 2:
			p.enter("scopeLogs", strconv.Itoa(len(g.scopes)))
			defer p.leave(2)
			var s scopeLogs
			if err := p.scopeLogs(f, &s); err != nil {
				return err
			}
			g.scopes = append(g.scopes, s)
			return nil
		case 3: // schema_url
			return p.isText(f)
		default:
			return p.unknown(f)
		}
	})
}

func (p *protobuf) scopeLogs(f field, s *scopeLogs) error {
	return p.inside(f, &s.ignored, func(f field) error {
		switch f.number {
		case 1:
			if f.kind != protowire.BytesType {
				return p.failed(errType)
			}
			s.scoped = s.scoped || len(f.bytes) > 0
			return nil
		case 2:
			p.enter("logRecords", strconv.Itoa(len(s.records)))
			defer p.leave(2)
			if err := p.countRecord(); err != nil {
				return err
			}
			rec := Record{Pointer: p.pointer(), Attributes: emptyMap()}
			if err := p.record(f, &rec); err != nil {
				return err
			}
			s.records = append(s.records, rec)
			return nil
		case 3: // schema_url
			return p.isText(f)
		default:
			return p.unknown(f)
		}
	})
}

func (p *protobuf) record(f field, rec *Record) error {
	var seen [16]bool
	return p.inside(f, &rec.Ignored, func(f field) error {
		if int(f.number) < len(seen) && f.number != 6 {
			if seen[f.number] {
				return p.failed(errTwice)
			}
			seen[f.number] = true
		}
		switch f.number {
		case 1:
			return p.number(f, protowire.Fixed64Type, &rec.Timestamp)
		case 11:
			return p.number(f, protowire.Fixed64Type, &rec.Observed)
		case 2:
			var severity uint64
			err := p.number(f, protowire.VarintType, &severity)
			rec.Severe = rec.Severe || severity != 0
			return err
		case 3:
			rec.Severe = rec.Severe || len(f.bytes) > 0
			return p.isText(f)
		case 5:
			var body Value
			p.enter("body")
			defer p.leave(1)
			if err := p.value(f, 1, &body); err != nil {
				return err
			}
			if body.kind != content.KindEmpty {
				rec.Body = &body
			}
			return nil
		case 6:
			return p.attributes(f, 6, 7, &rec.Attributes, &rec.Dropped)
		case 7:
			return p.attributes(f, 6, 7, &rec.Attributes, &rec.Dropped)
		case 8:
			var flags uint64
			err := p.number(f, protowire.Fixed32Type, &flags)
			rec.Flags = uint32(flags)
			return err
		case 9:
			return p.id(f, rec.TraceID[:])
		case 10:
			return p.id(f, rec.SpanID[:])
		case 12:
			rec.EventName = string(f.bytes)
			return p.isText(f)
		default:
			return p.unknown(f)
		}
	})
}

// attributes reads a KeyValue, or how many of them were dropped, which only a
// record counts.
