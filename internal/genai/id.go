// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// idOrDigest returns how a record names what telemetry names by an id: the id
// if it has the shape of an identifier and does not pass for a digest, else the
// digest of its bytes, so that the record still names it, and what reads like a
// digest is one. It returns "" for what is no id (nothing, a
// placeholder) and for what holds a credential, of which there is no digest.
func (it *item) idOrDigest(s string) string {
	if id := identifier(s); id != "" && !record.PassesForDigest(id) {
		return id
	}
	if s == "" || content.IsPlaceholder(s) || content.GivesAwayCredential(s) {
		return ""
	}
	return it.cache.Key().OfRaw([]byte(s)).Value
}
