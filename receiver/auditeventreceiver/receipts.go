// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// receiptsEndpoint gives a client the receipt of an entry again, and the proof that a
// checkpoint covers it once one does. An entry of a scope that the client may not
// touch is answered as one that there is not.
func (a *api) receiptsEndpoint() *endpoint {
	return &endpoint{
		name: "receipts", method: http.MethodGet, path: "/v1/receipts/",
		serve: func(ctx context.Context, c *call) reply {
			prove := c.query == "proof=1"
			if c.query != "" && !prove {
				return newProblem(codeMalformed, "the only query is proof=1").reply()
			}
			found, p := a.find(ctx, c, prove)
			if p != nil {
				return p.reply()
			}
			body, _ := json.Marshal(found) // strings, numbers and times always marshal
			return reply{status: http.StatusOK, media: mediaJSON, body: append(body, '\n')}
		},
	}
}

// keptReceipt is the answer of the endpoint.
type keptReceipt struct {
	journal.Receipt
	// Proof is the text of a tlog-proof (c2sp.org/tlog-proof) and Checkpoint that of
	// the signed note which it ends in.
	Proof      string `json:"proof,omitzero"`
	Checkpoint string `json:"checkpoint,omitzero"`
	// ProofState says what became of a proof that was asked for.
	ProofState string `json:"proof_state,omitzero"`
}

// The states of a proof.
const (
	proofIncluded = "included"
	proofPending  = "pending" // no checkpoint covers the entry yet
)

// find looks for the entry in the scopes of the client.
func (a *api) find(ctx context.Context, c *call, prove bool) (*keptReceipt, *problem) {
	ctx, cancel := context.WithTimeout(ctx, a.config.Limits.JournalTimeout)
	defer cancel()
	missing := newProblem(codeNotFound, "no entry with this event id stands where this client may look; name another retention class with "+retentionClassHeader)
	if !record.ValidGivenID(c.rest) {
		return nil, missing // no entry has such an id
	}
	for _, scope := range c.scopes {
		found, proof, err := a.journal.Receipt(ctx, scope.OrganizationRef, scope.RetentionClass, c.rest, prove)
		switch {
		case errors.Is(err, ledger.ErrPruned):
			missing = newProblem(codePruned, "what was recorded at the time of this event id was removed when its retention ended")
			continue
		case errors.Is(err, ledger.ErrNotFound):
			continue
		case err != nil:
			return nil, a.unreadable(err)
		}
		kept := &keptReceipt{Receipt: found}
		switch {
		case proof != nil:
			kept.Proof, kept.Checkpoint, kept.ProofState = string(proof.Format()), string(proof.Checkpoint.Note), proofIncluded
		case prove:
			kept.ProofState = proofPending
		}
		return kept, nil
	}
	return nil, missing
}
