// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import "encoding/json/v2"

// sealPrefix begins every message that is signed for a file, so that it is the form
// of nothing else that a key of the journal signs.
const sealPrefix = "readtrail/standing/v1\n"

// Sign signs a message with a key of the journal.
type Sign func(message []byte) ([]byte, error)

// SealWith has what is written from now on sealed: the journal, the last entry that
// was learned, and the standing behind it, together. The marks are not sealed;
// whoever finds an entry by one reads it.
func (x *Index) SealWith(sign Sign) { x.sign = sign }

// Sealed reports whether the file, as it was opened, has a seal that verifies. One
// that has none was written by somebody else, or while nothing could be signed.
func (x *Index) Sealed(verify func(message, seal []byte) bool) bool {
	return len(x.store.seal) > 0 && verify(x.store.sealed, x.store.seal)
}

// message returns what is signed: the prefix and the head without its seal, in
// which the journal's id stands.
func (h head) message() ([]byte, error) {
	h.Seal = nil
	text, err := json.Marshal(h)
	return append([]byte(sealPrefix), text...), err
}

// close seals a head. That nothing can be signed costs the seal, not the file.
func (h *head) close(sign Sign) error {
	if sign == nil {
		return nil
	}
	message, err := h.message()
	if err != nil {
		return err
	}
	if seal, err := sign(message); err == nil {
		h.Seal = seal
	}
	return nil
}
