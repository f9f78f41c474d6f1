// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package hsm

import (
	"crypto/ed25519"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/readtrail/readtrail/internal/hsm/softhsm"
	"github.com/readtrail/readtrail/journal"
)

// trouble stands before a real library. Its functions, if set, are asked first.
type trouble struct {
	cryptoki
	mu     sync.Mutex
	sign   func() error
	logins int
}

func (l *trouble) set(sign func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sign = sign
}

func (l *trouble) Login(s pkcs11.SessionHandle, userType uint, pin string) error {
	l.mu.Lock()
	l.logins++
	l.mu.Unlock()
	return l.cryptoki.Login(s, userType, pin)
}

func (l *trouble) Sign(s pkcs11.SessionHandle, message []byte) ([]byte, error) {
	l.mu.Lock()
	fails := l.sign
	l.mu.Unlock()
	if fails != nil {
		if err := fails(); err != nil {
			return nil, err
		}
	}
	return l.cryptoki.Sign(s, message)
}

// newToken makes a token with a key and the library with trouble before it.
func newToken(t testing.TB) (Config, ed25519.PublicKey, *trouble) {
	t.Helper()
	token := softhsm.New(t)
	before := &trouble{}
	original := load
	load = func(path string) cryptoki {
		before.cryptoki = original(path)
		return before
	}
	modulesMu.Lock()
	delete(modules, token.Module)
	modulesMu.Unlock()
	t.Cleanup(func() {
		load = original
		modulesMu.Lock()
		defer modulesMu.Unlock()
		assert.Zero(t, modules[token.Module].users, "the module is left as it was found")
		delete(modules, token.Module)
	})
	c := Config{Module: token.Module, TokenLabel: softhsm.Label, KeyLabel: "journal-1", PIN: fixed(softhsm.PIN)}
	var public ed25519.PublicKey
	require.NoError(t, Generate(c, func(made ed25519.PublicKey) error {
		public = made
		return nil
	}))
	return c, public, before
}

func fixed(pin configopaque.String) PINSource {
	return func() (configopaque.String, error) { return pin, nil }
}

func openKey(t *testing.T, c Config) *signer {
	t.Helper()
	s, err := Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s.(*signer)
}

func requireSigns(t *testing.T, s journal.Signer, message string) {
	t.Helper()
	signature, err := s.Sign([]byte(message))
	require.NoError(t, err)
	require.True(t, ed25519.Verify(s.PublicKey(), []byte(message), signature))
}

func TestATokenSignsAsEd25519Does(t *testing.T) {
	c, public, _ := newToken(t)
	s := openKey(t, c)
	assert.Equal(t, public, s.PublicKey())
	assert.Equal(t, journal.KeyID(public), s.KeyID())
	for _, message := range []string{"m", "a message of any length", string(make([]byte, 5000))} {
		requireSigns(t, s, message)
	}
	var all sync.WaitGroup
	for range 4 * maxSessions {
		all.Go(func() {
			_, err := s.Sign([]byte("at the same time"))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	assert.LessOrEqual(t, len(s.idle), maxSessions)
}

func TestTwoKeysOfOneTokenSignBesideEachOther(t *testing.T) {
	c, _, _ := newToken(t)
	other := c
	other.KeyLabel = "journal-2"
	require.NoError(t, Generate(other, func(ed25519.PublicKey) error { return nil }))
	first, second := openKey(t, c), openKey(t, other)
	requireSigns(t, first, "m")
	requireSigns(t, second, "m")
	assert.NotEqual(t, first.KeyID(), second.KeyID())
}

// A private key that could be read would not be in hardware.
func TestAKeyMadeInATokenCannotBeReadOutOfIt(t *testing.T) {
	c, _, before := newToken(t)
	s := openKey(t, c)
	in, found := s.take()
	require.True(t, found)
	defer s.release(in)
	values, err := before.cryptoki.(*pkcs11.Ctx).GetAttributeValue(in.handle, in.key, []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, nil), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, nil),
	})
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, values[0].Value)
	assert.Equal(t, []byte{0}, values[1].Value)
	_, err = before.cryptoki.GetAttributeValue(in.handle, in.key, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_VALUE, nil)})
	require.ErrorIs(t, err, pkcs11.Error(pkcs11.CKR_ATTRIBUTE_SENSITIVE))
}

