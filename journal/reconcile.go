// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"math"
	"slices"
)

// Bounds of a Reconciliation. An id that is kept has 16 bytes, an audit event 24.
const (
	maxNamed   = 1 << 19
	maxAudited = 1 << 18
	maxNames   = 1 << 12
	maxBad     = 1 << 16
)

// Reconciliation holds the audit events of the journals of one verification against
// what they name (requirement E4, step 8): ids against the entries of all these
// journals, artifacts against files. It is given to Verify for each of the journals, one
// after another, and Resolve then adds to their reports. It keeps a bounded number of
// ids at a time, and reads the journals again for what is named beyond that.
type Reconciliation struct {
	// artifacts is a directory of files, "" if none were given.
	artifacts string
	compared  map[string]artifactOutcome

	kept
	journals []*reconciling
	// fields and organizations are the names that placed ids and events point at.
	fields, organizations interned
}

// kept is what audit events name, of all journals.
type kept struct {
	named  []naming
	events []namingEvent
	// bad counts the stretches of lines that do not count.
	bad int
	// full says that no more can be kept, and rest is where the first audit event stands
	// that was not.
	full bool
	rest reference
}

// reference is a line of a journal, both counted from 0.
type reference struct {
	journal int
	line    uint64
}

// mark is how much was kept at a time. It holds none of it.
type mark struct {
	named, events, bad int
	full               bool
}

func (k *kept) mark() mark { return mark{len(k.named), len(k.events), k.bad, k.full} }

// forgetBehind forgets what was kept since.
func (k *kept) forgetBehind(m mark) {
	k.named, k.events, k.bad, k.full = k.named[:m.named], k.events[:m.events], m.bad, m.full
}

// naming is an id that an audit event names.
type naming struct {
	key   uint64
	event uint32
	place place
}

// namingEvent is an audit event that names something.
type namingEvent struct {
	sequence     uint64
	journal      uint32
	organization uint32
}

// NewReconciliation returns one that has collected nothing yet. Artifacts is the
// directory of the files that audit events name as artifacts, each named by the 64 hex
// digits of its SHA-256; "" means that none are given.
func NewReconciliation(artifacts string) *Reconciliation {
	return &Reconciliation{artifacts: artifacts, compared: map[string]artifactOutcome{}}
}

// reconciling is what one journal has to do with a Reconciliation.
type reconciling struct {
	all    *Reconciliation
	source *Source
	report *Report
	// first is the sequence of the first audit event.
	first, events uint64
	// notGood are audit events that are not valid themselves, beyond those that name more
	// than is looked up of one, waiting those that were not kept yet, and onlyItself those
	// that name no event but themselves.
	notGood, beyond, waiting, onlyItself uint64
	ids, found                           uint64
	artifacts                            reconciledArtifacts
	effects                              bool
	// organization is that of the events that are kept.
	organization int
	// journals counts those of the organization that were looked through.
	journals int

	// bad are the lines, counted from 0, whose entries are not valid, in order.
	bad   []stretch
	lines uint64
	// tooBad says that not all that is bad was kept apart.
	tooBad bool
	// openEnd says that the source is a copy without the end of its journal.
	openEnd bool
	done    bool
	// before is what was kept before this journal, so that it can begin anew.
	before mark
}

// stretch is the lines from one to another, both included.
type stretch struct{ from, to uint64 }

// begin begins the next journal.
func (r *Reconciliation) begin(s *Source, report *Report) *reconciling {
	r.forget()
	j := &reconciling{all: r, source: s, report: report, before: r.mark()}
	r.journals = append(r.journals, j)
	return j
}

// forget forgets the last journal if its verification came to no end.
func (r *Reconciliation) forget() {
	if n := len(r.journals) - 1; n >= 0 && !r.journals[n].done {
		r.forgetBehind(r.journals[n].before)
		r.journals = r.journals[:n]
	}
}

// add takes the next line; good says that its entry is valid where it stands.
func (j *reconciling) add(v *verifier, c *checked, good bool) {
	line := j.lines
	j.lines++
	if !good {
		j.addBad(line)
	}
	if !c.audited || c.notEntry != nil {
		return
	}
	if j.events++; j.events == 1 {
		j.first = c.sequence
	}
	if !good || c.names == nil {
		j.notGood++
		return
	}
	j.effects = j.effects || c.names.effects
	j.compareArtifacts(v, c)
	j.take(c, reference{len(j.all.journals) - 1, line})
}

