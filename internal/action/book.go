// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package action

// Name names an action: ids are good within one organization.
type Name struct{ Organization, ID string }

// Book holds the actions of which entries were added, in the order of their first
// one. It takes at most so many entries, of some KiB each.
type Book struct {
	limit, entries int
	full           bool
	order          []*Action
	actions        map[Name]*Action
	known          map[place]bool
}

type place struct {
	journalID string
	sequence  uint64
}

// NewBook returns a book that takes at most so many entries.
func NewBook(limit int) *Book {
	return &Book{limit: limit, actions: map[Name]*Action{}, known: map[place]bool{}}
}

// Add adds an entry, once. Entries of a journal come in its order.
func (b *Book) Add(e *Entry) {
	at := place{e.JournalID, e.Sequence}
	if b.known[at] {
		return
	}
	if b.full = b.full || b.entries >= b.limit; b.full {
		return
	}
	b.known[at] = true
	b.entries++
	name := Name{e.Organization, e.ActionID()}
	a := b.actions[name]
	if a == nil {
		a = &Action{Organization: name.Organization, ID: name.ID}
		b.actions[name] = a
		b.order = append(b.order, a)
	}
	a.add(e)
}

// Full reports whether an entry had to be left out.
func (b *Book) Full() bool { return b.full }

// Action returns an action, nil if no entry tells of it.
func (b *Book) Action(name Name) *Action { return b.actions[name] }

// Actions returns all actions.
func (b *Book) Actions() []*Action { return b.order }
