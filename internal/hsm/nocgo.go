// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package hsm

import "crypto/ed25519"

// Open returns ErrNotBuilt.
func Open(Config) (Signer, error) { return nil, ErrNotBuilt }

// Generate returns ErrNotBuilt.
func Generate(Config, func(ed25519.PublicKey) error) error { return ErrNotBuilt }
