// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpointtest

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/readtrail/readtrail/journal"
)

// Witness is a witness (c2sp.org/tlog-witness) that takes every journal whose
// checkpoints one of its keys signed.
type Witness struct {
	// Key verifies its cosignatures.
	Key journal.Witness

	signer *torchwood.CosignatureSigner
	keys   []ed25519.PublicKey

	mu sync.Mutex
	// latest is the largest checkpoint of each journal.
	latest map[string]journal.Checkpoint
}

// NewWitness makes a witness that trusts the keys of journals.
func NewWitness(t testing.TB, name string, keys ...ed25519.PublicKey) *Witness {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signer, err := torchwood.NewCosignatureSigner(name, private)
	require.NoError(t, err)
	key, err := journal.ParseWitness(signer.Verifier().String())
	require.NoError(t, err)
	return &Witness{Key: key, signer: signer, keys: keys, latest: map[string]journal.Checkpoint{}}
}

// Trust has the witness take what another key signed.
func (w *Witness) Trust(key ed25519.PublicKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys = append(w.keys, key)
}

// Latest returns the largest checkpoint of a journal that it cosigned.
func (w *Witness) Latest(journalID string) journal.Checkpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest[journalID]
}

// Force has the witness believe that it cosigned a checkpoint.
func (w *Witness) Force(c journal.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest[c.Origin] = c
}

// ServeHTTP implements add-checkpoint.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/add-checkpoint" {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	status, answer := w.add(body)
	if status == http.StatusConflict {
		rw.Header().Set("Content-Type", "text/x.tlog.size")
	}
	rw.WriteHeader(status)
	_, _ = rw.Write(answer)
}

func (w *Witness) add(body []byte) (status int, answer []byte) {
	p, err := journal.ParseConsistencyProof(body)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	trusted := false
	for _, key := range w.keys {
		trusted = trusted || p.Checkpoint.SignedBy(key)
	}
	known := w.latest[p.Checkpoint.Origin]
	switch {
	case !trusted:
		return http.StatusForbidden, nil
	case p.OldSize != known.Size:
		return http.StatusConflict, fmt.Appendf(nil, "%d\n", known.Size)
	case known.Size > 0 && p.Verify(known) != nil:
		return http.StatusUnprocessableEntity, nil
	}
	w.latest[p.Checkpoint.Origin] = p.Checkpoint.Checkpoint
	signed, err := note.Sign(&note.Note{Text: p.Checkpoint.Text()}, w.signer)
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	_, lines, _ := bytes.Cut(signed, []byte("\n\n"))
	return http.StatusOK, lines
}
