// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/readtrail/readtrail/journal"
)

// Witness asks a witness for its cosignature (c2sp.org/tlog-witness). A witness
// cosigns only what continues all that it cosigned before.
type Witness struct {
	name, url string
	client    *http.Client
	key       journal.Witness

	mu sync.Mutex
	// sizes are the sizes that it cosigned, as far as we know, by journal id.
	sizes map[string]uint64
}

// NewWitness returns the attester of a witness: endpoint is its submission
// prefix, and key verifies its cosignatures.
func NewWitness(name, endpoint string, client *http.Client, key journal.Witness) *Witness {
	return &Witness{
		name: name, url: strings.TrimSuffix(endpoint, "/") + "/add-checkpoint",
		client: client, key: key, sizes: map[string]uint64{},
	}
}

// Name implements Attester.
func (w *Witness) Name() string { return w.name }

// maxTries bounds how often a witness can say that it knows another size.
const maxTries = 3

// Attest implements Attester.
func (w *Witness) Attest(ctx context.Context, c *journal.SignedCheckpoint, prove Prove) (Statement, error) {
	for range maxTries {
		old := min(w.known(c.Origin), c.Size)
		proof := journal.ConsistencyProof{OldSize: old, Checkpoint: c}
		if old > 0 {
			path, err := prove(old)
			if err != nil {
				return Statement{}, fmt.Errorf("prove that %s continues %d entries: %w", c.Origin, old, err)
			}
			proof.Path = path
		}
		status, answer, err := post(ctx, w.client, w.url, "text/plain; charset=utf-8", proof.Format())
		if err != nil {
			return Statement{}, err
		}
		if status != http.StatusConflict {
			return w.answered(c, status, answer)
		}
		size, err := strconv.ParseUint(strings.TrimSuffix(string(answer), "\n"), 10, 64)
		switch {
		case err != nil:
			return Statement{}, failed(ReasonInvalid, "the witness answered 409 without the size that it knows")
		case size > c.Size:
			return Statement{}, ahead(w.name, size, c)
		case size == old:
			return Statement{}, failed(ReasonConflict, "the witness cosigned other entries of %s at size %d; find out who else writes as this journal", c.Origin, size)
		}
		w.learn(c.Origin, size)
	}
	return Statement{}, failed(ReasonRefused, "the witness changed the size that it knows %d times in a row", maxTries)
}

// answered judges an answer other than 409.
func (w *Witness) answered(c *journal.SignedCheckpoint, status int, answer []byte) (Statement, error) {
	switch status {
	case http.StatusOK:
	case http.StatusNotFound:
		return Statement{}, failed(ReasonRefused, "the witness does not know the journal; register its key there: readtrail checkpoint key")
	case http.StatusForbidden:
		return Statement{}, failed(ReasonRefused, "the witness does not know the key that signed; register it there: readtrail checkpoint key")
	case http.StatusUnprocessableEntity:
		return Statement{}, failed(ReasonConflict, "the witness cosigned other entries of %s at size %d; find out who else writes as this journal", c.Origin, w.known(c.Origin))
	default:
		return Statement{}, failed(ReasonRefused, "the witness answered %d", status)
	}
	cosigned, err := journal.ParseCheckpoint(append(bytes.Clone(c.Note), answer...))
	if err != nil || len(cosigned.Cosignatures([]journal.Witness{w.key})) == 0 {
		return Statement{}, failed(ReasonInvalid, "the answer of the witness has no cosignature that its configured key verifies")
	}
	w.learn(c.Origin, c.Size)
	return Statement{Cosignatures: answer}, nil
}

func (w *Witness) known(journalID string) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sizes[journalID]
}

func (w *Witness) learn(journalID string, size uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sizes[journalID] = size
}

func ahead(name string, size uint64, c *journal.SignedCheckpoint) error {
	return failed(ReasonConflict, "%s holds a checkpoint of %s with %d entries and the journal has %d: it was rolled back; "+
		"restore the missing segments, or begin a new directory and keep this one", name, c.Origin, size, c.Size)
}