func TestALostTokenIsTakenUpAgain(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *trouble){
		"its sessions were closed": func(t *testing.T, l *trouble) {
			ctx := l.cryptoki.(*pkcs11.Ctx)
			slots, err := ctx.GetSlotList(true)
			require.NoError(t, err)
			require.NoError(t, ctx.CloseAllSessions(slots[0]))
		},
		"its library was finalized": func(t *testing.T, l *trouble) { require.NoError(t, l.Finalize()) },
		"its library was started anew": func(t *testing.T, l *trouble) {
			require.NoError(t, l.Finalize())
			require.NoError(t, l.Initialize())
		},
		"one call failed": func(_ *testing.T, l *trouble) {
			l.set(func() error {
				l.set(nil)
				return pkcs11.Error(pkcs11.CKR_DEVICE_REMOVED)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, before := newToken(t)
			s := openKey(t, c)
			requireSigns(t, s, "before")
			lose(t, before)
			requireSigns(t, s, "after")
		})
	}
}

func TestATokenThatIsAwayIsAnErrorUntilItIsBack(t *testing.T) {
	c, _, before := newToken(t)
	s := openKey(t, c)
	before.set(func() error { return pkcs11.Error(pkcs11.CKR_DEVICE_REMOVED) })
	for range 3 {
		_, err := s.Sign([]byte("m"))
		require.ErrorIs(t, err, pkcs11.Error(pkcs11.CKR_DEVICE_REMOVED))
		require.ErrorContains(t, err, `PKCS#11 token "readtrail-test", key "journal-1": sign: `)
		require.NotContains(t, err.Error(), "\n")
	}
	before.set(nil)
	requireSigns(t, s, "m")
}

// A token whose files are gone, as a network HSM's partition may be, is found again
// by starting the library anew.
func TestATokenThatWasRemovedIsFoundAgain(t *testing.T) {
	c, _, before := newToken(t)
	s := openKey(t, c)
	conf := os.Getenv("SOFTHSM2_CONF")
	tokens := filepath.Join(filepath.Dir(conf), "tokens")
	require.NoError(t, os.Rename(tokens, tokens+".away"))
	require.NoError(t, os.Mkdir(tokens, 0o700))
	require.NoError(t, before.Finalize())
	_, err := s.Sign([]byte("m"))
	require.ErrorIs(t, err, pkcs11.Error(pkcs11.CKR_TOKEN_NOT_PRESENT))
	require.ErrorContains(t, err, "no token has that label, connect it or correct the label")
	require.NoError(t, os.Remove(tokens))
	require.NoError(t, os.Rename(tokens+".away", tokens))
	s.module.calls.Lock()
	s.module.restarted = time.Time{} // as if the interval had passed
	s.module.calls.Unlock()
	requireSigns(t, s, "m")
}

func TestATokenThatHangsIsGivenUpAndDoesNotBlockClose(t *testing.T) {
	c, _, before := newToken(t)
	opened, err := Open(c)
	require.NoError(t, err)
	s := opened.(*signer)
	s.patience = 50 * time.Millisecond
	hang := make(chan struct{})
	before.set(func() error {
		<-hang
		return nil
	})
	for range maxSessions + 1 {
		_, err := s.Sign([]byte("m"))
		require.ErrorIs(t, err, errSilent)
	}
	require.ErrorIs(t, s.Close(), errSilent)
	_, err = s.Sign([]byte("m"))
	require.ErrorIs(t, err, errClosed)
	close(hang)
	for range maxSessions {
		s.turns <- struct{}{} // the calls that hung have returned
		<-s.turns
	}
	require.NoError(t, s.module.leave())
}

func TestAWrongPINIsShownOnce(t *testing.T) {
	c, _, before := newToken(t)
	pin := configopaque.String("0000-wrong")
	c.PIN = func() (configopaque.String, error) { return pin, nil }
	before.logins = 0
	for range 5 {
		_, err := Open(c)
		require.ErrorIs(t, err, ErrPIN)
		require.NotContains(t, err.Error(), string(pin))
	}
	assert.Equal(t, 1, before.logins, "a token locks itself after a few wrong PINs")
	pin = softhsm.PIN
	requireSigns(t, openKey(t, c), "m")
}

func TestASignatureThatDoesNotVerifyNeverLeaves(t *testing.T) {
	c, _, _ := newToken(t)
	s := openKey(t, c)
	other, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	s.public = other
	_, err = s.Sign([]byte("m"))
	require.ErrorIs(t, err, errForged)
	// The session is dropped with the next signature, and the token is looked at anew.
	s.idle = nil
	_, err = s.Sign([]byte("m"))
	require.ErrorIs(t, err, errKey)
}

