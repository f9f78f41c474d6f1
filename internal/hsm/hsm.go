// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package hsm signs with an Ed25519 key that never leaves a PKCS#11 token: a
// hardware security module, a smart card or SoftHSM. A token that is lost and
// comes back is taken up again; until then every signature is an error that
// passes.
package hsm

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/readtrail/readtrail/journal"
)

// ErrNotBuilt says that this program was built without cgo, without which no
// PKCS#11 module can be loaded.
var ErrNotBuilt = errors.New("this program was built without PKCS#11; build it with CGO_ENABLED=1 and a C compiler, or keep the key in a file")

// ErrPIN says that a token refused its PIN. The same PIN is not shown to it again,
// since most tokens lock themselves after a few wrong ones.
var ErrPIN = errors.New("token refuses the PIN, which is not tried again; correct the PIN where it is kept")

// Signer is a journal.Signer that holds sessions of a token until it is closed.
type Signer interface {
	journal.Signer
	io.Closer
}

// Config says which key of which token signs.
type Config struct {
	// Module is the path of the PKCS#11 module, a shared library.
	Module string
	// TokenLabel names the token. One of TokenLabel and Slot is given.
	TokenLabel string
	// Slot is the id of the token's slot.
	Slot *uint
	// KeyLabel (CKA_LABEL) and KeyID (CKA_ID) name the key. At least one is given;
	// they must fit exactly one private key.
	KeyLabel string
	KeyID    []byte
	// PIN is the user's PIN of the token, asked for at every login.
	PIN PINSource
}

// maxText bounds what a configuration puts into a call of a module.
const maxText = 256

// Check says what is wrong with a configuration as far as it can be seen without
// the token. Its errors name the members as the collector's configuration does.
func (c *Config) Check() error {
	switch {
	case c.Module == "":
		return errors.New("module must be set to the path of the token's PKCS#11 library, such as /usr/lib/softhsm/libsofthsm2.so")
	case !filepath.IsAbs(c.Module):
		return errors.New("module must be an absolute path: a name alone could load another library")
	case c.TokenLabel == "" && c.Slot == nil:
		return errors.New("token_label or slot must be set: it names the token")
	case c.TokenLabel != "" && c.Slot != nil:
		return errors.New("only one of token_label and slot may be set")
	case c.KeyLabel == "" && len(c.KeyID) == 0:
		return errors.New("key_label or key_id must be set")
	case len(c.TokenLabel) > maxText || len(c.KeyLabel) > maxText || len(c.KeyID) > maxText:
		return fmt.Errorf("token_label, key_label or key_id has more than %d bytes", maxText)
	case c.PIN == nil:
		return errors.New("pin must be set")
	}
	return nil
}

// token names the token in errors.
func (c *Config) token() string {
	if c.Slot != nil {
		return fmt.Sprintf("the token in slot %d", *c.Slot)
	}
	return fmt.Sprintf("token %q", c.TokenLabel)
}

// key names the key in errors.
func (c *Config) key() string {
	switch {
	case len(c.KeyID) == 0:
		return fmt.Sprintf("key %q", c.KeyLabel)
	case c.KeyLabel == "":
		return fmt.Sprintf("key with id %x", c.KeyID)
	}
	return fmt.Sprintf("key %q with id %x", c.KeyLabel, c.KeyID)
}
