// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// sealed reports whether a seal of the index is by a key that the journal has.
func (w *writer) sealed(message, seal []byte) bool {
	for _, s := range append([]journal.Signer{w.signer}, w.ledger.options.Outgoing...) {
		if ed25519.Verify(s.PublicKey(), message, seal) {
			return true
		}
	}
	return false
}

// afterStored returns the standing behind an entry that was read back. A hold that
// is set holds whoever set it; lifting one and pruning count only if a key of the
// journal signed them, so that nothing goes because of an entry that somebody else
// put there.
func (w *writer) afterStored(e *journal.Entry) (Standing, error) {
	loosens := e.Kind == record.KindJournal && (e.Header.EventType == record.EventHoldLifted || e.Header.EventType == record.EventJournalPruned)
	if loosens {
		ours, err := w.signedByUs(e)
		if err != nil {
			return Standing{}, err
		}
		if !ours {
			w.ledger.options.Observer.failed(fmt.Errorf("%s in entry %d does not count: no key signed it that the journal has or handed over from; run: readtrail verify",
				e.Header.EventType, e.Header.Sequence))
			return w.settled, nil
		}
	}
	return w.settled.afterStored(e)
}

// signedByUs reports whether an entry is signed by a key that the journal has, or
// by one whose bridges lead to such a key.
func (w *writer) signedByUs(e *journal.Entry) (bool, error) {
	var v journal.OwnKeyVerifier
	if v.Verify(&e.Integrity.Signature, e.PayloadDigest()) != nil {
		return false, nil
	}
	id := e.Integrity.Signature.KeyID
	if w.signerOf(id) != nil {
		return true, nil
	}
	if w.past == nil {
		// An index that is older than its marks of bridges, or an entry that nobody of
		// ours signed, has all of them looked for, once.
		if bridged, err := w.isBridged(id); bridged || err != nil {
			return bridged, err
		}
		bridges, err := w.bridges()
		if err != nil {
			return false, err
		}
		w.past = w.leadHere(bridges)
	}
	return w.past[id], nil
}

// bridgeKey is where the index has the journal.key_accepted that names a key as the
// outgoing one.
func bridgeKey(keyID string) repeat.Key { return repeat.KeyOfFact("bridge\n" + keyID) }

// maxBridges bounds the bridges that lead from one key to a key that the journal has
// without all of them being looked for.
const maxBridges = 64

// isBridged reports whether bridges that the index knows lead from a key to one that
// the journal has: each is vouched for by the key that accepts.
func (w *writer) isBridged(id string) (bool, error) {
	for range maxBridges {
		seen, found, err := w.index.FindOne(bridgeKey(id))
		if err != nil || !found || w.isPruned(&seen) {
			return false, err
		}
		e, err := w.ledger.read(seen.At)
		if err != nil {
			return false, err
		}
		var v journal.OwnKeyVerifier
		if !accepts(e, id) || v.Verify(&e.Integrity.Signature, e.PayloadDigest()) != nil {
			return false, nil
		}
		if id = e.Integrity.Signature.KeyID; w.signerOf(id) != nil {
			return true, nil
		}
	}
	return false, nil
}

// bridges returns for every key of the journal's past those that it handed over to,
// where both ends of the bridge are signed (contract 4).
func (w *writer) bridges() (map[string][]string, error) {
	o := &w.ledger.options
	bridges := map[string][]string{}
	var v journal.OwnKeyVerifier
	var rotated *journal.Entry
	for line, err := range segment.Lines(o.FS, o.Dir, segment.Position{}) {
		switch {
		case w.ledger.ctx.Err() != nil:
			return nil, w.ledger.ctx.Err()
		case err != nil:
			return nil, err
		case !bytes.Contains(line.Bytes, aboutItself):
			rotated = nil
			continue
		}
		e, err := journal.ParseLine(bytes.Clone(line.Bytes))
		if err != nil || v.Verify(&e.Integrity.Signature, e.PayloadDigest()) != nil {
			rotated = nil
			continue
		}
		to := e.Integrity.Signature.KeyID
		if named, ok := handsOver(rotated); ok && named == to && e.Integrity.PreviousEventHash == rotated.Integrity.RecordHash {
			if from := rotated.Integrity.Signature.KeyID; accepts(e, from) {
				bridges[from] = append(bridges[from], to)
			}
		}
		if rotated = nil; e.Kind == record.KindJournal && e.Header.EventType == record.EventKeyRotated {
			rotated = e
		}
	}
	if d, ok := handsOver(rotated); ok {
		// Its other end was torn off. Opening made sure that it continues its key, and
		// is about to write that end.
		from := rotated.Integrity.Signature.KeyID
		bridges[from] = append(bridges[from], d)
	}
	return bridges, nil
}

// handsOver returns the key that a journal.key_rotated names.
func handsOver(e *journal.Entry) (keyID string, ok bool) {
	if e == nil {
		return "", false
	}
	d, ok := detailOf[record.KeyRotated](e)
	return d.IncomingKeyID, ok
}

// leadHere returns the keys from which bridges lead to a key that the journal has.
func (w *writer) leadHere(bridges map[string][]string) map[string]bool {
	lead := map[string]bool{}
	for more := true; more; {
		more = false
		for from, all := range bridges {
			for _, to := range all {
				if !lead[from] && (lead[to] || w.signerOf(to) != nil) {
					lead[from], more = true, true
				}
			}
		}
	}
	return lead
}
