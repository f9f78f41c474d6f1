// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func checkpointOf(t testing.TB, size uint64, root string) *journal.SignedCheckpoint {
	t.Helper()
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: "jrn_test", Size: size, Root: sha256.Sum256([]byte(root))}, signer)
	require.NoError(t, err)
	c, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return c
}

// noProof proves nothing.
func noProof(uint64) ([][sha256.Size]byte, error) { return nil, nil }

// answering is a server that always answers the same.
func answering(t *testing.T, status int, body string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAnAnswerOfAWitnessThatProvesNothingDoesNotCount(t *testing.T) {
	key := checkpointtest.NewWitness(t, "witness.example").Key
	for name, test := range map[string]struct {
		status int
		body   string
		reason checkpoint.Reason
		text   string
	}{
		"no cosignature":              {200, "", checkpoint.ReasonInvalid, "no cosignature"},
		"one that does not verify":    {200, "— witness.example AAAAAAAAAAAAAAAAAAAAAAAA\n", checkpoint.ReasonInvalid, "no cosignature"},
		"text that is no signature":   {200, "<html>\n", checkpoint.ReasonInvalid, "no cosignature"},
		"too much of it":              {200, strings.Repeat("x", 70<<10), checkpoint.ReasonInvalid, "more than 65536 bytes"},
		"a conflict without a size":   {409, "later", checkpoint.ReasonInvalid, "409 without the size"},
		"a size above ours":           {409, "4712\n", checkpoint.ReasonConflict, "it was rolled back"},
		"our size and another root":   {409, "0\n", checkpoint.ReasonConflict, "other entries"},
		"a proof that is refused":     {422, "", checkpoint.ReasonConflict, "other entries"},
		"a journal that is not known": {404, "", checkpoint.ReasonRefused, "does not know the journal"},
		"a key that is not known":     {403, "", checkpoint.ReasonRefused, "does not know the key"},
		"trouble":                     {500, "", checkpoint.ReasonRefused, "answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, test.status, test.body)
			w := checkpoint.NewWitness("w", s.URL, s.Client(), key)
			_, err := w.Attest(t.Context(), checkpointOf(t, 4711, "a"), noProof)
			require.ErrorContains(t, err, test.text)
			assert.Equal(t, test.reason, checkpoint.ReasonOf(err))
		})
	}
}

func TestAWitnessThatNeverAgreesOnASizeIsGivenUp(t *testing.T) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte{'0' + byte(n), '\n'})
	}))
	t.Cleanup(s.Close)
	w := checkpoint.NewWitness("w", s.URL, s.Client(), checkpointtest.NewWitness(t, "witness.example").Key)
	_, err := w.Attest(t.Context(), checkpointOf(t, 4711, "a"), noProof)
	require.ErrorContains(t, err, "3 times in a row")
	assert.Equal(t, 3, n)
}

func TestATokenThatDoesNotVerifyDoesNotCount(t *testing.T) {
	a := checkpointtest.NewAuthority(t)
	c := checkpointOf(t, 4711, "a")
	good := httptest.NewServer(a)
	t.Cleanup(good.Close)
	s, err := checkpoint.NewAuthority("tsa", good.URL, good.Client(), a.Roots).Attest(t.Context(), c, nil)
	require.NoError(t, err)

	_, err = checkpoint.NewAuthority("tsa", good.URL, good.Client(), checkpointtest.NewAuthority(t).Roots).Attest(t.Context(), c, nil)
	require.ErrorContains(t, err, "trusted root")
	assert.Equal(t, checkpoint.ReasonInvalid, checkpoint.ReasonOf(err))
	replayed := answering(t, 200, string(s.Token))
	_, err = checkpoint.NewAuthority("tsa", replayed.URL, replayed.Client(), a.Roots).Attest(t.Context(), c, nil)
	require.ErrorContains(t, err, "is to another request", "an answer of before has another nonce")
	rubbish := answering(t, 200, "rubbish")
	_, err = checkpoint.NewAuthority("tsa", rubbish.URL, rubbish.Client(), a.Roots).Attest(t.Context(), c, nil)
	assert.Equal(t, checkpoint.ReasonInvalid, checkpoint.ReasonOf(err))
	refusing := answering(t, 503, "")
	_, err = checkpoint.NewAuthority("tsa", refusing.URL, refusing.Client(), a.Roots).Attest(t.Context(), c, nil)
	assert.Equal(t, checkpoint.ReasonRefused, checkpoint.ReasonOf(err))
}

func TestAServerThatHangsTimesOut(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := checkpoint.NewWitness("w", s.URL, s.Client(), checkpointtest.NewWitness(t, "witness.example").Key).Attest(ctx, checkpointOf(t, 1, "a"), noProof)
	assert.Equal(t, checkpoint.ReasonTimeout, checkpoint.ReasonOf(err))
}

func TestADirectoryReplacesNothing(t *testing.T) {
	path := t.TempDir()
	d := checkpoint.NewDirectory("offsite", path, durable.OS{})
	none, err := d.Latest(t.Context(), "jrn_test")
	require.NoError(t, err)
	assert.Nil(t, none)
	for size := range uint64(3) {
		a := checkpoint.Attested{Checkpoint: checkpointOf(t, size+9, "a"), Tokens: []checkpoint.Token{{Authority: "timestamp/x", Response: []byte("token")}}}
		require.NoError(t, d.Put(t.Context(), a))
		require.NoError(t, d.Put(t.Context(), a), "the same bytes again")
	}
	latest, err := d.Latest(t.Context(), "jrn_test")
	require.NoError(t, err)
	assert.EqualValues(t, 11, latest.Size)
	_, err = os.Stat(filepath.Join(path, "jrn_test", "00000000000000000011.timestamp%2Fx.tsr"))
	require.NoError(t, err)

	err = d.Put(t.Context(), checkpoint.Attested{Checkpoint: checkpointOf(t, 11, "b")})
	require.ErrorIs(t, err, checkpoint.ErrConflict)
	again, err := d.Latest(t.Context(), "jrn_test")
	require.NoError(t, err)
	assert.Equal(t, latest.Note, again.Note)

	require.NoError(t, os.WriteFile(filepath.Join(path, "jrn_test", "00000000000000000012.checkpoint"), latest.Note, 0o600))
	_, err = d.Latest(t.Context(), "jrn_test")
	require.ErrorContains(t, err, "is not the checkpoint that its name says")
	require.NoError(t, os.RemoveAll(path))
	_, err = d.Latest(t.Context(), "jrn_test")
	assert.Equal(t, checkpoint.ReasonUnreachable, checkpoint.ReasonOf(err))
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist, "what is not mounted is not made")
}
