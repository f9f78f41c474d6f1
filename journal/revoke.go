// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"maps"

	"github.com/readtrail/readtrail/record"
)

// Revocation takes trust in a key away (contract 4, 7).
type Revocation struct {
	// At is the first instant at which the key is revoked.
	At record.Time
	// Reason is for people.
	Reason string
	// InvalidFromSequence says for a journal id from which sequence on entries of the
	// key do not count, whatever time they name.
	InvalidFromSequence map[string]uint64
}

// Revoke revokes a key. A key that is revoked already can lose more trust, never
// gain any: the earlier time and the smaller sequences hold, an empty Reason keeps
// the former one, and what would give trust back is an error. It must not overlap
// other uses of the registry.
func (r *Registry) Revoke(id string, v Revocation) error {
	i, found := r.byID[id]
	if !found {
		return fmt.Errorf("registry has no key %s", id)
	}
	if v.At.IsZero() {
		return errors.New("a revocation needs a time")
	}
	k := r.keys[i]
	if !k.RevokedAt.IsZero() && v.At.Std().After(k.RevokedAt.Std()) {
		return fmt.Errorf("key %s is revoked from %s on; a later time would give trust back", id, k.RevokedAt)
	}
	sequences := maps.Clone(k.InvalidFromSequence)
	for journalID, n := range v.InvalidFromSequence {
		if before, ok := sequences[journalID]; ok && n > before {
			return fmt.Errorf("entries of key %s in journal %s are invalid from sequence %d on; a larger one would give trust back", id, journalID, before)
		}
		if sequences == nil {
			sequences = map[string]uint64{}
		}
		sequences[journalID] = n
	}
	k.RevokedAt, k.InvalidFromSequence = v.At, sequences
	if v.Reason != "" {
		k.RevocationReason = v.Reason
	}
	if err := k.check(); err != nil {
		return err
	}
	r.keys[i] = k
	return nil
}

// Begin says at which sequence of a journal a key begins to sign, so that it needs
// no bridge there (contract 4): for a key whose predecessor is lost or cannot be
// trusted with a bridge. A sequence that stands there already is not changed. It must
// not overlap other uses of the registry.
func (r *Registry) Begin(id, journalID string, sequence uint64) error {
	i, found := r.byID[id]
	if !found {
		return fmt.Errorf("registry has no key %s", id)
	}
	k := r.keys[i]
	if before, ok := k.FirstSequence[journalID]; ok && before != sequence {
		return fmt.Errorf("key %s begins in journal %s at sequence %d already", id, journalID, before)
	}
	k.FirstSequence = maps.Clone(k.FirstSequence)
	if k.FirstSequence == nil {
		k.FirstSequence = map[string]uint64{}
	}
	k.FirstSequence[journalID] = sequence
	if err := k.check(); err != nil {
		return err
	}
	r.keys[i] = k
	return nil
}
