// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/readtrail/readtrail/journal"
)

// Copy is what an archive holds of one journal.
type Copy struct {
	Place
	segments, others []object
}

// object is the oldest version of an object of a journal.
type object struct {
	*version
	located
}

// Copies lists what the archive holds, by journal, and what an auditor has to
// know: objects that somebody tried to replace or to delete afterwards.
func (b *Bucket) Copies(ctx context.Context) (copies []*Copy, notes []string, err error) {
	prefix := b.prefix
	if prefix != "" {
		prefix += "/"
	}
	found, err := b.versions(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	places := map[Place]*Copy{}
	foreign := 0
	for _, key := range slices.Sorted(maps.Keys(found)) {
		v := found[key]
		l, ours := b.locate(key)
		if !ours {
			foreign++
			continue
		}
		c := places[l.Place]
		if c == nil {
			c = &Copy{Place: l.Place}
			places[l.Place] = c
			copies = append(copies, c)
		}
		if l.part == segmentsPart {
			c.segments = append(c.segments, object{v, l})
		} else {
			c.others = append(c.others, object{v, l})
		}
		if v.later > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d later versions or delete markers stand over it; "+
				"the oldest version is read, find out who wrote them", b.url(key), v.later))
		}
	}
	if foreign > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d objects have no key of an archive and are not read", b, foreign))
	}
	slices.SortFunc(copies, func(x, y *Copy) int { return comparePlaces(x.Place, y.Place) })
	return copies, notes, nil
}

// Sources returns the journals that the archive holds so that they can be verified
// and read as those of a directory: each segment streams from the bucket, by the id
// of its oldest version, as often as it is opened. An archive without a segment is
// an error that wraps journal.ErrNoJournal.
func (b *Bucket) Sources(ctx context.Context) (sources []*journal.Source, notes []string, err error) {
	copies, notes, err := b.Copies(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range copies {
		if source := b.source(ctx, c); len(source.Segments) > 0 {
			sources = append(sources, source)
		}
	}
	if len(sources) == 0 {
		return nil, notes, fmt.Errorf("%w in %s: an archive has segments below PREFIX/ORGANIZATION/CLASS/KIND/JOURNAL/%s/", journal.ErrNoJournal, b, segmentsPart)
	}
	return sources, notes, nil
}

func (b *Bucket) source(ctx context.Context, c *Copy) *journal.Source {
	s := &journal.Source{Path: b.Address(c.Place)}
	for _, o := range c.segments {
		first, isSegment := firstOf(o.name)
		if !isSegment {
			continue
		}
		v := o.version
		s.Segments = append(s.Segments, journal.Segment{
			Path: b.address(v), FirstSequence: first, Size: v.size,
			Open: func() (io.ReadCloser, error) { return b.read(ctx, v), nil },
		})
	}
	slices.SortFunc(s.Segments, func(x, y journal.Segment) int { return cmp.Compare(x.FirstSequence, y.FirstSequence) })
	return s
}

// firstOf returns the first sequence of a segment by its name; what was torn off
// one is none.
func firstOf(name string) (uint64, bool) {
	const digits = 20
	if len(name) != digits+len(".events") {
		return 0, false
	}
	first, err := strconv.ParseUint(name[:digits], 10, 64)
	return first, err == nil && first > 0
}
