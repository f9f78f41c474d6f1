// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance

import (
	"encoding/json/v2"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Claims are the claims of a context, of which each is supported if it cites at
// least one entry and every one that it cites is in a context of the execution
// (requirement G3). It is for one goroutine.
type Claims struct {
	context *record.Context
	// missing are the entries that are cited and were in no context so far.
	missing map[string]struct{}
}

// OfContext returns what has to be confirmed of the claims of a context. What the
// context itself has was in a context of the execution.
func OfContext(c *record.Context) *Claims {
	n := &Claims{context: c, missing: map[string]struct{}{}}
	for _, claim := range c.Claims {
		for _, id := range claim.EntryIDs {
			n.missing[id] = struct{}{}
		}
	}
	for i := range c.Entries {
		delete(n.missing, c.Entries[i].EntryID)
	}
	return n
}

// Execution implements Need.
func (n *Claims) Execution() string { return n.context.Correlation.ExecutionID }

// Met implements Need. A claim that cites nothing is not waited for.
func (n *Claims) Met() bool { return len(n.missing) == 0 }

// See implements Need.
func (n *Claims) See(e *journal.Entry) {
	if e.Kind != record.KindContext || e.Header.Correlation.ExecutionID != n.Execution() {
		return
	}
	var shown struct {
		ConflictsWith string `json:"conflicts_with"`
		Entries       []struct {
			EntryID string `json:"entry_id"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(e.Body, &shown); err != nil || shown.ConflictsWith != "" {
		return
	}
	for _, entry := range shown.Entries {
		delete(n.missing, entry.EntryID)
	}
}

// Mark says of each claim whether it is supported, and returns the index of the
// first one that is not, -1 if there is none.
func (n *Claims) Mark() (unsupported int) {
	unsupported = -1
	for i := range n.context.Claims {
		claim := &n.context.Claims[i]
		claim.Supported = len(claim.EntryIDs) > 0
		for _, id := range claim.EntryIDs {
			if _, missing := n.missing[id]; missing {
				claim.Supported = false
			}
		}
		if !claim.Supported && unsupported < 0 {
			unsupported = i
		}
	}
	return unsupported
}
