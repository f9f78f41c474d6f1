// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// maxContextEntries bounds the entries of one context. More would not fit into an
// entry of the journal.
const maxContextEntries = maxDocuments

// contextEntries are the entries of a context as an application gives them.
type contextEntries struct {
	entries []record.ContextEntry
	// valued are those whose values were given too.
	valued []contexts.Entry
	ids    map[string]struct{}
}

// complete reports whether every entry has its value.
func (e *contextEntries) complete() bool { return len(e.valued) == len(e.entries) }

// shown reports whether an entry stands in the context.
func (e *contextEntries) shown(id string) bool {
	_, found := e.ids[id]
	return found
}

// contextEntries reads the entries of the context. A list of which one element
// can't be recorded is not recorded at all: the rest would pass for what the model
// was given.
func (l *lifting) contextEntries() (out contextEntries, reason string) {
	out.entries, out.ids = []record.ContextEntry{}, map[string]struct{}{}
	list := l.value(ownContextEntries)
	if !list.ok {
		return out, ""
	}
	elements, isList := list.elements(maxContextEntries)
	switch {
	case !isList:
		return out, record.ReasonInvalid
	case len(elements) > maxContextEntries:
		return out, record.ReasonTooLarge
	}
	for _, e := range elements {
		members, _ := e.object()
		entry, ok := l.contextEntry(members)
		if _, repeated := out.ids[entry.EntryID]; repeated || !ok {
			return out, record.ReasonInvalid
		}
		out.ids[entry.EntryID] = struct{}{}
		if raw, ok := jsonOf(members["value"]); ok {
			recorded, err := json.Marshal(&entry)
			if err != nil {
				return out, record.ReasonInvalid
			}
			out.valued = append(out.valued, contexts.Entry{Recorded: recorded, Value: raw})
			if l.cache.Key() != nil {
				d := members["value"].digest(l.cache)
				entry.ValueDigest, entry.ValueCanonicalization, entry.ValueSize = d.Value, form(d), d.Size
			}
		}
		out.entries = append(out.entries, entry)
	}
	l.from("entries", record.BasisAttribute)
	return out, ""
}

// contextEntry reads an entry, which is not ok without all that one must have
// (contract 12), or if something that it is derived from has no name.
func (l *lifting) contextEntry(members map[string]value) (entry record.ContextEntry, ok bool) {
	origin := record.Origin{Source: name(members["origin"].text())}
	if parts, isObject := members["origin"].object(); isObject {
		origin.Source = name(parts["source"].text())
		origin.Line = count(parts["line"])
	}
	entry = record.ContextEntry{
		EntryID:         l.idOrDigest(pick(value.isText, in([]string{"entry_id", "id"}, members)).text()),
		ObjectID:        l.ref(l.idOrDigest(members["object_id"].text())),
		ObjectType:      name(members["object_type"].text()),
		Property:        name(members["property"].text()),
		Origin:          origin,
		ValidTime:       timeOf(members["valid_time"].text()),
		RecordTime:      timeOf(members["record_time"].text()),
		OntologyVersion: identifier(members["ontology_version"].text()),
		Pseudonym:       members["pseudonym"].isTrue(),
	}
	if side := record.Side(members["side"].text()); side == record.SideInstruction || side == record.SideData {
		entry.Side = side
	}
	ok = entry.EntryID != "" && entry.ObjectID != "" && entry.ObjectType != "" && entry.Property != "" && entry.Side != "" && origin.Source != ""
	sources, isList := members["derived_from"].elements(maxContextEntries)
	ok = ok && (isList || !members["derived_from"].ok)
	var named bool
	entry.DerivedFrom, named = l.entryIDs(sources)
	return entry, ok && named
}

// entryIDs returns how a record names entries. It is not ok if one of them has no
// name, or is named twice.
func (l *lifting) entryIDs(list []value) (ids []string, ok bool) {
	seen := make(map[string]struct{}, len(list))
	for _, v := range list {
		id := l.idOrDigest(v.text())
		if _, repeated := seen[id]; repeated || id == "" {
			return nil, false
		}
		seen[id] = struct{}{}
		ids = append(ids, id)
	}
	return ids, true
}

// maxClaims bounds the claims of a context, and the entries that one cites.
const maxClaims = 1000

// contextClaims reads the claims that an application says the model made. What is
// known here is this one context, so a claim is supported if its entries stand in
// it; whether another context of the execution has them only readers can say.
func (l *lifting) contextClaims(shown func(string) bool) (out []record.Claim, reason string) {
	list := l.value(ownContextClaims)
	if !list.ok {
		return nil, ""
	}
	elements, isList := list.elements(maxClaims)
	switch {
	case !isList:
		return nil, record.ReasonInvalid
	case len(elements) > maxClaims:
		return nil, record.ReasonTooLarge
	}
	for _, e := range elements {
		members, _ := e.object()
		claim := record.Claim{ClaimID: givenID(pick(value.isText, in([]string{"claim_id", "id"}, members)).text())}
		cited, isList := members["entry_ids"].elements(maxClaims)
		if len(cited) > maxClaims {
			return nil, record.ReasonTooLarge
		}
		var named bool
		claim.EntryIDs, named = l.entryIDs(cited)
		if claim.ClaimID == "" || !named || !isList && members["entry_ids"].ok {
			return nil, record.ReasonInvalid // one citation less could make a claim supported
		}
		if claim.EntryIDs == nil {
			claim.EntryIDs = []string{}
		}
		claim.Supported = contexts.Supported(claim.EntryIDs, shown)
		out = append(out, claim)
	}
	l.from("claims", record.BasisAttribute)
	return out, ""
}

// contextDigest returns a digest of contract 2, plain or keyed, or "".
func contextDigest(s string) string {
	if keyed, isKeyed := strings.CutPrefix(s, "hmac-sha256:"); isKeyed {
		id, sum, _ := strings.Cut(keyed, ":")
		if !content.ValidKeyID(id) || !content.ShapeDigest.Matches("sha256:"+sum) {
			return ""
		}
		return s
	}
	return kept(content.ShapeDigest, s)
}

// jsonOf spells a value as JSON. It has none if it is absent, or holds what JSON
// cannot.
func jsonOf(v value) (jsontext.Value, bool) {
	switch {
	case !v.ok:
		return nil, false
	case v.raw != nil:
		return v.raw, true
	}
	if s, isString := v.str(); isString {
		raw, err := jsontext.AppendQuote(nil, s)
		return raw, err == nil
	}
	d := content.Plain.OfNode(telemetry.Node(v.data))
	if d.Form == content.FormOTLPJSON || d.Value == "" {
		return nil, false
	}
	raw := jsontext.Value(v.preimage(d.Form))
	return raw, raw.IsValid()
}
