// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/evidence"
)

func TestAnObjectIsAnAgeFileUnderItsDigest(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := copyOf(`{"iban":"CANARY-1"}`)
	tally := put(t, openStore(t, fs, kyc(t, identity)), c)

	object := fs.Bytes(nameOf(c))
	require.NotEmpty(t, object)
	assert.NotContains(t, string(object), "CANARY")
	assert.Equal(t, evidence.Tally{Stored: 1, Bytes: int64(len(object))}, tally)
	plain, err := age.Decrypt(bytes.NewReader(object), identity)
	require.NoError(t, err)
	content, err := io.ReadAll(plain)
	require.NoError(t, err)
	assert.Equal(t, string(c.Content), string(content))
	assert.Equal(t, "# Whoever holds the identity of one of these public keys can open the objects of this set.\n"+
		identity.Recipient().String()+"\n", string(fs.Bytes(root+"/bank/kyc/2026/recipients.txt")))
}

func TestNamesStayInTheirPlace(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	sets := []evidence.Set{{Class: "..", Name: "a/b", Recipients: recipients(t, identity)}}
	c := keyedCopyOf("x", "..", []byte("key"))
	_, err := openStore(t, fs, sets).Put(t.Context(), "Größe 1", "..", []carrier.Copy{c})
	require.NoError(t, err)
	digits := c.Digest[strings.LastIndex(c.Digest, ":")+1:]
	assert.NotEmpty(t, fs.Bytes(root+"/Gr%C3%B6%C3%9Fe%201/%2E./a%2Fb/hmac-sha256.../"+digits[:2]+"/"+digits+".age"))
}

func TestWhatIsThereIsLeftAloneAndWhatIsNotWholeIsWrittenAgain(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	store := openStore(t, fs, kyc(t, identity))
	c := copyOf("content")
	put(t, store, c, c)
	first := fs.Bytes(nameOf(c))
	assert.Equal(t, evidence.Tally{Repeats: 1}, put(t, store, c))
	assert.Equal(t, first, fs.Bytes(nameOf(c)))

	for _, left := range [][]byte{nil, first[:len(first)-1]} {
		fs.Put(nameOf(c), left)
		assert.EqualValues(t, 1, put(t, store, c).Stored)
		got, err := get(t, readerOf(fs, identity), c)
		require.NoError(t, err)
		assert.Equal(t, "content", got)
	}
}

func TestACopyThatIsNotWhatItsDigestSaysIsRefused(t *testing.T) {
	store := openStore(t, crashfs.New(1), kyc(t, newIdentity(t)))
	for name, c := range map[string]struct {
		copy carrier.Copy
		want string
	}{
		"other bytes":      {carrier.Copy{Digest: copyOf("a").Digest, Content: []byte("CANARY-b")}, "has another digest"},
		"no digest":        {carrier.Copy{Content: []byte("CANARY-b")}, "not a digest"},
		"capital digits":   {carrier.Copy{Digest: "sha256:" + strings.Repeat("AB", 32)}, "not a digest"},
		"a key without id": {carrier.Copy{Digest: "hmac-sha256::" + strings.Repeat("ab", 32)}, "not a digest"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("c"), c.copy})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "CANARY")
		})
	}
}

func TestTheSetInForceIsTaken(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2000+n, 1, 1, 0, 0, 0, 0, time.UTC) }
	r := recipients(t, newIdentity(t))
	sets := []evidence.Set{
		{Class: "kyc", Name: "general", Recipients: r},
		{Class: "kyc", Name: "later", From: day(10), Recipients: r},
		{Class: "kyc", Name: "future", From: day(900), Recipients: r},
		{Class: "kyc", Organization: "bank", Name: "bank-1", From: day(5), Recipients: r},
		{Class: "kyc", Organization: "bank", Name: "bank-2", From: day(901), Recipients: r},
		{Class: "soon", Name: "first", From: day(900), Recipients: r},
	}
	for name, test := range map[string]struct{ organization, class, want string }{
		"the latest of every organization":        {"other", "kyc", "other/kyc/later"},
		"that of the organization if it has one":  {"bank", "kyc", "bank/kyc/bank-1"},
		"none before the first begins":            {"bank", "soon", `no recipients are in force for the retention class "soon" of "bank" before 2900-01-01T00:00:00Z: add a set`},
		"none for a class that nobody configured": {"bank", "none", `there are no recipients for the retention class "none" of "bank": add a set`},
		"none without an organization":            {"", "kyc", "without an organization"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			_, err := openStore(t, fs, sets).Put(t.Context(), test.organization, test.class, []carrier.Copy{copyOf("a")})
			if strings.Contains(test.want, " ") {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			assert.NotEmpty(t, fs.Bytes(root+"/"+test.want+"/recipients.txt"))
		})
	}
}

