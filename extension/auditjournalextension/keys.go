// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/readtrail/readtrail/internal/hsm"
	"github.com/readtrail/readtrail/journal"
)

// keys are those of all journals: the one that signs, and those that it takes over
// from.
type keys struct {
	signer   journal.Signer
	outgoing []journal.Signer
	// tokens are the signers that hold sessions.
	tokens []io.Closer
}

// openKeys opens every key that a configuration names, or none. Its errors begin with
// the place in the configuration.
func openKeys(config *Config) (*keys, error) {
	k := &keys{}
	signers, err := k.open(&config.SigningKey)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("signing_key::%s: %w", config.SigningKey.member(), err), k.close())
	}
	k.signer, k.outgoing = signers[0], signers[1:]
	for i := range config.OutgoingKeys {
		c := &config.OutgoingKeys[i]
		signers, err := k.open(c)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("outgoing_keys::%d::%s: %w; remove it once every journal holds journal.key_accepted of a newer key", i, c.member(), err), k.close())
		}
		k.outgoing = append(k.outgoing, signers...)
	}
	return k, nil
}

// open opens the keys in one place.
func (k *keys) open(c *SigningKeyConfig) ([]journal.Signer, error) {
	switch {
	case c.File != "":
		return journal.NewFileSigners(c.File)
	case c.Env != "":
		text := configopaque.String(os.Getenv(c.Env))
		if text == "" {
			return nil, fmt.Errorf("environment variable %s is not set: it must hold the PKCS#8 PEM of the key", c.Env)
		}
		signers, err := journal.NewPEMSigners([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", c.Env, err)
		}
		return signers, nil
	}
	token, err := c.PKCS11.token()
	if err != nil {
		return nil, err
	}
	signer, err := hsm.Open(token)
	if err != nil {
		return nil, err
	}
	k.tokens = append(k.tokens, signer)
	return []journal.Signer{signer}, nil
}

// close closes the sessions of tokens. Of no keys it does nothing.
func (k *keys) close() error {
	if k == nil {
		return nil
	}
	errs := make([]error, len(k.tokens))
	for i, t := range k.tokens {
		errs[i] = t.Close()
	}
	return errors.Join(errs...)
}
