// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

// The members of a JWK that never vary (RFC 8037).
const (
	keyType      = "OKP"
	keyCurve     = "Ed25519"
	keyAlgorithm = "EdDSA"
)

const maxRegistryBytes = 1 << 20

// Registry holds the keys that are trusted to sign (contract 7): a JWK Set that
// is kept apart from the journal, since whoever can change both can forge. It
// is safe for concurrent reading.
type Registry struct {
	keys []Key
	byID map[string]int
	// publicTexts are the keys as public_key of an entry spells them.
	publicTexts []string
}

// jwk is a key as keys.json spells it (RFC 7517, RFC 8037, contract 7). A member
// that is there says something: one that is null or empty is refused, since it
// may be one that was meant to take trust away.
type jwk struct {
	KeyType             text      `json:"kty"`
	Curve               text      `json:"crv"`
	X                   text      `json:"x"`
	KeyID               text      `json:"kid"`
	Algorithm           text      `json:"alg"`
	ValidFrom           text      `json:"valid_from"`
	ValidUntil          text      `json:"valid_until,omitzero"`
	RevokedAt           text      `json:"revoked_at,omitzero"`
	RevocationReason    text      `json:"revocation_reason,omitzero"`
	InvalidFromSequence sequences `json:"invalid_from_sequence,omitempty"`
	FirstSequence       sequences `json:"first_sequence,omitempty"`
}

// sequences holds a sequence for each of some journals.
type sequences map[string]uint64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *sequences) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := json.UnmarshalDecode(d, (*map[string]uint64)(s)); err != nil {
		return err
	}
	if len(*s) == 0 {
		return errors.New("must name a journal")
	}
	return nil
}

type jwkSet struct {
	Keys []jwk `json:"keys"`
}

// ReadRegistry reads a keys.json of at most 1 MiB. It must be a regular file, or
// a link to one: a pipe can keep a reader waiting for ever.
func ReadRegistry(path string) (*Registry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("key registry: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("key registry %s is not a regular file; name a file that holds it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key registry: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRegistryBytes+1))
	if err != nil {
		return nil, fmt.Errorf("key registry: %w", err)
	}
	r, err := ParseRegistry(text)
	if err != nil {
		return nil, fmt.Errorf("key registry %s: %w", path, err)
	}
	return r, nil
}

// ParseRegistry reads the text of a keys.json. It refuses what it does not
// understand: a member that it ignored could be one that takes trust away.
func ParseRegistry(text []byte) (*Registry, error) {
	if len(text) > maxRegistryBytes {
		return nil, fmt.Errorf("file has more than %d bytes", maxRegistryBytes)
	}
	var set jwkSet
	if err := json.Unmarshal(text, &set, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("not a JWK Set of trusted keys: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("not a JWK Set of trusted keys: it has no list of keys")
	}
	r := &Registry{}
	for i, j := range set.Keys {
		key, err := j.key()
		if err == nil {
			err = r.Add(key)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
	}
	return r, nil
}

func (j *jwk) key() (Key, error) {
	if j.KeyType != keyType || j.Curve != keyCurve || j.Algorithm != keyAlgorithm {
		return Key{}, fmt.Errorf("kty, crv and alg must be %s, %s and %s", keyType, keyCurve, keyAlgorithm)
	}
	public, err := decodePublicKey(string(j.X))
	if err != nil {
		return Key{}, err
	}
	id := KeyID(public)
	if string(j.KeyID) != id {
		return Key{}, fmt.Errorf("kid must be the thumbprint of the key, %s", id)
	}
	k := Key{
		ID: id, PublicKey: public, RevocationReason: string(j.RevocationReason),
		InvalidFromSequence: j.InvalidFromSequence, FirstSequence: j.FirstSequence,
	}
	for _, t := range []struct {
		name string
		text text
		to   *record.Time
	}{{"valid_from", j.ValidFrom, &k.ValidFrom}, {"valid_until", j.ValidUntil, &k.ValidUntil}, {"revoked_at", j.RevokedAt, &k.RevokedAt}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = parseRegistryTime(string(t.text)); err != nil {
			return Key{}, fmt.Errorf("%s %w", t.name, err)
		}
	}
	return k, nil
}

// parseRegistryTime takes RFC 3339 in UTC with any number of fractional digits:
// people write this file too.
func parseRegistryTime(s string) (record.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	// Go reads spellings that it does not write: an hour of one digit, a comma.
	if err != nil || t.IsZero() || !strings.HasSuffix(s, "Z") || strings.Contains(s, ",") || t.Format(time.DateOnly+"T"+time.TimeOnly) != s[:min(19, len(s))] {
		return record.Time{}, errors.New("is not a time like 2026-10-09T08:12:03Z")
	}
	return record.NewTime(t), nil
}

// Add trusts one more key.
func (r *Registry) Add(k Key) error {
	public, err := decodePublicKey(base64.RawURLEncoding.EncodeToString(k.PublicKey))
	if err != nil {
		return err
	}
	if k.ID != KeyID(public) {
		return errors.New("key id is not the thumbprint of the key")
	}
	if err := k.check(); err != nil {
		return err
	}
	if _, found := r.byID[k.ID]; found {
		return fmt.Errorf("key %s is there already", k.ID)
	}
	if r.byID == nil {
		r.byID = make(map[string]int)
	}
	r.byID[k.ID] = len(r.keys)
	r.publicTexts = append(r.publicTexts, base64.StdEncoding.EncodeToString(k.PublicKey))
	r.keys = append(r.keys, k)
	return nil
}

// Keys returns the keys in the order of the file.
func (r *Registry) Keys() []Key { return slices.Clone(r.keys) }

// Key returns the key with an id.
func (r *Registry) Key(id string) (Key, bool) {
	i, found := r.byID[id]
	if !found {
		return Key{}, false
	}
	return r.keys[i], true
}

// find returns the key with an id and its text in entries; nil if there is none or
// no registry.
func (r *Registry) find(id []byte) (key *Key, publicText string) {
	if r == nil {
		return nil, ""
	}
	i, found := r.byID[string(id)]
	if !found {
		return nil, ""
	}
	return &r.keys[i], r.publicTexts[i]
}

// Marshal returns the text of the registry's keys.json.
func (r *Registry) Marshal() ([]byte, error) {
	set := jwkSet{Keys: make([]jwk, 0, len(r.keys))}
	for _, k := range r.keys {
		set.Keys = append(set.Keys, jwk{
			KeyType: keyType, Curve: keyCurve, X: text(base64.RawURLEncoding.EncodeToString(k.PublicKey)), KeyID: text(k.ID), Algorithm: keyAlgorithm,
			ValidFrom: spell(k.ValidFrom), ValidUntil: spell(k.ValidUntil), RevokedAt: spell(k.RevokedAt),
			RevocationReason: text(k.RevocationReason), InvalidFromSequence: k.InvalidFromSequence, FirstSequence: k.FirstSequence,
		})
	}
	out, err := json.Marshal(set, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("key registry: %w", err)
	}
	return append(out, '\n'), nil
}

func spell(t record.Time) text {
	if t.IsZero() {
		return ""
	}
	return text(t.String())
}