// addBad joins neighbors. Behind more stretches than are kept, nothing counts any more.
func (j *reconciling) addBad(line uint64) {
	last := len(j.bad) - 1
	switch {
	case last >= 0 && j.bad[last].to+1 >= line:
		j.bad[last].to = max(j.bad[last].to, line)
	case j.all.bad >= maxBad:
		j.tooBad = true
		if last < 0 {
			j.bad = append(j.bad, stretch{line, math.MaxUint64 - 1})
		} else {
			j.bad[last].to = math.MaxUint64 - 1
		}
	default:
		j.all.bad++
		j.bad = append(j.bad, stretch{line, line})
	}
}

// isBad reports whether the entry of a line is not valid.
func (j *reconciling) isBad(line uint64) bool {
	_, found := slices.BinarySearchFunc(j.bad, line, func(s stretch, line uint64) int {
		switch {
		case s.to < line:
			return -1
		case s.from > line:
			return 1
		}
		return 0
	})
	return found || line >= j.lines
}

// take keeps what an audit event names. What does not fit waits, and all behind it.
func (j *reconciling) take(c *checked, at reference) {
	r, n := j.all, c.names
	switch {
	case r.isBeyond(n):
		j.beyond++
		return
	case r.full:
		j.waiting++
		return
	case len(r.named)+len(n.ids) > maxNamed || len(r.events) >= maxAudited:
		r.full, r.rest = true, at
		j.waiting++
		return
	}
	if n.onlyItself {
		j.onlyItself++
	}
	j.organization, _ = r.organizations.index(n.organization)
	event := uint32(len(r.events))
	r.events = append(r.events, namingEvent{c.sequence, uint32(at.journal), uint32(j.organization)})
	for _, id := range n.ids {
		place := id.place
		if list := place & placeList; list == placeFieldRead || list == placeFieldCall {
			place = list | r.field(n.fields[place&placeIndex])
		}
		r.named = append(r.named, naming{id.key, event, place})
	}
	j.ids += uint64(len(n.ids))
}

// isBeyond reports whether an audit event names more than is looked up of one, or is of
// one organization too many.
func (r *Reconciliation) isBeyond(n *names) bool {
	_, known := r.organizations.index(n.organization)
	return n.tooMany || !known
}

// field returns the index of the name of a field, which is that of none if there are too
// many.
func (r *Reconciliation) field(name string) place {
	if i, ok := r.fields.index(name); ok {
		return place(i)
	}
	return placeIndex
}

// maxNameBytes is longer than any name that a directory or a schema allows.
const maxNameBytes = 1 << 10

// interned are names, each of which stands once. Events of one kind have the same.
type interned struct {
	names   []string
	indexes map[string]int
}

// index returns where a name stands; false if there are too many or it is too long.
func (n *interned) index(name string) (int, bool) {
	if i, found := n.indexes[name]; found {
		return i, true
	}
	if len(n.names) >= maxNames || len(name) > maxNameBytes {
		return 0, false
	}
	if n.indexes == nil {
		n.indexes = map[string]int{}
	}
	n.indexes[name] = len(n.names)
	n.names = append(n.names, name)
	return len(n.names) - 1, true
}

// finishReconciling ends what one journal adds. Of entries that were taken as verified
// before, and that nothing proves to be those, none counts; nor does any whose key only
// the end of the journal leaves open.
func (v *verifier) finishReconciling() {
	j := v.reconciling
	if j == nil {
		return
	}
	j.done, j.openEnd = true, v.options.OpenEnd
	if v.covered && !v.out.confirmed || v.keysOpen {
		j.all.forgetBehind(j.before)
		j.bad, j.notGood, j.beyond, j.waiting, j.onlyItself, j.ids = []stretch{{0, math.MaxUint64 - 1}}, j.events, 0, 0, 0, 0
	}
	if j.events > 0 {
		v.report.Reconciled = &Reconciled{AuditEvents: j.events, Lineage: NotPerformed}
	}
}
