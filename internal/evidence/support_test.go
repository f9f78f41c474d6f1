// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

const root = "/evidence"

func newIdentity(t testing.TB) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return identity
}

func recipients(t testing.TB, identities ...*age.X25519Identity) evidence.Recipients {
	t.Helper()
	var keys []string
	for _, i := range identities {
		keys = append(keys, i.Recipient().String())
	}
	r, err := evidence.NewRecipients(keys)
	require.NoError(t, err)
	return r
}

// kyc is the set that most tests use.
func kyc(t testing.TB, identity *age.X25519Identity) []evidence.Set {
	t.Helper()
	return []evidence.Set{{Class: "kyc", Name: "2026", Recipients: recipients(t, identity)}}
}

func copyOf(text string) carrier.Copy {
	return carrier.Copy{Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), Content: []byte(text)}
}

func keyedCopyOf(text, keyID string, key []byte) carrier.Copy {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return carrier.Copy{Digest: fmt.Sprintf("hmac-sha256:%s:%x", keyID, mac.Sum(nil)), Content: []byte(text)}
}

// secretOf makes a secret that is long enough for a key.
func secretOf(text string) []byte { return []byte(strings.Repeat(text, 32)) }

// keys returns the key with an id that a text makes.
func keys(t testing.TB, id, text string) map[string]*content.Key {
	t.Helper()
	key, err := content.NewKey(id, secretOf(text))
	require.NoError(t, err)
	return map[string]*content.Key{id: key}
}

func digestOf(t testing.TB, c carrier.Copy) content.ParsedDigest {
	t.Helper()
	d, err := content.ParseDigest(c.Digest)
	require.NoError(t, err)
	require.Equal(t, c.Digest, d.String())
	return d
}

// openStore opens a store in root, for the length of the test.
func openStore(t testing.TB, fs durable.FS, sets []evidence.Set) *evidence.Store {
	t.Helper()
	place, err := evidence.OpenLocal(fs, root)
	require.NoError(t, err)
	t.Cleanup(func() { _ = place.Close() })
	store, err := evidence.NewStore(t.Context(), place, sets)
	require.NoError(t, err)
	return store
}

func put(t testing.TB, store *evidence.Store, copies ...carrier.Copy) evidence.Tally {
	t.Helper()
	tally, err := store.Put(t.Context(), "bank", "kyc", copies)
	require.NoError(t, err)
	return tally
}

func readerOf(fs durable.FS, identities ...*age.X25519Identity) *evidence.Reader {
	r := &evidence.Reader{Places: []evidence.Reading{evidence.Directory{FS: fs, Root: root}}}
	for _, i := range identities {
		r.Identities = append(r.Identities, i)
	}
	return r
}

// get returns the content that the reader finds for a copy.
func get(t testing.TB, r *evidence.Reader, c carrier.Copy) (string, error) {
	t.Helper()
	var out bytes.Buffer
	_, err := r.Get(t.Context(), "bank", "kyc", digestOf(t, c), &out)
	return out.String(), err
}

// nameOf returns the name of the object of a plain copy in the set of kyc.
func nameOf(c carrier.Copy) string {
	digits := c.Digest[len("sha256:"):]
	return root + "/bank/kyc/2026/sha256/" + digits[:2] + "/" + digits + ".age"
}
