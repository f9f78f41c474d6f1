// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"time"

	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

// announce writes what the journal has to say about itself before anything else
// is written: that it begins or goes on, and which bytes a crash tore off. The
// torn bytes of a segment are told of in that segment, so that whoever opens it
// finds them told.
func (w *writer) announce(torn []string) error {
	o := &w.ledger.options
	var bodies []*record.Journal
	for _, name := range torn {
		t, err := segment.Describe(o.FS, o.Dir, name)
		if err != nil {
			return err
		}
		body := about(record.EventJournalRecovered)
		body.Detail = record.Recovered{
			Segment: t.Segment, Offset: t.Offset, Length: t.Length, Digest: t.Digest, KeptAs: t.KeptAs,
		}
		bodies = append(bodies, body)
	}
	if w.head.sequence == 0 {
		// The first entry is journal.opened even if a crash tore the first attempt.
		bodies = append([]*record.Journal{about(record.EventJournalOpened)}, bodies...)
	} else {
		bodies = append(bodies, about(record.EventJournalResumed))
	}
	if err := w.writeOwn(len(torn) > 0, bodies...); err != nil {
		return err
	}
	for _, body := range bodies {
		if r, ok := body.Detail.(record.Recovered); ok {
			o.Observer.failed(fmt.Errorf("a torn tail of %d bytes was cut off %s at offset %d and is kept as %s: "+
				"examine it unless a crash or a full disk explains it", r.Length, r.Segment, r.Offset, r.KeptAs))
		}
	}
	return nil
}

// writeClosed writes the last entry before the journal is released.
func (w *writer) writeClosed() error { return w.writeOwn(false, about(record.EventJournalClosed)) }

func about(eventType string) *record.Journal {
	return &record.Journal{Header: record.Header{EventType: eventType}}
}

// writeOwn commits entries of the journal about itself as a group of their own.
// The committer must be idle.
func (w *writer) writeOwn(hold bool, bodies ...*record.Journal) error {
	g := &group{hold: hold}
	for _, body := range bodies {
		draft, err := record.NewJournalDraft(body)
		if err != nil {
			return err
		}
		it := newItem(draft)
		e, err := w.seal(&it, verdict{})
		if err != nil {
			return err
		}
		g.add(e)
		w.signers.start(e, g)
	}
	begun := time.Now()
	if err := commit(w.segments, g); err != nil {
		return err
	}
	w.landAll(g)
	w.ledger.options.Observer.committed(g, time.Since(begun))
	return nil
}
