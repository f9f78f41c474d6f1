// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// maxTaken bounds the entries of one bundle, of which each takes 8 bytes until it is
// written.
const maxTaken = 8 << 20

// looking is what was seen in one journal.
type looking struct {
	source *journal.Source
	id     string
	scope  record.Scope
	seen   Stretch
	// stretch is what belongs to a selection by time or sequence.
	stretch *Stretch
	// taken are the sequences of the entries that are handed over, in order.
	taken []uint64
	// inside are the first and the last entry that were recorded in the time asked
	// for; before is the last one that was recorded earlier.
	inside Stretch
	before uint64
}

// lookAll reads every journal: once for the executions of a decision, once for what
// matches, and once for the lineage of that and for what was done and approved of the
// actions that it names.
func (m *maker) lookAll(ctx context.Context) ([]*looking, error) {
	all := make([]*looking, 0, len(m.options.Sources))
	for _, source := range m.options.Sources {
		all = append(all, &looking{source: source})
	}
	passes := []func(*looking, *journal.Entry) error{m.match, m.belonging}
	if m.options.Selection.DecisionID != "" {
		passes = slices.Insert(passes, 0, m.decision)
	}
	for _, pass := range passes {
		for _, l := range all {
			if err := l.each(ctx, func(e *journal.Entry) error { return pass(l, e) }); err != nil {
				return nil, fmt.Errorf("%s: %w", l.source.Path, err)
			}
			if err := m.stretch(l); err != nil {
				return nil, fmt.Errorf("%s: %w", l.source.Path, err)
			}
			slices.Sort(l.taken)
			l.taken = slices.Compact(l.taken)
		}
	}
	for _, l := range all {
		if l.id == "" {
			return nil, fmt.Errorf("%s: %w", l.source.Path, journal.ErrNoEntries)
		}
	}
	return all, nil
}

// errNotEntry says that a journal is damaged: leaving a line out of a bundle would
// hide that.
var errNotEntry = errors.New("a line is not an entry in its place; run readtrail verify")

