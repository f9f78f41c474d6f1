// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/evidence"
)

func TestWithoutTheIdentityNothingIsReadAndNothingIsValid(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := copyOf("content")
	put(t, openStore(t, fs, kyc(t, identity)), c)
	for name, r := range map[string]*evidence.Reader{"none": readerOf(fs), "another": readerOf(fs, newIdentity(t))} {
		got, err := get(t, r, c)
		require.ErrorIs(t, err, evidence.ErrSealed, name)
		require.ErrorContains(t, err, strings.TrimPrefix(nameOf(c), root+"/"), "the object is named")
		assert.Empty(t, got)
		require.ErrorIs(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, c)), evidence.ErrSealed)
	}
	require.NoError(t, readerOf(fs, newIdentity(t), identity).Check(t.Context(), "bank", "kyc", digestOf(t, c)))
}

func TestACopyThatIsNotThereIsMissing(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	put(t, openStore(t, fs, kyc(t, identity)), copyOf("content"))
	r := readerOf(fs, identity)
	_, err := get(t, r, copyOf("another"))
	require.ErrorIs(t, err, evidence.ErrMissing)
	require.ErrorContains(t, err, copyOf("another").Digest)
	for _, scope := range [][2]string{{"bank", "other"}, {"other", "kyc"}} {
		require.ErrorIs(t, r.Check(t.Context(), scope[0], scope[1], digestOf(t, copyOf("content"))), evidence.ErrMissing)
	}
	require.NoError(t, r.Check(t.Context(), "", "", digestOf(t, copyOf("content"))), "anywhere")
}

// Also a bit of the part that says to whom the object is encrypted, which by
// itself looks like an object for somebody else.
func TestAFlippedBitIsNamedWhereverItIs(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := copyOf("content")
	put(t, openStore(t, fs, kyc(t, identity)), c)
	object, r := fs.Bytes(nameOf(c)), readerOf(fs, newIdentity(t), identity)
	for i := 0; i < len(object)*8; i += 7 { // one in each byte, in turn
		flipped := bytes.Clone(object)
		flipped[i/8] ^= 1 << (i % 8)
		fs.Put(nameOf(c), flipped)
		got, err := get(t, r, c)
		require.ErrorIs(t, err, evidence.ErrDamaged, "bit %d", i)
		require.ErrorContains(t, err, strings.TrimPrefix(nameOf(c), root+"/"))
		require.Empty(t, got)
		require.ErrorIs(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, c)), evidence.ErrDamaged)
	}
	for n := range object {
		fs.Put(nameOf(c), object[:n])
		_, err := get(t, r, c)
		require.ErrorIs(t, err, evidence.ErrDamaged, "cut to %d bytes", n)
	}
	fs.Put(nameOf(c), append(bytes.Clone(object), 0))
	_, err := get(t, r, c)
	require.ErrorIs(t, err, evidence.ErrDamaged)
}

func TestAnObjectThatSomebodyElseEncryptedIsAMismatch(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c, other := copyOf("content"), copyOf("other content")
	put(t, openStore(t, fs, kyc(t, identity)), c, other)
	fs.Put(nameOf(c), fs.Bytes(nameOf(other)))
	r := readerOf(fs, identity)
	got, err := get(t, r, c)
	require.ErrorIs(t, err, evidence.ErrMismatch)
	assert.Empty(t, got)
	require.ErrorIs(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, c)), evidence.ErrMismatch)
}

func TestAKeyedDigestNeedsItsKey(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := keyedCopyOf("content", "k1", secretOf("secret"))
	put(t, openStore(t, fs, kyc(t, identity)), c)
	r := readerOf(fs, identity)
	for name, test := range map[string]struct {
		keys map[string]*content.Key
		want error
	}{
		"no key":          {nil, evidence.ErrNoKey},
		"another key":     {keys(t, "k2", "secret"), evidence.ErrNoKey},
		"the wrong bytes": {keys(t, "k1", "other"), evidence.ErrMismatch},
		"the key":         {keys(t, "k1", "secret"), nil},
	} {
		r.Keys = test.keys
		got, err := get(t, r, c)
		require.ErrorIs(t, err, test.want, name)
		require.ErrorIs(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, c)), test.want, name)
		if test.want != nil {
			assert.Empty(t, got, name)
		}
		if errors.Is(test.want, evidence.ErrMismatch) {
			assert.ErrorContains(t, err, `or the key given as "k1" is another one`, "who gave the wrong key must not think that the store was changed")
		}
	}
}

