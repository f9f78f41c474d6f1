// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package hsm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"go.opentelemetry.io/collector/config/configopaque"
)

// PINSource returns the PIN of a token. It is asked anew at every login, so that a
// PIN that was corrected is taken without a restart.
type PINSource func() (configopaque.String, error)

// FilePIN takes the PIN from a file that only its owner may read; a line feed at
// its end is not part of it.
func FilePIN(path string) PINSource {
	return func() (configopaque.String, error) {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("PIN: %w", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return "", fmt.Errorf("PIN: %w", err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
			return "", fmt.Errorf("PIN file %s has mode %04o and is open to others than its owner; run: chmod 600 %[1]s", path, mode)
		}
		text, err := io.ReadAll(io.LimitReader(f, maxText+2))
		if err != nil {
			return "", fmt.Errorf("PIN: %w", err)
		}
		pin, err := checkPIN(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"))
		if err != nil {
			return "", fmt.Errorf("PIN file %s %w", path, err)
		}
		return pin, nil
	}
}

// EnvPIN takes the PIN from an environment variable.
func EnvPIN(name string) PINSource {
	return func() (configopaque.String, error) {
		pin, err := checkPIN(os.Getenv(name))
		if err != nil {
			return "", fmt.Errorf("environment variable %s %w", name, err)
		}
		return pin, nil
	}
}

func checkPIN(pin string) (configopaque.String, error) {
	switch {
	case pin == "":
		return "", errors.New("holds no PIN: it must be the user's PIN of the token")
	case len(pin) > maxText:
		return "", fmt.Errorf("has more than %d bytes and is no PIN", maxText)
	case strings.ContainsAny(pin, "\x00\r\n"):
		return "", errors.New("holds more than one line and is no PIN")
	}
	return configopaque.String(pin), nil
}