// each reads the entries of a journal as it was when it was opened. Of a line that
// a writer is about to write nothing is said.
func (l *looking) each(ctx context.Context, do func(*journal.Entry) error) error {
	number, last := uint64(0), uint64(0)
	for line, err := range l.source.Lines() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if line.Torn && line.Segment == len(l.source.Segments)-1 {
			break
		}
		number++
		e, err := journal.ParseLine(line.Bytes)
		if err != nil || line.Torn || journal.SpellHash(e.PayloadDigest()) != e.Integrity.RecordHash || last > 0 && e.Header.Sequence != last+1 {
			return fmt.Errorf("line %d: %w", number, errNotEntry)
		}
		last = e.Header.Sequence
		correlate(e)
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// correlate reads the correlation of a body that this version does not know
// otherwise: its name and form are those of every body (contract 1, requirement E2),
// and an approval or a decision must not be left out because it is newer than the
// maker.
func correlate(e *journal.Entry) {
	if schema.Supports(e.Kind, e.SchemaVersion) {
		return
	}
	var body struct {
		Correlation record.Correlation `json:"correlation"`
	}
	if json.Unmarshal(e.Body, &body) == nil {
		e.Header.Correlation = body.Correlation
	}
}

// named is where an entry names a decision.
type named struct {
	DecisionID string `json:"decision_id"`
	Policy     struct {
		DecisionID string `json:"decision_id"`
	} `json:"policy"`
}

// decision looks for the executions of a decision (contract 10, requirement E2).
func (m *maker) decision(_ *looking, e *journal.Entry) error {
	id := m.options.Selection.DecisionID
	if !bytes.Contains(e.Body, []byte(`"decision_id"`)) {
		return nil
	}
	var n named
	if json.Unmarshal(e.Body, &n) != nil || n.DecisionID != id && n.Policy.DecisionID != id {
		return nil
	}
	execution := e.Header.Correlation.ExecutionID
	if execution == "" {
		return fmt.Errorf("entry %d is of the decision and names no execution: select by sequence", e.Header.Sequence)
	}
	m.executions[execution] = true
	return within(len(m.executions))
}

func within(n int) error {
	if n > maxJoined {
		return fmt.Errorf("the selection has more than %d traces, executions or copies: narrow it", maxJoined)
	}
	return nil
}

// match takes what was asked for.
func (m *maker) match(l *looking, e *journal.Entry) error {
	h := &e.Header
	switch {
	case l.id == "" && h.JournalID != "":
		l.id, l.scope = h.JournalID, h.Scope
	case h.JournalID != "" && h.JournalID != l.id:
		return fmt.Errorf("entry %d: %w", h.Sequence, errNotEntry)
	}
	if l.seen.FirstSequence == 0 {
		l.seen.FirstSequence = h.Sequence
	}
	l.seen.LastSequence = h.Sequence
	s := &m.options.Selection
	if !s.RecordedFrom.IsZero() && h.RecordedAt.Std().Before(s.RecordedFrom.Std()) {
		l.before = h.Sequence
	}
	if !m.matches(e) {
		return nil
	}
	if l.inside.FirstSequence == 0 {
		l.inside.FirstSequence = h.Sequence
	}
	l.inside.LastSequence = h.Sequence
	if id := h.Correlation.TraceID; id != "" {
		m.traces[id] = true
		if err := within(len(m.traces)); err != nil {
			return err
		}
	}
	if err := m.nameActions(e); err != nil {
		return err
	}
	return l.take(h.Sequence)
}

func (l *looking) take(sequence uint64) error {
	if len(l.taken) >= maxTaken {
		return fmt.Errorf("the selection has more than %d entries: narrow it", maxTaken)
	}
	l.taken = append(l.taken, sequence)
	return nil
}

func (m *maker) matches(e *journal.Entry) bool {
	s, h := &m.options.Selection, &e.Header
	switch {
	case h.Sequence < s.FirstSequence, s.LastSequence > 0 && h.Sequence > s.LastSequence:
		return false
	case !s.includes(h.RecordedAt):
		return false
	case s.DecisionID != "" && !m.executions[h.Correlation.ExecutionID]:
		return false
	}
	return m.options.Matches == nil || m.options.Matches(e)
}

// stretch takes, for a selection that is a stretch, all of it; of one by time also
// the entries on both sides, which show that it ends there.
func (m *maker) stretch(l *looking) error {
	s := &m.options.Selection
	if !s.Gapless() || l.stretch != nil || l.id == "" {
		return nil
	}
	at := Stretch{max(s.FirstSequence, 1), l.seen.LastSequence}
	if s.LastSequence > 0 {
		at.LastSequence = min(at.LastSequence, s.LastSequence)
	}
	if s.byTime() {
		at = l.around()
	}
	if at.FirstSequence > at.LastSequence {
		return nil
	}
	l.stretch = &at
	for sequence := max(at.FirstSequence, l.seen.FirstSequence); sequence <= at.LastSequence; sequence++ {
		if err := l.take(sequence); err != nil {
			return err
		}
	}
	return nil
}

// around returns the stretch of a selection by time with what stands beside it. What
// was removed may have been in it, unless an entry before it is there.
func (l *looking) around() Stretch {
	at := Stretch{l.inside.FirstSequence - 1, l.inside.LastSequence + 1}
	if l.inside.FirstSequence == 0 {
		at = Stretch{l.before, max(l.before+1, l.seen.FirstSequence)}
	}
	if at.FirstSequence < l.seen.FirstSequence {
		at.FirstSequence = 1
	}
	return Stretch{at.FirstSequence, min(at.LastSequence, l.seen.LastSequence)}
}

// removed returns what of the selection was removed from the journal before it was
// looked at, nil if nothing.
func (m *maker) removed(l *looking) *Stretch {
	s := &m.options.Selection
	at := Stretch{max(s.FirstSequence, 1), l.seen.FirstSequence - 1}
	if s.LastSequence > 0 {
		at.LastSequence = min(at.LastSequence, s.LastSequence)
	}
	if l.stretch != nil && s.byTime() && l.stretch.FirstSequence > 1 || at.FirstSequence > at.LastSequence {
		return nil
	}
	return &at
}

var traceMember = []byte(`"trace_id":"`)

// belonging takes what belongs to what was taken.
func (m *maker) belonging(l *looking, e *journal.Entry) error {
	if m.isOfActions(e) {
		return l.take(e.Header.Sequence)
	}
	return m.lineage(l, e)
}

// lineage takes the lineage entries of the traces of what was taken, and those
// with spans that link to them, wherever they stand.
func (m *maker) lineage(l *looking, e *journal.Entry) error {
	if e.Kind != record.KindLineage {
		return nil
	}
	const digits = 32
	for rest := []byte(e.Body); ; {
		_, after, found := bytes.Cut(rest, traceMember)
		if !found || len(after) < digits {
			return nil
		}
		if m.traces[string(after[:digits])] {
			return l.take(e.Header.Sequence)
		}
		rest = after
	}
}
