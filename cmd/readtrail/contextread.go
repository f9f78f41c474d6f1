// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// keptContext is a context record of a journal.
type keptContext struct {
	record.Context `json:",inline"`
	// Recorded are the entries as the record has them.
	Recorded []jsontext.Value `json:"-"`

	journalID, organization string
	sequence                uint64
}

// readContexts reads the context records of a target that a filter lets through.
// What could not be read is an error beside the rest: whatever is concluded from
// the rest is then not certain.
func readContexts(con *console, target string, f *contextFilter) ([]*keptContext, error) {
	sources, err := journal.Open(target)
	if len(sources) == 0 {
		return nil, err
	}
	leftOut, partly := errors.AsType[*journal.LeftOutError](err)
	con.note("unverified: run readtrail verify")
	var found []*keptContext
	unreadable, newer := 0, 0
	for _, source := range sources {
		for line, err := range source.Lines() {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", source.Path, err)
			}
			e, err := journal.ParseLine(line.Bytes)
			if err != nil || line.Torn {
				unreadable++
				continue
			}
			if e.Kind != record.KindContext {
				continue
			}
			if e.Header.EventType == "" {
				newer++
				continue
			}
			c, err := contextIn(e)
			if err != nil {
				unreadable++
				continue
			}
			if f.matches(c) {
				found = append(found, c)
			}
		}
	}
	if partly {
		for _, problem := range leftOut.Problems {
			con.note("readtrail: %v", problem)
		}
	}
	switch {
	case unreadable > 0:
		return found, fmt.Errorf("%s: %s could not be read as entries and are left out: run readtrail verify", target, count(unreadable, "line"))
	case newer > 0:
		return found, fmt.Errorf("%s: %s of a newer version are not interpreted: use a newer readtrail", target, count(newer, "context record"))
	case partly:
		return found, verdict(exitUnchecked)
	}
	return found, nil
}

func contextIn(e *journal.Entry) (*keptContext, error) {
	c := &keptContext{journalID: e.Header.JournalID, organization: e.Header.Scope.OrganizationRef, sequence: e.Header.Sequence}
	if err := json.Unmarshal(e.Body, &c.Context); err != nil {
		return nil, err
	}
	var body struct {
		Entries []jsontext.Value `json:"entries"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return nil, err
	}
	c.Recorded = body.Entries
	return c, nil
}

// execution is one execution of an organization: another may use the same id.
type execution struct {
	organization string
	contexts     []*keptContext
	// entries are the entries of all contexts, by id.
	entries map[string][]placedEntry
}

// placedEntry is an entry and the context that it stands in.
type placedEntry struct {
	*record.ContextEntry
	in *keptContext
}

// executionsOf sorts contexts of one execution id by organization, in the order in
// which they came.
func executionsOf(found []*keptContext) []*execution {
	var out []*execution
	byOrganization := map[string]*execution{}
	for _, c := range found {
		x := byOrganization[c.organization]
		if x == nil {
			x = &execution{organization: c.organization, entries: map[string][]placedEntry{}}
			byOrganization[c.organization] = x
			out = append(out, x)
		}
		x.contexts = append(x.contexts, c)
		for i := range c.Entries {
			id := c.Entries[i].EntryID
			x.entries[id] = append(x.entries[id], placedEntry{&c.Entries[i], c})
		}
	}
	return out
}

// shown reports whether an entry stands in a context of the execution.
func (x *execution) shown(entryID string) bool { return len(x.entries[entryID]) > 0 }

// derivedFrom returns what an entry is derived from in any of the contexts.
func (x *execution) derivedFrom(entryID string) (ids []string, known bool) {
	for _, e := range x.entries[entryID] {
		ids = append(ids, e.DerivedFrom...)
	}
	return ids, x.shown(entryID)
}
