// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// missed is what of the ids that a journal names was not found, where not all entries
// could be looked through.
type missed struct {
	count uint64
	// sequence and pointer are of the first.
	sequence uint64
	pointer  string
	leftOut  []string
}

// settle counts what was found of what was kept, tells what was not, and forgets it.
func (l *lookup) settle() {
	r := l.r
	for _, n := range r.named {
		if n.place&placeFound != 0 {
			r.journals[r.events[n.event].journal].found++
		}
	}
	missing := slices.DeleteFunc(r.named, func(n naming) bool { return n.place&placeFound != 0 })
	slices.SortFunc(missing, func(a, b naming) int {
		return cmp.Or(cmp.Compare(a.event, b.event), cmp.Compare(a.place, b.place))
	})
	for _, n := range missing {
		l.miss(n)
	}
	for _, j := range r.journals {
		if j.ids > 0 {
			j.journals = max(j.journals, l.searched[j.organization].journals)
		}
	}
	r.named, r.events = r.named[:0], r.events[:0]
}

// tell says of every journal what was and what was not compared.
func (l *lookup) tell() {
	for i, j := range l.r.journals {
		if j.events > 0 {
			l.tellOf(j, &l.open[i])
		}
	}
}

// miss says that an id was not found, which says nothing where not all was looked
// through.
func (l *lookup) miss(n naming) {
	r := l.r
	e := r.events[n.event]
	pointer := n.place.pointer(r.fields.names)
	if leftOut := l.searched[e.organization].leftOut; len(leftOut) > 0 {
		o := &l.open[e.journal]
		if o.count++; o.count == 1 {
			o.sequence, o.pointer, o.leftOut = e.sequence, pointer, leftOut
		}
		return
	}
	f := Finding{Code: CodeLineageUnresolved, Sequence: e.sequence, Detail: "no valid entry of its organization has the id at " + pointer}
	if l.policy.Demands(DemandLineage) {
		f.Class = ClassUnchecked
	}
	r.journals[e.journal].report.add(f)
}

// tellOf says what was and what was not compared of the audit events of one journal.
func (l *lookup) tellOf(j *reconciling, open *missed) {
	to := j.report.Reconciled
	to.IDs, to.Found, to.Journals = j.ids, j.found, j.journals
	unasked := j.notGood + j.beyond + j.waiting + j.onlyItself
	if unasked == 0 && j.found == j.ids && j.ids > 0 {
		to.Lineage = Valid
	}
	if j.effects {
		to.Effects = NotPerformed
	}
	a := &j.artifacts
	to.ArtifactsNamed, to.ArtifactsCompared = a.named, a.compared
	if a.named > 0 {
		to.Artifacts = outcome(a.failed > 0, a.open() > 0 || j.notGood > 0)
	}

	said := []string{countOf(j.events, "audit event")}
	if j.notGood > 0 {
		said = append(said, fmt.Sprintf("of %d that were not found valid themselves nothing was looked up", j.notGood))
	}
	if j.beyond > 0 {
		said = append(said, fmt.Sprintf("of %d nothing was looked up, because they name more than is looked up of one, or are of one organization too many", j.beyond))
	}
	if j.onlyItself > 0 {
		said = append(said, fmt.Sprintf("%d name no event but themselves", j.onlyItself))
	}
	if j.waiting > 0 {
		said = append(said, fmt.Sprintf("of %d nothing was looked up, because they could not be read again", j.waiting))
	}
	if open.count > 0 {
		said = append(said, fmt.Sprintf("%s not found, the first at sequence %d, %s; not looked through: %s",
			countOf(open.count, "id"), open.sequence, open.pointer, strings.Join(open.leftOut, ", ")))
	}
	if a.open() > 0 {
		why := "no files were given"
		if l.r.artifacts != "" {
			why = "the digest is keyed"
		}
		said = append(said, fmt.Sprintf("%s not compared: %s", countOf(a.open(), "artifact"), why))
	}
	said = append(said, "manifests and effects at the source are not compared")
	f := Finding{Code: CodeReconcileNotPerformed, Sequence: j.first, Detail: strings.Join(said, "; ")}
	if l.policy.Demands(DemandLineage) && unasked+open.count > 0 || l.policy.Demands(DemandArtifacts) && (a.open() > 0 || j.notGood > 0) {
		f.Class = ClassUnchecked
	}
	j.report.add(f)
}

func countOf(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
