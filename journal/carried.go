// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"sort"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// seeker finds the entries that carry one of the ids that are looked for. It is safe
// for concurrent use: it reads nothing but keys, which stay as they are.
type seeker struct {
	// wanted are in the order of their keys.
	wanted []naming
	// events says that audit events are looked for, and not ids.
	events bool
}

// at returns the index of the first that names a key, and whether there is one.
func (s *seeker) at(key uint64) (int, bool) {
	i := sort.Search(len(s.wanted), func(i int) bool { return s.wanted[i].key >= key })
	return i, i < len(s.wanted) && s.wanted[i].key == key
}

// sighting is what a line has of what is looked for.
type sighting struct {
	keys []uint64
	// unknown says that the line is of a version that this verifier does not know,
	// whatever it carries.
	unknown bool
}

// in returns what a line carries of what is looked for, nil if nothing. An id counts
// as that of an entry where the entry is about it, and not where it merely names it.
func (s *seeker) in(p *parts) *sighting {
	if !schema.Supports(p.kind, p.schemaVersion) {
		return &sighting{unknown: true}
	}
	if s.events {
		if p.kind == record.KindAuditEvent {
			return &sighting{}
		}
		return nil
	}
	organization, ok := stringOf(p.innerMember("scope", "organization_ref"))
	if !ok {
		return nil
	}
	var seen *sighting
	look := func(kind idKind, value []byte) {
		id, ok := stringOf(value)
		if !ok || len(id) == 0 {
			return
		}
		key := keyOf(kind, organization, id)
		if _, wanted := s.at(key); wanted {
			if seen == nil {
				seen = &sighting{}
			}
			seen.keys = append(seen.keys, key)
		}
	}
	look(idOfEvent, p.headerMember("event_id"))
	look(idOfCall, p.innerMember("correlation", "call_id"))
	switch p.kind {
	case record.KindRead:
		look(idOfRead, p.headerMember("read_id"))
		look(idOfCall, p.headerMember("tool_call_id"))
	case record.KindAction:
		look(idOfAction, p.headerMember("action_id"))
		look(idOfCall, p.headerMember("attempt_id"))
	case record.KindContext:
		look(idOfContext, p.headerMember("context_id"))
	case record.KindLineage:
		for _, id := range callsOf(p.headerMember("spans")) {
			look(idOfCall, id)
		}
	}
	return seen
}

var callMember = []byte(`"tool_call_id":`)

// callsOf returns the ids of calls, with their quotes, that the spans of a lineage
// record name. A quote within a string is escaped, so that what looks like the member
// is one.
func callsOf(spans []byte) (ids [][]byte) {
	for {
		_, after, found := bytes.Cut(spans, callMember)
		if !found {
			return ids
		}
		if end := endOfString(after); end > 0 {
			ids = append(ids, after[:end])
		}
		spans = after
	}
}

// endOfString returns where a string ends that s begins with; 0 if it begins with none.
func endOfString(s []byte) int {
	if len(s) == 0 || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// innerMember returns the value of a member of an object in the body; nil if there is
// none.
func (p *parts) innerMember(object, name string) []byte {
	within := false
	for i := range p.header {
		m := &p.header[i]
		switch {
		case m.level == p.header[0].level:
			within = string(p.outline.name(m)) == object
		case within && m.level == p.header[0].level+1 && string(p.outline.name(m)) == name:
			return p.outline.text(m)
		}
	}
	return nil
}
