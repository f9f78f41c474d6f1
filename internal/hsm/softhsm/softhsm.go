// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package softhsm gives tests a SoftHSM 2 token of their own, and says why not if
// the machine has none.
package softhsm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Token is a fresh token, whose user's PIN is PIN.
type Token struct {
	// Module is the path of SoftHSM's PKCS#11 library.
	Module string
	// Dir holds the token's files.
	Dir string
	// Config is the file that SOFTHSM2_CONF names.
	Config string
}

// The label and the PIN of every token.
const (
	Label = "readtrail-test"
	PIN   = "1234-readtrail"
)

// New initializes a token below a temporary directory and sets SOFTHSM2_CONF for
// the process. It skips the test where SoftHSM 2 is missing.
func New(t testing.TB) *Token {
	t.Helper()
	if !loads {
		t.Skip("built without cgo, so no PKCS#11 library can be loaded: install a C compiler")
	}
	module := find()
	util, err := exec.LookPath("softhsm2-util")
	if module == "" || err != nil {
		t.Skip("SoftHSM 2 is not on this machine: make test-deps installs it (Debian package softhsm2)")
	}
	dir := t.TempDir()
	token := &Token{Module: module, Dir: filepath.Join(dir, "tokens"), Config: filepath.Join(dir, "softhsm2.conf")}
	require.NoError(t, os.Mkdir(token.Dir, 0o700))
	require.NoError(t, os.WriteFile(token.Config, fmt.Appendf(nil, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", token.Dir), 0o600))
	t.Setenv("SOFTHSM2_CONF", token.Config)
	out, err := exec.Command(util, "--init-token", "--free", "--label", Label, "--so-pin", "so-"+PIN, "--pin", PIN).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return token
}

// find returns the library where Debian, Fedora and Alpine put it.
func find() string {
	for _, path := range []string{
		"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so",
	} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}
