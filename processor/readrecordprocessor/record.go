// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/record"
)

// record adds the record of a read to the batch and returns its read id, ""
// if the item is no read or no record can be made of it. In the latter case
// the batch takes a record that says so: an item never fails the others.
func (p *pass) record(seen *genai.Observation, routing carrier.Resource) string {
	switch {
	case seen.Unrecordable != nil:
		p.unrecordable(*seen.Header, *seen.Unrecordable, routing)
		return ""
	case seen.Context != nil:
		p.context(seen, routing)
		return ""
	case seen.Read == nil:
		return ""
	}
	read := seen.Read
	draft, err := record.NewReadDraft(read, seen.Given)
	if err != nil {
		p.unrecordable(read.Header, record.Unrecordable{Reason: record.ReasonOf(err), ItemID: read.ReadID, Item: read.ObservedBy.Signal}, routing)
		return ""
	}
	p.batch.Items = append(p.batch.Items, carrier.Item{Draft: draft, Resource: routing, Copies: seen.Copies, Store: seen.Store})
	p.batch.ReadIDs[read.ReadID] = struct{}{}
	p.counts.record(read.EventType, seen.Dialect)
	if read.Uncheckable() {
		p.counts.uncheckable(read.EventType)
	}
	return read.ReadID
}

// context adds the record of what went into a model call. It has no mark on the
// span: the span's ids lead to it.
func (p *pass) context(seen *genai.Observation, routing carrier.Resource) {
	c := seen.Context
	draft, err := seen.ContextDraft()
	if err != nil {
		p.unrecordable(c.Header, record.Unrecordable{Reason: record.ReasonOf(err), ItemID: c.ContextID, Item: c.ObservedBy.Signal}, routing)
		return
	}
	p.batch.Items = append(p.batch.Items, carrier.Item{Draft: draft, Resource: routing})
	p.counts.context(seen.Dialect)
}

func (p *pass) unrecordable(header record.Header, u record.Unrecordable, routing carrier.Resource) {
	p.counts.unrecordable(u.Reason)
	header.OccurredAt = record.Time{} // the journal's clock: the item's own may be what is wrong
	draft, err := record.NewUnrecordableDraft(header, u)
	if err != nil {
		return // a header of ids cannot fail; the count is what remains if it does
	}
	p.batch.Items = append(p.batch.Items, carrier.Item{Draft: draft, Resource: routing})
}
