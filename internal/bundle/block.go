// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
)

// The blocks of an archive (POSIX.1-2017 pax, ustar interchange format).
const (
	blockSize = 512
	// nameSize and prefixSize are where a name is divided.
	nameSize   = 100
	prefixSize = 155
)

// maxName bounds the name of a file in a bundle.
const maxName = 255

var (
	errArchive = errors.New("not in the form of a bundle: the header of a file, or what stands between files, is not as it is written")
	errName    = errors.New("name cannot stand in a bundle")
)

// checkName refuses names that are not plain relative paths: none leaves the
// directory where a bundle is unpacked, and none has two spellings.
func checkName(name string) error {
	if name == "" || len(name) > maxName || path.Clean(name) != name || strings.HasPrefix(name, "/") || name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return errName
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || c == '\\' || c == ':' {
			return errName
		}
	}
	return nil
}

// header returns the one header that a file of a name and a size has.
func header(name string, size int64) (*[blockSize]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if size < 0 || size > maxFileBytes {
		return nil, fmt.Errorf("file of %d bytes cannot stand in a bundle, only one of at most %d", size, int64(maxFileBytes))
	}
	prefix, rest := "", name
	if len(name) > nameSize {
		// The shortest prefix: what is behind it has to fit.
		at := strings.IndexByte(name[len(name)-nameSize-1:], '/')
		if at < 0 || len(name)-nameSize-1+at > prefixSize || len(name)-nameSize-1+at == 0 {
			return nil, errName
		}
		at += len(name) - nameSize - 1
		prefix, rest = name[:at], name[at+1:]
	}
	var b [blockSize]byte
	copy(b[0:], rest)
	copy(b[100:], "0000644\x00")
	copy(b[108:], "0000000\x00")
	copy(b[116:], "0000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x00", size))
	copy(b[136:], "00000000000\x00")
	b[156] = '0'
	copy(b[257:], "ustar\x0000")
	copy(b[345:], prefix)
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return &b, nil
}

// parseHeader reads a header. Only those bytes are one that header writes.
func parseHeader(b *[blockSize]byte) (name string, size int64, err error) {
	name = text(b[0:nameSize])
	if prefix := text(b[345 : 345+prefixSize]); prefix != "" {
		name = prefix + "/" + name
	}
	digits := b[124:135]
	for _, c := range digits {
		if c < '0' || c > '7' {
			return "", 0, errArchive
		}
		size = size<<3 | int64(c-'0')
	}
	written, err := header(name, size)
	if err != nil || *written != *b {
		return "", 0, errArchive
	}
	return name, size, nil
}

// text returns the bytes before the first NUL.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}

// padding is how many zeros follow a file.
func padding(size int64) int64 { return (blockSize - size%blockSize) % blockSize }
