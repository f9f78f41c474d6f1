// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Reconciled is what was compared of the audit events of a journal (requirement E4,
// step 8).
type Reconciled struct {
	AuditEvents uint64 `json:"audit_events"`
	// Lineage is valid if every id that the audit events name was found in a valid entry
	// of their organization; else it is not_performed, and findings say why.
	Lineage Check `json:"lineage"`
	// IDs counts the ids that were looked up, each as often as it is named, and Found
	// those that were found.
	IDs   uint64 `json:"ids"`
	Found uint64 `json:"ids_found"`
	// Journals counts those of the organization that were looked through.
	Journals int `json:"journals,omitzero"`
	// Artifacts is absent if no audit event names one.
	Artifacts Check `json:"artifacts,omitzero"`
	// ArtifactsNamed counts each as often as it is named; Compared are those that are the
	// files that were given.
	ArtifactsNamed    uint64 `json:"artifacts_named,omitzero"`
	ArtifactsCompared uint64 `json:"artifacts_compared,omitzero"`
	// Effects is never performed, and absent if no audit event says of any.
	Effects Check `json:"effects,omitzero"`
}

// errAllFound ends looking.
var errAllFound = errors.New("everything was found")

// Resolve looks up what the audit events of all journals name in the entries of these
// journals that were valid, and adds to their reports. It reads the journals once
// more, as they were when they were opened, until all is found; and again as often as
// more is named than is kept at a time. Elsewhere says why an organization may have
// journals that were not verified; "" means that there is none. The options are those
// that Verify was given.
func (r *Reconciliation) Resolve(ctx context.Context, opt Options, elsewhere func(organization string) string) {
	r.forget()
	l := &lookup{r: r, registry: opt.Registry, skipSchema: opt.SkipSchema, policy: opt.Policy, progress: opt.Progress, open: make([]missed, len(r.journals))}
	for {
		slices.SortFunc(r.named, func(a, b naming) int { return cmp.Compare(a.key, b.key) })
		l.seek, l.left = &seeker{wanted: r.named}, len(r.named)
		l.searched = make([]searched, len(r.organizations.names))
		for i := range l.searched {
			if why := elsewhere(r.organizations.names[i]); why != "" {
				l.searched[i].leftOut = []string{why}
			}
		}
		l.run(ctx)
		l.settle()
		if !r.full {
			break
		}
		l.collect(ctx)
	}
	l.tell()
}

// lookup is the reading of the journals after they were verified.
type lookup struct {
	r          *Reconciliation
	registry   *Registry
	skipSchema bool
	policy     *Policy
	progress   func(done, total int64)
	// open is what was missed, by journals.
	open []missed

	// seek finds what was kept, and left counts the ids that were not found yet.
	seek     *seeker
	left     int
	searched []searched
}

// options are those of a reading.
func (l *lookup) options(seek *seeker) *Options {
	return &Options{Registry: l.registry, SkipSchema: l.skipSchema, Reconcile: l.r, seek: seek}
}

// holds reports whether the entry of a line is as good as it was when it was verified:
// somebody may have changed the file meanwhile.
func (l *lookup) holds(c *checked, j *reconciling, line uint64) bool {
	return c.notEntry == nil && c.computed == c.recordHash && c.signature == Valid && c.schema != Failed && !j.isBad(line)
}

// searched is how far the journals of an organization were looked through.
type searched struct {
	journals int
	// leftOut says what was not, and why.
	leftOut []string
}

// maxLeftOut bounds what is said of it.
const maxLeftOut = 3

func (s *searched) leaveOut(why string) {
	if len(s.leftOut) == maxLeftOut {
		s.leftOut = append(s.leftOut, "and more")
	}
	if len(s.leftOut) < maxLeftOut {
		s.leftOut = append(s.leftOut, why)
	}
}

// run reads the journals, those with audit events first: most of what these name
// stands beside them.
func (l *lookup) run(ctx context.Context) {
	if l.left == 0 {
		return
	}
	journals := slices.Clone(l.r.journals)
	slices.SortStableFunc(journals, func(a, b *reconciling) int { return cmp.Compare(min(b.events, 1), min(a.events, 1)) })
	var total, done int64
	for _, j := range journals {
		total += j.source.Size()
	}
	for _, j := range journals {
		if l.left == 0 {
			return
		}
		l.look(ctx, j, l.organizationsOf(j), func(read int64) {
			if l.progress != nil {
				l.progress(done+read, total)
			}
		})
		done += j.source.Size()
	}
}

// organizationsOf returns the organizations, of those that matter, whose journal it is
// by its first valid entry, or all. It is looked through in any case: entries of another
// organization may follow, of one that was renamed say.
func (l *lookup) organizationsOf(j *reconciling) (of []int) {
	name, n := "", uint64(0)
	for line, err := range j.source.Lines() {
		if err != nil {
			break
		}
		if !j.isBad(n) {
			if e, err := ParseLine(line.Bytes); err == nil && e.Header.Scope.OrganizationRef != "" {
				name = e.Header.Scope.OrganizationRef
				break
			}
		}
		n++
	}
	for i, organization := range l.r.organizations.names {
		if name == "" || name == organization {
			of = append(of, i)
		}
	}
	return of
}

// look looks through one journal.
func (l *lookup) look(ctx context.Context, j *reconciling, of []int, progress func(read int64)) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var line, unknown uint64
	err := checkLines(ctx, j.source, l.options(l.seek), func(lines []checked, read int64) {
		for i := range lines {
			switch c := &lines[i]; {
			case c.seen == nil:
			case c.seen.unknown:
				unknown++
			case l.holds(c, j, line):
				l.find(c.seen.keys)
			}
			line++
		}
		progress(read)
		if l.left == 0 {
			stop(errAllFound)
		}
	})
	name := j.report.JournalID
	if name == "" {
		name = j.source.Path
	}
	leaveOut := func(format string, args ...any) {
		for _, i := range of {
			l.searched[i].leaveOut(fmt.Sprintf(format, args...))
		}
	}
	for _, i := range of {
		l.searched[i].journals++
	}
	switch {
	case l.left == 0:
		return
	case errors.Is(err, fs.ErrNotExist):
		leaveOut("segments of journal %s that were removed meanwhile", name)
	case err != nil:
		leaveOut("journal %s, which could not be read to its end", name)
	}
	if first := j.report.FirstSequence; first > 1 {
		leaveOut("what stood before %d in journal %s", first, name)
	}
	if j.source.endsEarly || j.openEnd {
		leaveOut("what stands behind %d in journal %s", j.report.LastSequence, name)
	}
	if j.tooBad {
		leaveOut("what stands behind %d damaged places in journal %s", len(j.bad), name)
	}
	if unknown > 0 {
		leaveOut("entries of a version that this verifier does not know in journal %s", name)
	}
}

// find marks all that name one of the keys.
func (l *lookup) find(keys []uint64) {
	named := l.r.named
	for _, key := range keys {
		at, _ := l.seek.at(key)
		for ; at < len(named) && named[at].key == key && named[at].place&placeFound == 0; at++ {
			named[at].place |= placeFound
			l.left--
		}
	}
}
