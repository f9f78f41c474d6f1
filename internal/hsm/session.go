// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package hsm

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/pkcs11"
)

// What PKCS#11 3.0 calls Ed25519, in numbers that the library does not name.
const (
	keyTypeEdwards  = 0x40   // CKK_EC_EDWARDS
	generateEdwards = 0x1055 // CKM_EC_EDWARDS_KEY_PAIR_GEN
	mechanismEdDSA  = 0x1057 // CKM_EDDSA, without parameters: Ed25519 of RFC 8032
	pointTag        = 0x04   // DER OCTET STRING, in which CKA_EC_POINT is wrapped
)

// session is a session of a token in which a key was found.
type session struct {
	handle pkcs11.SessionHandle
	key    pkcs11.ObjectHandle
}

// refusal is a PIN that a token refused, as a digest.
type refusal struct {
	token string
	pin   [sha256.Size]byte
}

// login opens a session and logs in. Its flags are those of C_OpenSession.
func (m *module) login(c *Config, flags uint) (pkcs11.SessionHandle, error) {
	slot, err := m.slot(c)
	if err != nil {
		return 0, err
	}
	handle, err := m.lib.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION|flags)
	if err != nil {
		return 0, fmt.Errorf("open a session: %w", err)
	}
	if err := m.showPIN(c, handle); err != nil {
		_ = m.lib.CloseSession(handle)
		return 0, err
	}
	return handle, nil
}

// slot finds the slot of the token.
func (m *module) slot(c *Config) (uint, error) {
	if c.Slot != nil {
		return *c.Slot, nil
	}
	slots, err := m.lib.GetSlotList(true)
	if err != nil {
		return 0, fmt.Errorf("list the slots: %w", err)
	}
	var found []uint
	for _, slot := range slots {
		info, err := m.lib.GetTokenInfo(slot)
		if err == nil && strings.TrimRight(info.Label, " \x00") == c.TokenLabel {
			found = append(found, slot)
		}
	}
	switch len(found) {
	case 0:
		return 0, fmt.Errorf("no token has that label, connect it or correct the label: %w", pkcs11.Error(pkcs11.CKR_TOKEN_NOT_PRESENT))
	case 1:
		return found[0], nil
	}
	return 0, fmt.Errorf("%d tokens have that label; name one by its slot", len(found))
}

// showPIN logs in, unless another session of this process has. A PIN that was
// refused is not shown again.
func (m *module) showPIN(c *Config, handle pkcs11.SessionHandle) error {
	pin, err := c.PIN()
	if err != nil {
		return err
	}
	shown := refusal{token: c.token(), pin: sha256.Sum256([]byte(pin))}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused[shown] {
		return ErrPIN
	}
	err = m.lib.Login(handle, pkcs11.CKU_USER, string(pin))
	switch {
	case err == nil, is(err, pkcs11.CKR_USER_ALREADY_LOGGED_IN):
		return nil
	case is(err, pkcs11.CKR_PIN_INCORRECT, pkcs11.CKR_PIN_INVALID, pkcs11.CKR_PIN_LEN_RANGE, pkcs11.CKR_PIN_EXPIRED, pkcs11.CKR_PIN_LOCKED):
		m.refused[shown] = true
		return fmt.Errorf("%w (%w)", ErrPIN, err)
	}
	return fmt.Errorf("log in: %w", err)
}

// find returns the only object of a class that the configuration names.
func (m *module) find(c *Config, handle pkcs11.SessionHandle, class uint) (pkcs11.ObjectHandle, error) {
	objects, err := m.list(handle, class, c.KeyLabel, c.KeyID)
	if err != nil {
		return 0, fmt.Errorf("look for %s: %w", c.key(), err)
	}
	switch len(objects) {
	case 0:
		return 0, errNoKey
	case 1:
		return objects[0], nil
	}
	return 0, fmt.Errorf("more than one is called %s; name it by key_id too", c.key())
}

var errNoKey = errors.New("it has no such Ed25519 key")

// list returns the Ed25519 keys of a class with a label and an id, at most two.
func (m *module) list(handle pkcs11.SessionHandle, class uint, label string, id []byte) ([]pkcs11.ObjectHandle, error) {
	template := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, class),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, keyTypeEdwards),
	}
	if label != "" {
		template = append(template, pkcs11.NewAttribute(pkcs11.CKA_LABEL, label))
	}
	if len(id) > 0 {
		template = append(template, pkcs11.NewAttribute(pkcs11.CKA_ID, id))
	}
	if err := m.lib.FindObjectsInit(handle, template); err != nil {
		return nil, err
	}
	objects, _, err := m.lib.FindObjects(handle, 2)
	return objects, errors.Join(err, m.lib.FindObjectsFinal(handle))
}

// publicKey reads the public half of the key.
func (m *module) publicKey(c *Config, handle pkcs11.SessionHandle) (ed25519.PublicKey, error) {
	object, err := m.find(c, handle, pkcs11.CKO_PUBLIC_KEY)
	if errors.Is(err, errNoKey) {
		return nil, errors.New("it has the private key without the public one; store the public key beside it, with the same label and id")
	}
	if err != nil {
		return nil, err
	}
	values, err := m.lib.GetAttributeValue(handle, object, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_EC_POINT, nil)})
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	if len(values) != 1 {
		return nil, errors.New("it does not show the public key")
	}
	return parsePoint(values[0].Value)
}

// parsePoint reads CKA_EC_POINT: the 32 bytes of RFC 8032, alone or in a DER
// OCTET STRING.
func parsePoint(point []byte) (ed25519.PublicKey, error) {
	if rest, wrapped := bytes.CutPrefix(point, []byte{pointTag, ed25519.PublicKeySize}); wrapped && len(rest) == ed25519.PublicKeySize {
		point = rest
	}
	if len(point) != ed25519.PublicKeySize {
		return nil, errors.New("the public key is not one of Ed25519")
	}
	return bytes.Clone(point), nil
}