func TestAKeyIsFoundByLabelOrIDAndMustBeTheOnlyOne(t *testing.T) {
	c, public, _ := newToken(t)
	twin := c
	twin.KeyLabel, twin.KeyID = "twin", []byte{1}
	var second ed25519.PublicKey
	require.NoError(t, Generate(twin, func(made ed25519.PublicKey) error {
		second = made
		return nil
	}))
	byID := c
	byID.KeyLabel, byID.KeyID = "", []byte{1}
	assert.Equal(t, second, openKey(t, byID).PublicKey())
	assert.NotEqual(t, public, second)

	require.ErrorContains(t, Generate(c, func(ed25519.PublicKey) error { return nil }),
		`key "journal-1": it exists already and is never overwritten; choose another label`)
	missing := c
	missing.KeyLabel = "absent"
	_, err := Open(missing)
	require.ErrorContains(t, err, `PKCS#11 token "readtrail-test", key "absent": it has no such Ed25519 key`)
	missing = c
	missing.TokenLabel = "absent"
	_, err = Open(missing)
	require.ErrorIs(t, err, pkcs11.Error(pkcs11.CKR_TOKEN_NOT_PRESENT))
}

// What another program made is used too: OpenSC's pkcs11-tool is one.
func TestAKeyThatAnotherProgramMadeSigns(t *testing.T) {
	tool, err := exec.LookPath("pkcs11-tool")
	if err != nil {
		t.Skip("pkcs11-tool is not on this machine: make test-deps installs it (Debian package opensc)")
	}
	c, _, _ := newToken(t)
	out, err := exec.Command(tool, "--module", c.Module, "--token-label", softhsm.Label, "--login", "--pin", softhsm.PIN,
		"--keypairgen", "--key-type", "EC:edwards25519", "--label", "theirs", "--id", "02").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(tool, "--module", c.Module, "--token-label", softhsm.Label, "--login", "--pin", softhsm.PIN,
		"--keypairgen", "--key-type", "EC:edwards25519", "--label", "theirs", "--id", "03").CombinedOutput()
	require.NoError(t, err, "%s", out)
	c.KeyLabel = "theirs"
	_, err = Open(c)
	require.ErrorContains(t, err, `more than one is called key "theirs"; name it by key_id too`)
	c.KeyID = []byte{2}
	requireSigns(t, openKey(t, c), "m")
}

func TestAPairThatCannotBeRegisteredIsDestroyed(t *testing.T) {
	c, _, _ := newToken(t)
	c.KeyLabel = "unregistered"
	refused := errors.New("disk is full")
	require.ErrorIs(t, Generate(c, func(ed25519.PublicKey) error { return refused }), refused)
	_, err := Open(c)
	require.ErrorIs(t, err, errNoKey)
}

// FuzzPoint holds that whatever a token shows is a key of 32 bytes or refused.
func FuzzPoint(f *testing.F) {
	public, _, err := ed25519.GenerateKey(nil)
	require.NoError(f, err)
	f.Add([]byte(public))
	f.Add(append([]byte{pointTag, ed25519.PublicKeySize}, public...))
	f.Add([]byte{pointTag, ed25519.PublicKeySize})
	f.Fuzz(func(t *testing.T, point []byte) {
		key, err := parsePoint(point)
		if err != nil {
			return
		}
		require.Len(t, key, ed25519.PublicKeySize)
		require.Equal(t, []byte(key), point[len(point)-ed25519.PublicKeySize:])
		require.LessOrEqual(t, len(point), ed25519.PublicKeySize+2)
	})
}

// BenchmarkSign shows what SoftHSM and the check of each signature cost beside a
// signature in memory.
func BenchmarkSign(b *testing.B) {
	message := make([]byte, 32)
	b.Run("memory", func(b *testing.B) {
		_, private, err := ed25519.GenerateKey(nil)
		require.NoError(b, err)
		for b.Loop() {
			ed25519.Sign(private, message)
		}
	})
	b.Run("token", func(b *testing.B) {
		c, _, _ := newToken(b)
		s, err := Open(c)
		require.NoError(b, err)
		defer s.Close()
		for b.Loop() {
			_, err := s.Sign(message)
			require.NoError(b, err)
		}
	})
}
