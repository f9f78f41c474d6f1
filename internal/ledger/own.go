// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// own is an entry of the journal about itself.
type own struct {
	body *record.Journal
	// next, if it is set, is the key that signs what follows.
	next journal.Signer
	// accepts is the key of which the entry is the journal.key_accepted.
	accepts journal.Signer
}

// announce writes what the journal has to say about itself before anything else
// is written: that it begins or goes on, that its key is another one now, and
// which bytes a crash tore off. The torn bytes of a segment are told of in that
// segment, so that whoever opens it finds them told. A bridge comes first: its
// second entry may have to follow one that is there already.
func (w *writer) announce(bridge []own, torn []string) error {
	o := &w.ledger.options
	var recovered []own
	for _, name := range torn {
		t, err := segment.Describe(o.FS, o.Dir, name)
		if err != nil {
			return err
		}
		body := about(record.EventJournalRecovered)
		body.Detail = record.Recovered{
			Segment: t.Segment, Offset: t.Offset, Length: t.Length, Digest: t.Digest, KeptAs: t.KeptAs,
		}
		recovered = append(recovered, own{body: body})
	}
	var entries []own
	if w.head.sequence == 0 {
		// The first entry is journal.opened even if a crash tore the first attempt.
		entries = append([]own{{body: about(record.EventJournalOpened)}}, recovered...)
	} else {
		entries = append(append(bridge, recovered...), own{body: about(record.EventJournalResumed)})
	}
	if err := w.writeOwn(len(torn) > 0, entries...); err != nil {
		return err
	}
	for _, e := range recovered {
		if r, ok := e.body.Detail.(record.Recovered); ok {
			o.Observer.failed(fmt.Errorf("a torn tail of %d bytes was cut off %s at offset %d and is kept as %s: "+
				"examine it unless a crash or a full disk explains it", r.Length, r.Segment, r.Offset, r.KeptAs))
		}
	}
	return nil
}

// writeClosed writes the last entry before the journal is released.
func (w *writer) writeClosed() error {
	return w.writeOwn(false, own{body: about(record.EventJournalClosed)})
}

func about(eventType string) *record.Journal {
	return &record.Journal{Header: record.Header{EventType: eventType}}
}

// writeOwn commits entries of the journal about itself as a group of their own.
// The committer must be idle.
func (w *writer) writeOwn(hold bool, entries ...own) error {
	g := &group{hold: hold}
	if err := w.addOwn(g, entries...); err != nil {
		return err
	}
	w.signers.handOver(g)
	begun := time.Now()
	if err := w.ledger.commit(w.segments, g); err != nil {
		return err
	}
	w.landAll(g)
	w.ledger.options.Observer.committed(g, time.Since(begun))
	return nil
}

// addOwn chains entries of the journal about itself and adds them to a group.
func (w *writer) addOwn(g *group, entries ...own) error {
	for _, o := range entries {
		draft, err := record.NewJournalDraft(o.body)
		if err != nil {
			return err
		}
		it := newItem(draft)
		e, err := w.seal(g, &it, verdict{})
		if err != nil {
			return err
		}
		e.accepts = o.accepts
		if d, ok := o.body.Detail.(record.KeyAccepted); ok {
			e.names = []repeat.Key{bridgeKey(d.OutgoingKeyID)}
		}
		if o.next != nil {
			w.head.signer = o.next
		}
		g.add(e)
	}
	return nil
}

// ours are the event types that only the ledger itself writes, at their time.
var ours = []string{
	record.EventJournalOpened, record.EventJournalResumed, record.EventJournalRecovered, record.EventJournalClosed,
	record.EventKeyRotated, record.EventKeyAccepted, record.EventJournalPruned, record.EventHoldSet, record.EventHoldLifted,
}

// Record writes an entry of the journal about itself, such as a heartbeat or a
// gap, behind what was appended before, and returns when it is durable. It
// refuses the event types that say what only the ledger does. Errors are those of
// Append, but on an error it may be written twice if it is written again: such an
// entry is never a repeat.
func (l *Ledger) Record(ctx context.Context, body *record.Journal) (journal.Receipt, error) {
	if slices.Contains(ours, body.EventType) {
		return journal.Receipt{}, fmt.Errorf("record %s: only the journal itself writes that", body.EventType)
	}
	receipt, err := l.decree(ctx, body, nil)
	return receipt, l.place.hide(err)
}
