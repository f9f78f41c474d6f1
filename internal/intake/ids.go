// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"regexp"
	"slices"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// joining are the members by which a body is joined with what telemetry says. A member
// whose id telemetry drops would join with nothing, and what it cites look unproven.
var joining = []string{"execution_id", "step_id", "call_id", "tool_call_id"}

// digestible are those of which telemetry gives the digest where it does not keep the
// id: that joins too. A document has an id of the first kind in an attribute of its own,
// and of the second in a list.
var digestible = []string{"document_id", "chunk_id", "entry_id", "entry_ids", "derived_from"}

const documentID = "document_id"

// idDigest is the digest of an id (contract 2).
var idDigest = regexp.MustCompile(`^(sha256|hmac-sha256:[A-Za-z0-9._-]{1,128}):[0-9a-f]{64}$`)

// joins reports whether a member has an id that telemetry has as well.
func joins(member, id string) bool {
	isIdentifier := content.ShapeIdentifier.Matches(id) && !content.IsPlaceholder(id) && !record.PassesForDigest(id)
	switch {
	case slices.Contains(joining, member):
		return isIdentifier && record.ValidGivenID(id)
	case slices.Contains(digestible, member):
		return isIdentifier && (member != documentID || record.ValidGivenID(id)) || idDigest.MatchString(id)
	default:
		return true
	}
}
