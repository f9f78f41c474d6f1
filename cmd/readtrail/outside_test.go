// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/journal"
)

// cmdOutside keeps a checkpoint of the fixture's journal elsewhere, as a store has
// it, and says its root in $ROOT: outside STORE SIZE [JOURNAL-ID].
func cmdOutside(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	id := fixtureJournal
	if len(args) == 3 {
		id = args[2]
	}
	root, err := fixtureRoot(ts.MkAbs(fixtureSegment), int64(size))
	ts.Check(err)
	signer, err := journal.NewFileSigner(ts.MkAbs("signing-key.pem"))
	ts.Check(err)
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: id, Size: size, Root: root}, signer)
	ts.Check(err)
	path := filepath.Join(ts.MkAbs(args[0]), id, fmt.Sprintf("%020d.checkpoint", size))
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	ts.Check(os.WriteFile(path, note, 0o644))
	ts.Setenv("ROOT", base64.StdEncoding.EncodeToString(root[:]))
}

// fixtureRoot computes the root of the first entries by another implementation.
func fixtureRoot(directory string, size int64) (root [sha256.Size]byte, err error) {
	sources, err := journal.Open(directory)
	if err != nil {
		return root, err
	}
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (found []tlog.Hash, err error) {
		for _, i := range indexes {
			found = append(found, hashes[i])
		}
		return found, nil
	})
	n := int64(0)
	for line, err := range sources[0].Lines() {
		if err != nil {
			return root, err
		}
		e, err := journal.ParseLine(bytes.Clone(line.Bytes))
		if err != nil {
			return root, err
		}
		hash, _ := journal.ParseHash(e.Integrity.RecordHash)
		stored, err := tlog.StoredHashesForRecordHash(n, tlog.RecordHash(hash[:]), reader)
		if err != nil {
			return root, err
		}
		hashes = append(hashes, stored...)
		n++
	}
	if size > n {
		return sha256.Sum256(nil), nil // of entries that there never were
	}
	return tlog.TreeHash(size, reader)
}
