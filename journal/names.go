// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/v2"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// maxNamedByOne bounds the ids of one audit event that are looked up.
const maxNamedByOne = 1 << 16

// names is what an audit event names. It holds nothing of the line's memory.
type names struct {
	organization string
	ids          []namedID
	// fields are the names of fields that places point at.
	fields []string
	// artifacts are the digests of evidence.artifacts, in order.
	artifacts []string
	// effects says that a tool call of it had an effect in another system.
	effects bool
	// tooMany says that it names more ids than are looked up of one; it has none then.
	tooMany bool
	// onlyItself says that it names no event but itself, which proves nothing.
	onlyItself bool
}

// namedID is an id and where an audit event names it.
type namedID struct {
	key   uint64
	place place
}

// idKind says of what an id is, so that ids of different things are never taken for
// one another.
type idKind byte

const (
	idOfEvent   idKind = 'e'
	idOfRead    idKind = 'r'
	idOfAction  idKind = 'a'
	idOfContext idKind = 'c'
	idOfCall    idKind = 'l'
)

// idSeed is drawn anew in every run, so that nobody can prepare ids that collide. By
// chance one of n ids is taken for a given other one with n / 2^64.
var idSeed = maphash.MakeSeed()

// keyOf is a short form of an id of an organization.
func keyOf[T []byte | string](kind idKind, organization, id T) uint64 {
	var h maphash.Hash
	h.SetSeed(idSeed)
	_ = h.WriteByte(byte(kind))
	_, _ = h.Write([]byte(organization))
	_ = h.WriteByte(0)
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// place is a member of an audit event that holds an id: which list, where in it, and
// whether the id was found. For a field, the index is that of its name.
type place uint32

const (
	placeEvent place = iota << 29
	placeContext
	placeAction
	placeRead
	placeCall
	placeFieldRead
	placeFieldCall

	placeList  place = 7 << 29
	placeFound place = 1 << 28
	placeIndex       = placeFound - 1
)

// pointer returns the RFC 6901 JSON Pointer into audit_event.
func (p place) pointer(fields []string) string {
	index := int(p & placeIndex)
	switch p & placeList {
	case placeEvent:
		return fmt.Sprintf("/lineage/event_ids/%d", index)
	case placeContext:
		return fmt.Sprintf("/context_ids/%d", index)
	case placeAction:
		return fmt.Sprintf("/action_ids/%d", index)
	case placeRead:
		return fmt.Sprintf("/read_ids/%d", index)
	case placeCall:
		return fmt.Sprintf("/tool_calls/%d/call_id", index)
	}
	if index >= len(fields) {
		return "/field_provenance"
	}
	member := "read_id"
	if p&placeList == placeFieldCall {
		member = "tool_call_id"
	}
	return "/field_provenance/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fields[index]) + "/" + member
}

// names returns what an audit event that this version knows names; nil if it cannot be
// read, which is for the schema to say.
func (p *parts) names() *names {
	var e struct {
		EventID string `json:"event_id"`
		Scope   struct {
			OrganizationRef string `json:"organization_ref"`
		} `json:"scope"`
		Lineage    record.AuditLineage  `json:"lineage"`
		Evidence   record.AuditEvidence `json:"evidence"`
		ContextIDs []string             `json:"context_ids"`
		ActionIDs  []string             `json:"action_ids"`
		ReadIDs    []string             `json:"read_ids"`
		ToolCalls  []struct {
			CallID            string     `json:"call_id"`
			DownstreamEffects []struct{} `json:"downstream_effects"`
		} `json:"tool_calls"`
		FieldProvenance map[string]struct {
			ReadID     string `json:"read_id"`
			ToolCallID string `json:"tool_call_id"`
		} `json:"field_provenance"`
	}
	if json.Unmarshal(p.body, &e) != nil {
		return nil
	}
	n := &names{organization: e.Scope.OrganizationRef}
	add := func(kind idKind, list place, index int, id string) {
		if len(n.ids) >= maxNamedByOne {
			n.tooMany = true
			return
		}
		n.ids = append(n.ids, namedID{keyOf(kind, n.organization, id), list | place(index)})
	}
	for _, list := range []struct {
		kind  idKind
		place place
		ids   []string
	}{
		{idOfEvent, placeEvent, e.Lineage.EventIDs},
		{idOfContext, placeContext, e.ContextIDs},
		{idOfAction, placeAction, e.ActionIDs},
		{idOfRead, placeRead, e.ReadIDs},
	} {
		for i, id := range list.ids {
			if list.kind != idOfEvent || id != e.EventID {
				add(list.kind, list.place, i, id)
			}
		}
	}
	for i := range e.ToolCalls {
		add(idOfCall, placeCall, i, e.ToolCalls[i].CallID)
		n.effects = n.effects || len(e.ToolCalls[i].DownstreamEffects) > 0
	}
	for _, field := range slices.Sorted(maps.Keys(e.FieldProvenance)) {
		source := e.FieldProvenance[field]
		if source.ReadID != "" {
			add(idOfRead, placeFieldRead, len(n.fields), source.ReadID)
		}
		if source.ToolCallID != "" {
			add(idOfCall, placeFieldCall, len(n.fields), source.ToolCallID)
		}
		n.fields = append(n.fields, field)
	}
	for _, a := range e.Evidence.Artifacts {
		n.artifacts = append(n.artifacts, a.Digest)
	}
	n.onlyItself = !slices.ContainsFunc(e.Lineage.EventIDs, func(id string) bool { return id != e.EventID })
	if n.tooMany {
		n.ids, n.fields = nil, nil
	}
	return n
}
