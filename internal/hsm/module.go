// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package hsm

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/miekg/pkcs11"
)

// cryptoki are the calls of a PKCS#11 module that this package makes.
type cryptoki interface {
	Initialize(opts ...pkcs11.InitializeOption) error
	Finalize() error
	GetSlotList(tokenPresent bool) ([]uint, error)
	GetTokenInfo(slot uint) (pkcs11.TokenInfo, error)
	OpenSession(slot, flags uint) (pkcs11.SessionHandle, error)
	CloseSession(s pkcs11.SessionHandle) error
	Login(s pkcs11.SessionHandle, userType uint, pin string) error
	FindObjectsInit(s pkcs11.SessionHandle, template []*pkcs11.Attribute) error
	FindObjects(s pkcs11.SessionHandle, limit int) ([]pkcs11.ObjectHandle, bool, error)
	FindObjectsFinal(s pkcs11.SessionHandle) error
	GetAttributeValue(s pkcs11.SessionHandle, o pkcs11.ObjectHandle, a []*pkcs11.Attribute) ([]*pkcs11.Attribute, error)
	SignInit(s pkcs11.SessionHandle, m []*pkcs11.Mechanism, o pkcs11.ObjectHandle) error
	Sign(s pkcs11.SessionHandle, message []byte) ([]byte, error)
	GenerateKeyPair(s pkcs11.SessionHandle, m []*pkcs11.Mechanism, public, private []*pkcs11.Attribute) (pkcs11.ObjectHandle, pkcs11.ObjectHandle, error)
	DestroyObject(s pkcs11.SessionHandle, o pkcs11.ObjectHandle) error
}

// module is a PKCS#11 library. A process initializes it once for all who use it,
// and never unloads it: what it started may still run.
type module struct {
	path string
	lib  cryptoki
	// calls is held for reading by every call, and for writing while the library is
	// initialized or finalized, which no other call may overlap.
	calls sync.RWMutex
	// restarted is when the library was last finalized to get a token back; of calls.
	restarted time.Time
	// users counts who uses the module; of modulesMu.
	users int

	mu sync.Mutex
	// refused are the PINs that a token refused.
	refused map[refusal]bool
}

// restartInterval is how often a library is restarted to get a token back.
const restartInterval = 3 * time.Second

var (
	modulesMu sync.Mutex
	modules   = map[string]*module{}
)

// load loads a library; a test may put trouble before it.
var load = func(path string) cryptoki {
	if lib := pkcs11.New(path); lib != nil {
		return lib
	}
	return nil
}

// useModule returns the module at a path, initialized, until leave is called.
func useModule(path string) (*module, error) {
	if _, err := os.Stat(path); err != nil {
		if failure, ok := errors.AsType[*os.PathError](err); ok {
			err = failure.Err
		}
		return nil, fmt.Errorf("PKCS#11 module %s: %w; set module to the path of the token's library, which belongs to its driver", path, err)
	}
	modulesMu.Lock()
	defer modulesMu.Unlock()
	m, loaded := modules[path]
	if !loaded {
		lib := load(path)
		if lib == nil {
			return nil, fmt.Errorf("PKCS#11 module %s: cannot be loaded; name the shared library of the token for this machine", path)
		}
		m = &module{path: path, lib: lib, refused: map[refusal]bool{}}
		modules[path] = m
	}
	if m.users == 0 {
		if err := m.initialize(); err != nil {
			return nil, fmt.Errorf("PKCS#11 module %s: %w", path, err)
		}
	}
	m.users++
	return m, nil
}

// leave finalizes the library once nobody uses it any more.
func (m *module) leave() error {
	modulesMu.Lock()
	defer modulesMu.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	m.calls.Lock()
	defer m.calls.Unlock()
	if err := m.lib.Finalize(); err != nil && !is(err, pkcs11.CKR_CRYPTOKI_NOT_INITIALIZED) {
		return fmt.Errorf("PKCS#11 module %s: %w", m.path, err)
	}
	return nil
}

func (m *module) initialize() error {
	m.calls.Lock()
	defer m.calls.Unlock()
	return m.initializeLocked()
}

func (m *module) initializeLocked() error {
	if err := m.lib.Initialize(); err != nil && !is(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		return fmt.Errorf("initialize: %w", err)
	}
	return nil
}

// restart finalizes and initializes the library, which is how many of them find a
// token again, but not too often. It reports whether it did.
func (m *module) restart(now time.Time) bool {
	m.calls.Lock()
	defer m.calls.Unlock()
	if now.Sub(m.restarted) < restartInterval {
		return false
	}
	m.restarted = now
	_ = m.lib.Finalize() // what counts is whether it can be initialized
	return m.initializeLocked() == nil
}

// is reports whether an error is one of the return values of PKCS#11.
func is(err error, values ...uint) bool {
	code, ok := errors.AsType[pkcs11.Error](err)
	if !ok {
		return false
	}
	for _, v := range values {
		if uint(code) == v {
			return true
		}
	}
	return false
}
