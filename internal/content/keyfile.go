// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Errors in this file hold neither the text of a key nor the name of its file,
// in whose place a key may have been written by mistake; the caller says where
// in the configuration or on the command line it stands.

const (
	// maxKeyText bounds what is read of the text of a key, in bytes.
	maxKeyText = 4 << 10
	// makeKey is the command that makes a key.
	makeKey = "openssl rand -base64 32"
)

var errKeyText = errors.New("key is not one line of standard base64; make one with: " + makeKey)

// ParseKey returns the key with an id whose secret is text: standard base64,
// padded or not, in one line.
func ParseKey(id, text string) (*Key, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if len(text) > maxKeyText || strings.ContainsAny(text, "\r\n") { // which a decoder skips
		return nil, errKeyText
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.StdEncoding
	}
	secret, err := encoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errKeyText
	}
	return NewKey(id, secret)
}

// ReadKeyFile returns the key with an id whose text is in a file. It refuses
// one that others than its owner can read or write.
func ReadKeyFile(id, name string) (*Key, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("key file cannot be read: %w", withoutPath(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("key file cannot be read: %w", withoutPath(err))
	case info.IsDir():
		return nil, errors.New("key file is a directory; name the file in it")
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return nil, fmt.Errorf("key file has mode %04o and is open to others than its owner; run chmod 600 on it", info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyText+3)) // and the end of the line
	if err != nil {
		return nil, fmt.Errorf("key file cannot be read: %w", withoutPath(err))
	}
	return ParseKey(id, string(text))
}

func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
