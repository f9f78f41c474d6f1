// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"slices"
	"time"

	"filippo.io/torchwood"
)

// Kinds of attestations.
const (
	// AttestedByWitness: a cosignature (c2sp.org/tlog-cosignature).
	AttestedByWitness = "witness"
	// AttestedByTimestamp: an RFC 3161 time stamp token.
	AttestedByTimestamp = "timestamp"
	// AttestedByObjectLock: an object that its store does not let anybody change.
	AttestedByObjectLock = "object_lock"
)

// Attestation is what somebody else than the writer says of a checkpoint: that
// it existed at a time.
type Attestation struct {
	// By names who says so: a witness as in its verifier key, a time stamp
	// authority by the subject of its certificate.
	By string
	// Kind is one of the AttestedBy constants.
	Kind string
	At   time.Time
}

// Witness is somebody who cosigns checkpoints and does not cosign two that
// contradict each other.
type Witness struct {
	// Name is the name in the verifier key.
	Name string

	verifier *torchwood.CosignatureVerifier
}

// ParseWitness reads a verifier key (c2sp.org/signed-note) of a cosigner
// (c2sp.org/tlog-cosignature): Ed25519 or ML-DSA-44.
func ParseWitness(vkey string) (Witness, error) {
	v, err := torchwood.NewCosignatureVerifier(vkey)
	if err != nil || v.String() != vkey || !validNoteName(v.Name()) {
		return Witness{}, errors.New("not the verifier key of a witness, of the form name+hash+base64")
	}
	return Witness{Name: v.Name(), verifier: v}, nil
}

// String returns the verifier key.
func (w Witness) String() string { return w.verifier.String() }

// Cosignatures returns an attestation for each of the witnesses whose
// cosignature verifies, in their order: its earliest one, if it cosigned more
// than once. A cosignature that states no time is none of a witness, and a
// witness that is named twice counts once.
func (s *SignedCheckpoint) Cosignatures(ws []Witness) []Attestation {
	var found []Attestation
	for i, w := range ws {
		if slices.ContainsFunc(ws[:i], func(before Witness) bool { return before.String() == w.String() }) {
			continue
		}
		if at, ok := s.cosignedAt(w); ok {
			found = append(found, Attestation{By: w.Name, Kind: AttestedByWitness, At: at})
		}
	}
	return found
}

func (s *SignedCheckpoint) cosignedAt(w Witness) (at time.Time, ok bool) {
	for _, signature := range s.signatures {
		if signature.Name != w.verifier.Name() || signature.Hash != w.verifier.KeyHash() {
			continue
		}
		seconds, err := torchwood.CosignatureTimestamp(signature)
		if err != nil || seconds <= 0 || seconds > maxUnixSeconds || !w.verifier.Verify([]byte(s.text), signatureBytes(signature)) {
			continue
		}
		if t := time.Unix(seconds, 0).UTC(); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// maxUnixSeconds is the end of the year 9999, the last that an entry can spell.
const maxUnixSeconds = 253402300799
