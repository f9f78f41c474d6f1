// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/readtrail/readtrail/internal/durable"
)

// Torn describes bytes that were torn off a segment.
type Torn struct {
	// Segment and KeptAs are file names.
	Segment, KeptAs string
	Offset, Length  int64
	// Digest is that of the bytes, as entries spell it (contract 2).
	Digest string
}

// maxTornFiles bounds how often other bytes are kept for one offset.
const maxTornFiles = 1000

// readTorn returns the bytes from offset to size of a segment, nil if there are
// none.
func readTorn(r io.ReaderAt, offset, size int64) ([]byte, error) {
	if offset == size {
		return nil, nil
	}
	torn := make([]byte, size-offset)
	if n, err := r.ReadAt(torn, offset); n < len(torn) {
		return nil, err
	}
	return torn, nil
}

// keepTorn copies the bytes behind an offset of a segment into a file of their own, and returns its name once both are durable. Nothing that an earlier
// recovery kept is ever overwritten: a copy that it could not finish is
// finished, and other bytes get another name.
func keepTorn(fsys durable.FS, dir, segment string, offset int64, torn []byte) (string, error) {
	for attempt := 1; attempt <= maxTornFiles; attempt++ {
		name := tornFileName(segment, offset, attempt)
		kept, err := keepAs(fsys, filepath.Join(dir, name), torn)
		if err != nil {
			return "", err
		}
		if kept {
			return name, fsys.SyncDir(dir)
		}
	}
	return "", fmt.Errorf("%d files hold other torn bytes of offset %d; move them away", maxTornFiles, offset)
}

// keepAs makes the file at path hold the torn bytes, durably, unless it holds
// others.
func keepAs(fsys durable.FS, path string, torn []byte) (kept bool, err error) {
	f, err := fsys.Create(path)
	if errors.Is(err, fs.ErrExist) {
		f, err = fsys.OpenFile(path)
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil || size > int64(len(torn)) {
		return false, err
	}
	existing := make([]byte, size)
	if n, err := f.ReadAt(existing, 0); n < len(existing) {
		return false, err
	}
	if !bytes.HasPrefix(torn, existing) {
		return false, nil
	}
	// All of it is written again: what is there may never have reached the disk.
	if _, err := f.WriteAt(torn, 0); err != nil {
		return false, err
	}
	return true, f.Sync()
}

// Describe tells what the torn bytes of a name are.
func Describe(fsys durable.FS, dir, name string) (Torn, error) {
	segment, offset, ok := parseTornName(name)
	if !ok {
		return Torn{}, fmt.Errorf("%s is not the name of torn bytes", name)
	}
	f, err := fsys.Open(filepath.Join(dir, name))
	if err != nil {
		return Torn{}, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return Torn{}, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, 0, size)); err != nil {
		return Torn{}, err
	}
	return Torn{
		Segment: segment, KeptAs: name, Offset: offset, Length: size,
		Digest: "sha256:" + hex.EncodeToString(hash.Sum(nil)),
	}, nil
}
