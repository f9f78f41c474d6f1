// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"encoding/hex"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/readtrail/readtrail/internal/hsm"
)

// SigningKeyConfig says where a signing key is. One of its members is set.
type SigningKeyConfig struct {
	// File is a PKCS#8 PEM file with an Ed25519 key, readable by its owner only.
	// Further keys in it are outgoing ones. A new key that is put in front of them is
	// taken while the collector runs.
	File string `mapstructure:"file"`

	// Env is the name of an environment variable that holds the text of such a file.
	Env string `mapstructure:"env"`

	// PKCS11 is a key in a token, which never leaves it.
	PKCS11 *PKCS11Config `mapstructure:"pkcs11"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// PKCS11Config names an Ed25519 key in a PKCS#11 token.
type PKCS11Config struct {
	// Module is the absolute path of the token's PKCS#11 library.
	Module string `mapstructure:"module"`

	// TokenLabel names the token. It or Slot is set.
	TokenLabel string `mapstructure:"token_label"`

	// Slot is the id of the token's slot.
	Slot *uint `mapstructure:"slot"`

	// KeyLabel (CKA_LABEL) and KeyID (CKA_ID, in hex) name the key. At least one is
	// set.
	KeyLabel string `mapstructure:"key_label"`
	KeyID    string `mapstructure:"key_id"`

	// PIN says where the user's PIN is.
	PIN PINConfig `mapstructure:"pin"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// PINConfig says where the PIN of a token is. One of its members is set. It is read
// again at every login.
type PINConfig struct {
	// File holds the PIN and is readable by its owner only.
	File string `mapstructure:"file"`

	// Env is the name of an environment variable that holds the PIN.
	Env string `mapstructure:"env"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Validate checks that there is one key; whether it can be used shows at start.
func (c *SigningKeyConfig) Validate() error {
	set := 0
	for _, is := range []bool{c.File != "", c.Env != "", c.PKCS11 != nil} {
		if is {
			set++
		}
	}
	switch set {
	case 0:
		return errors.New("one of file, env and pkcs11 must be set: make a key with `readtrail keys new --out DIR`")
	case 1:
		return nil
	}
	return errors.New("only one of file, env and pkcs11 may be set")
}

// Validate checks what can be seen without the token.
func (c *PKCS11Config) Validate() error {
	token, err := c.token()
	if err != nil {
		return err
	}
	return token.Check()
}

func (c *PKCS11Config) token() (hsm.Config, error) {
	id, err := hex.DecodeString(c.KeyID)
	if err != nil {
		return hsm.Config{}, errors.New("key_id is not hex, as pkcs11-tool prints it")
	}
	return hsm.Config{
		Module: c.Module, TokenLabel: c.TokenLabel, Slot: c.Slot, KeyLabel: c.KeyLabel, KeyID: id, PIN: c.PIN.source(),
	}, nil
}

// Validate checks that there is one PIN; whether it can be read shows at start.
func (c *PINConfig) Validate() error {
	if (c.File == "") == (c.Env == "") {
		return errors.New("one of file and env must be set")
	}
	return nil
}

// source reads the PIN; its errors name the place in the configuration.
func (c *PINConfig) source() hsm.PINSource {
	member, source := "env", hsm.EnvPIN(c.Env)
	if c.File != "" {
		member, source = "file", hsm.FilePIN(c.File)
	}
	return func() (configopaque.String, error) {
		pin, err := source()
		if err != nil {
			return "", fmt.Errorf("pin::%s: %w", member, err)
		}
		return pin, nil
	}
}

// member is the key of the configuration that is set.
func (c *SigningKeyConfig) member() string {
	switch {
	case c.File != "":
		return "file"
	case c.Env != "":
		return "env"
	}
	return "pkcs11"
}
