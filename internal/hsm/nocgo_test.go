// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package hsm_test

import (
	"crypto/ed25519"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/hsm"
)

func TestAProgramWithoutCgoSaysSo(t *testing.T) {
	_, err := hsm.Open(hsm.Config{})
	require.ErrorIs(t, err, hsm.ErrNotBuilt)
	require.ErrorIs(t, hsm.Generate(hsm.Config{}, func(ed25519.PublicKey) error { return nil }), hsm.ErrNotBuilt)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
	t.Skip("built without cgo: the tests of tokens did not run; install a C compiler")
}
