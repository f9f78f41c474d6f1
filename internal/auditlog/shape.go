// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// maxGiven is the longest id that the draft's answer echoes, in bytes.
const maxGiven = 256

// isPlace are the bytes of what names a place: a path, an address, a resource, a
// distinguished name without blanks.
var isPlace = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@#+=-~%*,[]") {
		set[c] = true
	}
	return set
}()

// validPlace reports whether a text has the shape of what names a place.
func validPlace(s string) bool {
	if s == "" || len(s) > maxGiven || record.PassesForDigest(s) {
		return false
	}
	for i := range len(s) {
		if !isPlace[s[i]] {
			return false
		}
	}
	return true
}

// textOf says a value in clear if its shape is that of an id or name, and as its
// digest if not.
func (m *Mapper) textOf(s string, shape func(string) bool) record.Text {
	if shape(s) {
		return record.Text{Value: s}
	}
	d := m.key().OfRaw([]byte(s))
	return record.Text{ValueDigest: d.Value, ValueCanonicalization: string(d.Form), ValueSize: d.Size}
}

// idOf is textOf for what other records refer to. It is digested without a key, so
// that a reference is found again behind a change of keys.
func idOf(s string) record.Text {
	if record.ValidGivenID(s) {
		return record.Text{Value: s}
	}
	d := content.Plain.OfRaw([]byte(s))
	return record.Text{ValueDigest: d.Value, ValueCanonicalization: string(d.Form), ValueSize: d.Size}
}

// digestOf says what is kept of content.
func (m *Mapper) digestOf(n content.Node) *record.ContentDigest {
	d := m.key().OfNode(n)
	return &record.ContentDigest{Digest: d.Value, Canonicalization: string(d.Form), Size: d.Size, Capture: d.State}
}

// holdsSecret reports whether a value that is to stand in clear is a credential or
// gives one away. Such a record is refused: its digest would be as bad (requirement
// H3).
func holdsSecret(s string) bool {
	return record.LooksLikeSecret(s) || content.LooksLikeCredential(s) || content.GivesAwayCredential(s)
}