func TestAllSetsAreSearchedAndDamageInOneIsToldBesideTheOther(t *testing.T) {
	fs, old, current := crashfs.New(1), newIdentity(t), newIdentity(t)
	place, err := evidence.OpenLocal(fs, root)
	require.NoError(t, err)
	c := copyOf("content")
	for name, identity := range map[string]*age.X25519Identity{"2026": old, "2027": current} {
		store, err := evidence.NewStore(t.Context(), place, []evidence.Set{{Class: "kyc", Name: name, Recipients: recipients(t, identity)}})
		require.NoError(t, err)
		put(t, store, c)
	}
	d := digestOf(t, c)
	require.NoError(t, readerOf(fs, old).Check(t.Context(), "bank", "kyc", d))
	require.NoError(t, readerOf(fs, current).Check(t.Context(), "bank", "kyc", d))

	object := fs.Bytes(nameOf(c))
	object[len(object)-1] ^= 1
	fs.Put(nameOf(c), object)
	r := readerOf(fs, old, current)
	require.ErrorIs(t, r.Check(t.Context(), "bank", "kyc", d), evidence.ErrDamaged)
	got, err := get(t, r, c)
	require.NoError(t, err, "the other set still gives the content")
	assert.Equal(t, "content", got)
	require.NoError(t, readerOf(fs, current).Check(t.Context(), "bank", "kyc", d), "nobody can tell of what nobody can open")
}

func TestADiskThatFailsIsNotTakenForDamage(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := copyOf("content")
	put(t, openStore(t, fs, kyc(t, identity)), c)
	r := readerOf(fs, identity)
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpRead {
			return crashfs.Fault{Err: syscall.EIO}
		}
		return crashfs.Fault{}
	})
	err := r.Check(t.Context(), "bank", "kyc", digestOf(t, c))
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, evidence.ErrDamaged)
	fs.SetFaults(nil)
	_, err = r.Get(t.Context(), "bank", "kyc", digestOf(t, c), fullWriter{})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NotErrorIs(t, err, evidence.ErrDamaged)
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestErrorsAboutAnIdentityFileNeverRepeatIt(t *testing.T) {
	identity := newIdentity(t)
	read, err := evidence.ReadIdentities(strings.NewReader("# created: today\n# public key: " + identity.Recipient().String() + "\n" + identity.String() + "\n"))
	require.NoError(t, err)
	require.Len(t, read, 1)
	for text, want := range map[string]string{
		"AGE-SECRET-KEY-1CANARY": "holds no age identity",
		"CANARY":                 "holds no age identity",
		"":                       "holds no age identity",
		"age-encryption.org/v1\n-> scrypt CANARY 18":    "is encrypted with a passphrase",
		"-----BEGIN AGE ENCRYPTED FILE-----\nCANARY...": "is encrypted with a passphrase",
	} {
		_, err := evidence.ReadIdentities(strings.NewReader(text))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "CANARY")
	}
}

// FuzzAHostileObject opens whatever somebody wrote into a store.
func FuzzAHostileObject(f *testing.F) {
	fs, identity := crashfs.New(1), newIdentity(f)
	c := copyOf("content")
	put(f, openStore(f, fs, kyc(f, identity)), c)
	f.Add(fs.Bytes(nameOf(c)))
	f.Add([]byte("age-encryption.org/v1\n-> X25519 \n\n---"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, object []byte) {
		fs.Put(nameOf(c), object)
		var out bytes.Buffer
		_, err := readerOf(fs, identity).Get(t.Context(), "bank", "kyc", digestOf(t, c), &out)
		if err == nil {
			require.Equal(t, "content", out.String())
			return
		}
		require.Empty(t, out.Bytes())
		require.True(t, errors.Is(err, evidence.ErrDamaged) || errors.Is(err, evidence.ErrMismatch) || errors.Is(err, evidence.ErrSealed), err)
	})
}

func FuzzParseDigest(f *testing.F) {
	f.Add(copyOf("a").Digest)
	f.Add("hmac-sha256:k-1:" + strings.Repeat("0f", 32))
	f.Add("hmac-sha256::")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := evidence.ParseDigest(s); err == nil {
			require.Equal(t, s, d.String())
		}
	})
}

func TestALargeObjectIsStreamed(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	c := copyOf(strings.Repeat("0123456789abcdef", 1<<19)) // 8 MiB
	put(t, openStore(t, fs, kyc(t, identity)), c)
	r, d := readerOf(fs, identity), digestOf(t, c)
	var largest int
	_, err := r.Get(t.Context(), "bank", "kyc", d, writerFunc(func(p []byte) { largest = max(largest, len(p)) }))
	require.NoError(t, err)
	assert.LessOrEqual(t, largest, 64<<10)
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
