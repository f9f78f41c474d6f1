// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// trialMessage is signed to see whether a key works. It is the form of nothing
// else that a journal's key signs.
const trialMessage = "readtrail/trial/v1\n"

// Rotate changes the key of the journal (contract 4): it writes
// journal.key_rotated, signed by the key so far, and journal.key_accepted, signed
// by the new one, next to each other in one commit group, and returns when they
// are durable. Entries before them keep the old key, entries behind them have the
// new one; nobody waits meanwhile. Changing to the key that the journal has does
// nothing. On an error nobody knows whether the bridge was written; rotating again
// is always right. The journal stays with its key if the new one cannot sign.
func (l *Ledger) Rotate(ctx context.Context, to journal.Signer) error {
	if err := try(to); err != nil {
		return err
	}
	r := &request{rotateTo: to, done: make(chan struct{})}
	return l.place.hide(l.submit(ctx, r))
}

// try makes sure that a key signs what its public key verifies.
func try(s journal.Signer) error {
	signature, err := s.Sign([]byte(trialMessage))
	if err == nil && !ed25519.Verify(s.PublicKey(), []byte(trialMessage), signature) {
		err = errors.New("its public key does not verify what it signs")
	}
	if err != nil {
		return fmt.Errorf("change keys to %s: %w; the journal stays with the key that it has", s.KeyID(), err)
	}
	return nil
}

// mayRotate reports whether the open group has room for both ends of a bridge:
// no crash leaves one of them durable and the other not even written.
func (w *writer) mayRotate() bool {
	return w.open.room(2, 2*entryOverhead, w.ledger.options.MaxGroupBytes)
}

// rotate puts a bridge to another key into the open group.
func (w *writer) rotate(to journal.Signer) error {
	from := w.head.signer
	if from.KeyID() == to.KeyID() {
		return nil
	}
	w.incoming = append(w.incoming, to)
	return w.addOwn(w.open, bridge(from, to)...)
}

// bridge returns the two entries of a change of keys.
func bridge(from, to journal.Signer) []own {
	rotated := own{body: about(record.EventKeyRotated), next: to}
	rotated.body.Detail = record.KeyRotated{IncomingKeyID: to.KeyID()}
	return []own{rotated, accepted(from.KeyID(), to)}
}

// accepted returns the second entry of a change of keys, which the incoming key
// signs.
func accepted(from string, to journal.Signer) own {
	o := own{body: about(record.EventKeyAccepted), accepts: to}
	o.body.Detail = record.KeyAccepted{OutgoingKeyID: from}
	return o
}

// adopt makes a key that a durable journal.key_accepted names the one that the
// journal goes on with.
func (w *writer) adopt(s journal.Signer) {
	if w.past != nil {
		w.past[w.signer.KeyID()] = true
	}
	w.signer = s
	w.index.SealWith(s.Sign)
	for i, incoming := range w.incoming {
		if incoming.KeyID() == s.KeyID() {
			w.incoming = w.incoming[i+1:]
			return
		}
	}
}

// bridgeFrom returns what has to be written before anything else because of the
// key of the last entry, and sets the key that signs next: that of the last
// entry, or the one that it hands over to. A rotation of which a crash or a disk
// left the first entry only is completed; contract 4 allows nothing else behind
// it.
func (w *writer) bridgeFrom(last, handsOverTo string) ([]own, error) {
	// A rotation that was on its way may have become durable after all.
	for _, s := range w.incoming {
		if id := s.KeyID(); id == last || id == handsOverTo {
			w.signer = s
		}
	}
	w.incoming = nil
	w.head.signer = w.signer
	var entries []own
	switch {
	case handsOverTo != "":
		s := w.signerOf(handsOverTo)
		if s == nil {
			return nil, fmt.Errorf("%w: its last entry, by key %s, hands over to key %s, and that is neither the configured key nor an outgoing one; "+
				"configure it as one of them", ErrOtherKey, last, handsOverTo)
		}
		w.head.signer = s
		entries = append(entries, accepted(last, s))
	case last != "":
		s := w.signerOf(last)
		if s == nil {
			return nil, fmt.Errorf("%w: its last entry is signed by key %s, and the configured key is %s; use the first one, "+
				"or give it as an outgoing key beside the other, or begin a new directory", ErrOtherKey, last, w.signer.KeyID())
		}
		w.head.signer = s
	}
	if s := w.head.signer; s.KeyID() != w.signer.KeyID() {
		entries = append(entries, bridge(s, w.signer)...)
	}
	return entries, nil
}

// signerOf returns the signer of a key that the journal may use, nil if there is
// none.
func (w *writer) signerOf(id string) journal.Signer {
	if w.signer.KeyID() == id {
		return w.signer
	}
	for _, s := range w.ledger.options.Outgoing {
		if s.KeyID() == id {
			return s
		}
	}
	return nil
}
