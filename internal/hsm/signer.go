// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package hsm

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/pkcs11"

	"github.com/readtrail/readtrail/journal"
)

const (
	// maxSessions bounds the sessions of one key, and so its signatures at a time.
	maxSessions = 8
	// patience is how long a signature may take. A call of a token cannot be taken
	// back; until it returns it keeps its session.
	patience = 10 * time.Second
	// openPatience is how long finding the key may take.
	openPatience = 30 * time.Second
)

// signer signs with a key of a token.
type signer struct {
	config   Config
	module   *module
	id       string
	public   ed25519.PublicKey
	patience time.Duration
	// turns bounds the sessions, idle holds those that nobody uses.
	turns chan struct{}

	closed atomic.Bool

	mu   sync.Mutex
	idle []session
}

var (
	errSilent = errors.New("token does not answer")
	errClosed = errors.New("signer is closed")
	errKey    = errors.New("token holds another key under that name than before; put the former one back, or restart with the new one")
	errForged = errors.New("token gave a signature that does not verify; have it examined")
)

// Open finds the key and proves with a signature that the private half fits the
// public one. It gives up on a token that does not answer.
func Open(c Config) (Signer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	type result struct {
		signer *signer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		s, err := open(c)
		done <- result{s, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, r.err
		}
		return r.signer, nil
	case <-time.After(openPatience):
		go func() {
			if r := <-done; r.signer != nil {
				_ = r.signer.Close() // nobody waits for it any more
			}
		}()
		return nil, fmt.Errorf("PKCS#11 %s, %s: %w", c.token(), c.key(), errSilent)
	}
}

func open(c Config) (*signer, error) {
	m, err := useModule(c.Module)
	if err != nil {
		return nil, err
	}
	s := &signer{config: c, module: m, patience: patience, turns: make(chan struct{}, maxSessions)}
	if err := s.begin(); err != nil {
		return nil, errors.Join(s.wrap(err), s.Close())
	}
	return s, nil
}

func (s *signer) begin() error {
	opened, err := s.open()
	if err != nil {
		return err
	}
	s.release(opened)
	_, err = s.sign([]byte("readtrail/key/v1\n"))
	return err
}

// KeyID implements journal.Signer.
func (s *signer) KeyID() string { return s.id }

// PublicKey implements journal.Signer.
func (s *signer) PublicKey() ed25519.PublicKey { return s.public }

// Sign implements journal.Signer. Every error passes if the token comes back: the
// next call looks for it anew.
func (s *signer) Sign(message []byte) ([]byte, error) {
	type result struct {
		signature []byte
		err       error
	}
	if s.closed.Load() {
		return nil, s.wrap(errClosed)
	}
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case s.turns <- struct{}{}:
	case <-timer.C:
		return nil, s.wrap(errSilent)
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-s.turns }()
		signature, err := s.sign(message)
		done <- result{signature, err}
	}()
	select {
	case r := <-done:
		return r.signature, s.wrap(r.err)
	case <-timer.C:
		return nil, s.wrap(errSilent)
	}
}

// sign signs in an idle session, and in a new one if that was lost.
func (s *signer) sign(message []byte) ([]byte, error) {
	used, found := s.take()
	if found {
		signature, err := s.signIn(used, message)
		if err == nil || !lost(err) {
			s.release(used)
			return signature, err
		}
		s.drop(used)
	}
	used, err := s.open()
	if err != nil {
		return nil, err
	}
	signature, err := s.signIn(used, message)
	if err != nil {
		s.drop(used)
		return nil, err
	}
	s.release(used)
	return signature, nil
}

// signIn signs in a session. What does not verify never leaves here: it would
// break the journal for good.
func (s *signer) signIn(in session, message []byte) ([]byte, error) {
	s.module.calls.RLock()
	defer s.module.calls.RUnlock()
	if err := s.module.lib.SignInit(in.handle, []*pkcs11.Mechanism{pkcs11.NewMechanism(mechanismEdDSA, nil)}, in.key); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	signature, err := s.module.lib.Sign(in.handle, message)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if !ed25519.Verify(s.public, message, signature) {
		return nil, errForged
	}
	return signature, nil
}

// open opens a session, if need be after the library was started again.
func (s *signer) open() (session, error) {
	opened, err := s.openOnce()
	switch {
	case is(err, pkcs11.CKR_CRYPTOKI_NOT_INITIALIZED):
		if err := s.module.initialize(); err != nil {
			return session{}, err
		}
	case !lost(err) || !s.module.restart(time.Now()):
		return opened, err
	}
	return s.openOnce()
}

// openOnce opens a session in which the key is found, and makes sure that it is
// the one that it was.
func (s *signer) openOnce() (opened session, err error) {
	s.module.calls.RLock()
	defer s.module.calls.RUnlock()
	if opened.handle, err = s.module.login(&s.config, 0); err != nil {
		return session{}, err
	}
	if opened.key, err = s.module.find(&s.config, opened.handle, pkcs11.CKO_PRIVATE_KEY); err == nil {
		err = s.identify(opened.handle)
	}
	if err != nil {
		_ = s.module.lib.CloseSession(opened.handle)
		return session{}, err
	}
	return opened, nil
}

func (s *signer) identify(handle pkcs11.SessionHandle) error {
	public, err := s.module.publicKey(&s.config, handle)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.public == nil {
		s.public, s.id = public, journal.KeyID(public)
	}
	if !s.public.Equal(public) {
		return errKey
	}
	return nil
}

func (s *signer) take() (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) == 0 {
		return session{}, false
	}
	last := len(s.idle) - 1
	taken := s.idle[last]
	s.idle = s.idle[:last]
	return taken, true
}

// release keeps a session for the next signature.
func (s *signer) release(used session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, used)
}

// drop closes a session that is of no more use.
func (s *signer) drop(used session) {
	s.module.calls.RLock()
	defer s.module.calls.RUnlock()
	_ = s.module.lib.CloseSession(used.handle) // it may be lost already
}

// Close waits for the signatures that were begun and closes the sessions, and the
// module if no other key uses it. It does not wait for ever for a token that hangs:
// then its sessions stay open until the process ends.
func (s *signer) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	for range maxSessions {
		select {
		case s.turns <- struct{}{}:
		case <-timer.C:
			return s.wrap(errSilent)
		}
	}
	for used, found := s.take(); found; used, found = s.take() {
		s.drop(used)
	}
	return s.module.leave()
}

// wrap says which token and key an error is about.
func (s *signer) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("PKCS#11 %s, %s: %w", s.config.token(), s.config.key(), err)
}

// lost reports whether an error means that the token, the session or the login is
// gone, so that a new session may help.
func lost(err error) bool {
	return is(
		err, pkcs11.CKR_SESSION_HANDLE_INVALID, pkcs11.CKR_SESSION_CLOSED, pkcs11.CKR_USER_NOT_LOGGED_IN,
		pkcs11.CKR_OBJECT_HANDLE_INVALID, pkcs11.CKR_KEY_HANDLE_INVALID, pkcs11.CKR_TOKEN_NOT_PRESENT, pkcs11.CKR_TOKEN_NOT_RECOGNIZED,
		pkcs11.CKR_DEVICE_REMOVED, pkcs11.CKR_DEVICE_ERROR, pkcs11.CKR_DEVICE_MEMORY, pkcs11.CKR_GENERAL_ERROR, pkcs11.CKR_FUNCTION_FAILED,
		pkcs11.CKR_SLOT_ID_INVALID, pkcs11.CKR_CRYPTOKI_NOT_INITIALIZED,
	)
}