func TestSetsThatNobodyCouldTellApartAreRefused(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		sets []evidence.Set
		want string
	}{
		"two of one name":                      {[]evidence.Set{{Class: "kyc", Name: "a"}, {Class: "kyc", Name: "a", From: from}}, "are both the set"},
		"of one name, one of an organization":  {[]evidence.Set{{Class: "kyc", Name: "a"}, {Class: "kyc", Name: "a", Organization: "bank"}}, "are both the set"},
		"two that begin together":              {[]evidence.Set{{Class: "kyc", Name: "a", From: from}, {Class: "kyc", Name: "b", From: from.In(time.FixedZone("", 60))}}, "begin at the same time"},
		"of one name in two organizations":     {[]evidence.Set{{Class: "kyc", Name: "a", Organization: "a"}, {Class: "kyc", Name: "a", Organization: "b"}}, ""},
		"of one name in two retention classes": {[]evidence.Set{{Class: "kyc", Name: "a"}, {Class: "treasury", Name: "a"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := evidence.CheckSets(test.sets)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "recipients::0 and recipients::1 ")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestTheKeysOfASetNeverChange(t *testing.T) {
	fs, first, second := crashfs.New(1), newIdentity(t), newIdentity(t)
	place, err := evidence.OpenLocal(fs, root)
	require.NoError(t, err)
	store, err := evidence.NewStore(t.Context(), place, kyc(t, first))
	require.NoError(t, err)
	other, err := evidence.NewStore(t.Context(), place, kyc(t, second))
	require.NoError(t, err)
	put(t, store, copyOf("a"))
	for name, err := range map[string]error{
		"at start": func() error { _, err := evidence.NewStore(t.Context(), place, kyc(t, second)); return err }(),
		"later": func() error {
			_, err := other.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("b")})
			return err
		}(),
	} {
		require.ErrorContains(t, err, `the set "2026" of the retention class "kyc" was begun with other public keys, which stand in bank/kyc/2026/recipients.txt`, name)
	}
	assert.Nil(t, fs.Bytes(nameOf(copyOf("b"))))
}

func TestOnlyPublicKeysAreTakenAndSecretOnesNeverRepeated(t *testing.T) {
	identity := newIdentity(t)
	public, secret := identity.Recipient().String(), identity.String()
	hybrid, err := age.GenerateHybridIdentity()
	require.NoError(t, err)
	for name, test := range map[string]struct {
		text, want string
	}{
		"public keys":                {"# ours\n\n" + public + "\n" + newIdentity(t).Recipient().String() + "\n" + public + "\r\n", ""},
		"a post-quantum key":         {hybrid.Recipient().String(), ""},
		"a secret key":               {secret, "is a secret key"},
		"a secret key in lower case": {strings.ToLower(secret), "is a secret key"},
		"a secret key in a comment":  {public + "\n# " + secret, "line 2 is a secret key"},
		"a secret key with a blank":  {" " + hybrid.String(), "is a secret key"},
		"anything else":              {public + "\nCANARY-x", "line 2 is not the public key of an age identity"},
		"an ssh key":                 {"ssh-ed25519 AAAA", "is not the public key of an age identity"},
		"nothing":                    {"# none", "holds no public key"},
		"kinds that do not mix":      {public + "\n" + hybrid.Recipient().String(), "cannot be used together"},
		"endless lines":              {strings.Repeat("#", 1<<21), "too long"},
		"endless text":               {strings.Repeat("#\n", 1<<20), "has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evidence.ReadRecipients(strings.NewReader(test.text))
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			for _, leaked := range []string{secret[20:40], strings.ToLower(secret[20:40]), hybrid.String()[30:60], "CANARY"} {
				assert.NotContains(t, err.Error(), leaked)
			}
		})
	}
	require.ErrorContains(t, evidence.CheckRecipient(public+"\n"+public), "is not the public key")
	require.NoError(t, evidence.CheckRecipient(public))
}

func TestConcurrentPutsOfTheSameCopiesAllReturnWhenItIsThere(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	store, r := openStore(t, fs, kyc(t, identity)), readerOf(fs, identity)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := store.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a"), copyOf("b"), copyOf("c")})
			if assert.NoError(t, err) {
				assert.NoError(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, copyOf("b"))))
			}
		})
	}
	wg.Wait()
}

func TestWhatWasPutIsWhatIsRead(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	store, r := openStore(t, fs, kyc(t, identity)), readerOf(fs, identity)
	r.Keys = keys(t, "k1", "secret")
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(rt, "content"))
		if rapid.Bool().Draw(rt, "large") { // more than a block of age
			text = strings.Repeat(text+"x", 300)
		}
		for _, c := range []carrier.Copy{copyOf(text), keyedCopyOf(text, "k1", secretOf("secret"))} {
			put(t, store, c)
			require.NoError(rt, r.Check(t.Context(), "", "", digestOf(t, c)))
			got, err := get(t, r, c)
			require.NoError(rt, err)
			require.Equal(rt, text, got)
		}
	})
}
