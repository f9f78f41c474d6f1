// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package hsm

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/miekg/pkcs11"
)

// curve is Ed25519 as CKA_EC_PARAMS: the object identifier 1.3.101.112 (RFC 8410).
var curve = []byte{0x06, 0x03, 0x2b, 0x65, 0x70}

// idBytes is the length of the CKA_ID of a key that is made here.
const idBytes = 16

// Generate makes a key pair in the token, which the private half never leaves, and
// gives the public one to register. If that fails, the pair is destroyed: a key
// that nobody trusts must not come into use. The label must be free.
func Generate(c Config, register func(ed25519.PublicKey) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	m, err := useModule(c.Module)
	if err != nil {
		return err
	}
	if err := m.generate(&c, register); err != nil {
		return errors.Join(fmt.Errorf("PKCS#11 %s, %s: %w", c.token(), c.key(), err), m.leave())
	}
	return m.leave()
}

func (m *module) generate(c *Config, register func(ed25519.PublicKey) error) error {
	m.calls.RLock()
	defer m.calls.RUnlock()
	handle, err := m.login(c, pkcs11.CKF_RW_SESSION)
	if err != nil {
		return err
	}
	defer func() { _ = m.lib.CloseSession(handle) }()
	for _, class := range []uint{pkcs11.CKO_PRIVATE_KEY, pkcs11.CKO_PUBLIC_KEY} {
		taken, err := m.list(handle, class, c.KeyLabel, nil)
		if err != nil {
			return fmt.Errorf("look for it: %w", err)
		}
		if len(taken) > 0 {
			return errors.New("it exists already and is never overwritten; choose another label")
		}
	}
	made := *c
	if len(made.KeyID) == 0 {
		made.KeyID = make([]byte, idBytes)
		_, _ = rand.Read(made.KeyID) // never fails
	}
	public, private, err := m.newPair(&made, handle)
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	key, err := m.publicKey(&made, handle)
	if err == nil {
		err = register(key)
	}
	if err != nil {
		return errors.Join(err, destroyed(m.lib.DestroyObject(handle, private)), destroyed(m.lib.DestroyObject(handle, public)))
	}
	return nil
}

func (m *module) newPair(c *Config, handle pkcs11.SessionHandle) (public, private pkcs11.ObjectHandle, err error) {
	both := func(class uint, more ...*pkcs11.Attribute) []*pkcs11.Attribute {
		return append([]*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_CLASS, class),
			pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, keyTypeEdwards),
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
			pkcs11.NewAttribute(pkcs11.CKA_LABEL, c.KeyLabel),
			pkcs11.NewAttribute(pkcs11.CKA_ID, c.KeyID),
		}, more...)
	}
	return m.lib.GenerateKeyPair(
		handle, []*pkcs11.Mechanism{pkcs11.NewMechanism(generateEdwards, nil)},
		both(
			pkcs11.CKO_PUBLIC_KEY,
			pkcs11.NewAttribute(pkcs11.CKA_VERIFY, true),
			pkcs11.NewAttribute(pkcs11.CKA_EC_PARAMS, curve),
		),
		both(
			pkcs11.CKO_PRIVATE_KEY,
			pkcs11.NewAttribute(pkcs11.CKA_PRIVATE, true),
			pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true),
			pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, false),
			pkcs11.NewAttribute(pkcs11.CKA_SIGN, true),
		),
	)
}

func destroyed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("destroy what is left in the token: %w", err)
}
