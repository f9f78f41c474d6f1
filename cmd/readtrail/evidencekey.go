// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// minDigestKey is the shortest key of keyed digests, in bytes: what is shorter
// than the hash could be guessed sooner than the content.
const minDigestKey = 32

// readDigestKey reads a key of keyed digests: base64 in one line, in a file that
// only its owner can read. Errors never repeat what the file holds.
func readDigestKey(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fileError(name, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("key %s has mode %04o and is open to others than its owner; run: chmod 600 %[1]s", name, mode)
	}
	const maxText = 4 << 10
	text, err := io.ReadAll(io.LimitReader(file, maxText))
	if err != nil {
		return nil, fileError(name, err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) < minDigestKey {
		return nil, fmt.Errorf("key %s: %w", name, errors.New("not base64 of at least 32 bytes in one line"))
	}
	return key, nil
}
