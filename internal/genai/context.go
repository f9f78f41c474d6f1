// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/record"
)

// tellsContext reports whether an item tells what went into a model call. A
// span of a model call does, even if it was told to leave content out; of the log
// records that are about one, only those that hold its input or an application's
// own account of it.
func (l *lifting) tellsContext() bool {
	if l.row.class != ClassInference {
		return false
	}
	if l.signal == record.SignalSpan {
		return true
	}
	input, _ := l.row.find(l.item, inputMessages)
	return input.ok || hasAny(l.item, ownContext...)
}

// observeContext lifts what went into a model call, or says why no record can be
// made of it.
func (l *lifting) observeContext(o *Observation, derive func(*record.Context) string) {
	c := &l.paper.context
	c.Header = l.header
	reason := l.context(c)
	switch {
	case reason != "":
		*c = record.Context{Header: l.header}
	case l.header.OccurredAt.IsZero():
		reason = record.ReasonNoTime
	}
	if c.ContextID = l.own("context_id", givenID, ownContextID); c.ContextID == "" {
		c.ContextID = derive(c)
	} else {
		o.Given = true
	}
	if c.Correlation.ExecutionID == "" {
		c.Correlation.ExecutionID = record.ItemExecution(c.ContextID)
		l.header.Correlation.ExecutionID = c.Correlation.ExecutionID
	}
	if reason != "" {
		o.Unrecordable = &record.Unrecordable{Reason: reason, ItemID: c.ContextID, Item: l.signal}
		return
	}
	c.Basis = l.basis()
	o.Context = c
}

// context lifts what went into a model call, except for its id. It says why if no
// record can be made of it.
func (l *lifting) context(c *record.Context) (reason string) {
	c.EventType = record.EventContextUsed
	c.Model = record.Model{
		Provider: l.row.accepted(l.item, modelProvider, name),
		Request:  l.row.accepted(l.item, requestModel, name),
		Response: l.row.accepted(l.item, responseModel, name),
	}
	if c.Model.Request == "" {
		c.Model.Request = l.row.accepted(l.item, model, name)
	}
	output, _ := l.row.find(l.item, outputMessages)
	c.ToolCallsRequested = requestedCalls(output)
	c.Capture = &record.ContextCapture{Output: l.digestAlone(output).State}
	l.job(c)
	given, reason := l.contextEntries()
	if reason != "" {
		return reason
	}
	c.Entries = given.entries
	if c.Claims, reason = l.contextClaims(given.shown); reason != "" {
		return reason
	}
	l.digestContext(c, &given)
	if len(c.Objects) > maxRefs || len(c.ToolCallsRequested) > maxRequested {
		return record.ReasonTooLarge
	}
	return ""
}

// job lifts what an application says of the job that the model was called for.
func (l *lifting) job(c *record.Context) {
	if kind, version := textOf(l.item, identifier, ownContextPlanKind), textOf(l.item, identifier, ownContextPlanVersion); kind != "" && version != "" {
		c.Plan = &record.Plan{Kind: kind, Version: version}
		l.from("plan", record.BasisAttribute)
	}
	if person, role := l.ref(given(l.item, ownContextPerson)), textOf(l.item, name, ownContextRole); person != "" && role != "" {
		c.Rights = &record.Rights{PersonRef: person, AgentRole: role}
		l.from("rights", record.BasisAttribute)
	}
	if c.Purpose = textOf(l.item, name, ownPurpose); c.Purpose == "" {
		c.Purpose = ofResource(l.item, name, ownPurpose)
	}
	if c.Purpose != "" {
		l.from("purpose", record.BasisAttribute)
	}
	for _, ref := range refsUnder(l.item, ownContextObjects) {
		c.Objects = append(c.Objects, l.ref(ref))
	}
	if c.Objects != nil {
		l.from("objects", record.BasisAttribute)
	}
	selection := record.Selection{Ranking: textOf(l.item, identifier, ownContextRanking), LeftOut: leftOut(l.value(ownContextLeftOut))}
	if selection != (record.Selection{}) {
		c.Selection = &selection
		l.from("selection", record.BasisAttribute)
	}
}

// ref returns how a record names a person or an object of a source: as record
// refs, so that who wants none of them in clear says it once.
func (l *lifting) ref(id string) string {
	if id == "" || !l.keying.refs {
		return id
	}
	return l.keying.key.Sum(id)
}

// leftOut reads how many entries were left out of a context. Whatever is no number
// says nothing, so that a list of what was left out never comes near a record
// (requirement G6).
func leftOut(v value) *int64 {
	if v.text() == "0" {
		return new(int64)
	}
	if n := count(v); n > 0 {
		return &n
	}
	return nil
}

// digestContext writes the digest of the context and what was captured of it. The
// entries with their values say more than the messages that were made of them, so
// they come first; of entries without values an application may give the digest.
func (l *lifting) digestContext(c *record.Context, given *contextEntries) {
	input, state, basis := l.modelInput()
	c.Capture.Input = state
	key := l.cache.Key()
	if d, err := contexts.EntriesDigest(key, given.valued); err == nil && given.complete() && d.Value != "" {
		l.setContext(c, record.FormEntries, d, record.BasisAttribute)
		c.Capture.Input = record.CapturedContent
		return
	}
	if d := contextDigest(l.text(ownContextDigest)); d != "" && len(given.entries) > 0 {
		l.setContext(c, record.FormEntries, content.Digest{Value: d, Form: content.FormJCS}, record.BasisAttribute)
		return
	}
	if !input.Messages.Present() {
		return
	}
	if d, err := input.Digest(key); err == nil && d.Value != "" {
		l.setContext(c, record.FormMessages, d, basis)
	}
}

func (l *lifting) setContext(c *record.Context, form record.ContextForm, d content.Digest, basis record.Basis) {
	c.ContextForm = form
	c.ContextDigest, c.ContextCanonicalization, c.ContextSize = d.Value, string(d.Form), d.Size
	l.from("context_digest", basis)
}

// modelInput returns the parts of the model input that were captured, and what was
// captured of it as a whole.
func (l *lifting) modelInput() (in contexts.Input, state record.Captured, basis record.Basis) {
	var digests []content.Digest
	for _, p := range []struct {
		field field
		part  *contexts.Part
	}{{inputMessages, &in.Messages}, {systemInstructions, &in.Instructions}, {toolDefinitions, &in.Tools}} {
		v, from := l.row.find(l.item, p.field)
		d := l.digestAlone(v)
		if p.field == inputMessages && d.State == record.CapturedContent && l.cutShort(v) {
			d.State = record.CapturedTruncated
		}
		digests = append(digests, d)
		if d.Value == "" {
			continue
		}
		*p.part = contexts.Part{Bytes: v.preimage(d.Form), Form: d.Form}
		if from != "" {
			basis = from
		}
	}
	state = inputState(digests)
	return in, state, basis
}

// inputState is state for the parts of a model input, of which the messages stand
// first: without them the rest is no input.
func inputState(digests []content.Digest) record.Captured {
	if digests[0].Value == "" {
		return digests[0].State
	}
	return state(digests...)
}

// cutShort reports whether less of the messages is here than there was: a library
// says how many there were, or the SDK dropped attributes.
func (l *lifting) cutShort(messages value) bool {
	if l.dropped > 0 {
		return true
	}
	n, _ := l.row.find(l.item, inputLength)
	there, isList := messages.elements(maxMessages)
	return isList && n.ok && count(n) > int64(len(there))
}
