// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"filippo.io/torchwood"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/sumdb/note"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// cmdCheckpoints writes the checkpoints of the example journal: checkpoints DIR.
func cmdCheckpoints(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(writeFixtureCheckpoints(ts.MkAbs(args[0])))
}

// writeFixtureCheckpoints writes checkpoints of the example journal below dir, as a
// collector would have put them into a directory: after four entries and after
// all, the latter cosigned. Beside them lie the witness's verifier key and an
// entry.
func writeFixtureCheckpoints(dir string) error {
	signer, err := journal.NewFileSigner(filepath.Join(dir, "signing-key.pem"))
	if err != nil {
		return err
	}
	sources, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "checkpoints")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	tree := tiles.New(durable.OS{}, filepath.Join(dir, "unused"))
	for line, err := range sources[0].Lines() {
		if err != nil {
			return err
		}
		entry, err := journal.ParseLine(line.Bytes)
		if err != nil {
			return err
		}
		if err := tree.Append(entry.PayloadDigest()); err != nil {
			return err
		}
		if entry.Header.Sequence == 4 {
			if err := errors.Join(
				os.WriteFile(filepath.Join(dir, "entry.json"), append(line.Bytes, '\n'), 0o644),
				writeFixtureCheckpoint(out, tree, signer),
			); err != nil {
				return err
			}
		}
	}
	if err := writeFixtureCheckpoint(out, tree, signer); err != nil {
		return err
	}
	return cosignFixture(dir, filepath.Join(out, fmt.Sprintf("%020d.checkpoint", tree.Size())))
}

func writeFixtureCheckpoint(dir string, tree *tiles.Tree, signer journal.Signer) error {
	root, err := tree.Root(tree.Size())
	if err != nil {
		return err
	}
	text, err := journal.SignCheckpoint(journal.Checkpoint{Origin: fixtureJournal, Size: tree.Size(), Root: root}, signer)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%020d.checkpoint", tree.Size())), text, 0o644)
}

// cosignFixture adds the cosignature of a witness to a checkpoint.
func cosignFixture(dir, path string) error {
	seed := sha256.Sum256([]byte("witness"))
	signer, err := torchwood.NewCosignatureSigner("witness.example.com", ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c, err := journal.ParseCheckpoint(text)
	if err != nil {
		return err
	}
	cosigned, err := note.Sign(&note.Note{Text: c.Text()}, signer)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, append(text, cosigned[len(c.Text())+1:]...), 0o644),
		os.WriteFile(filepath.Join(dir, "witness.vkey"), []byte(signer.Verifier().String()+"\n"), 0o644),
		writeStrangeKeys(dir),
	)
}

// writeStrangeKeys writes a registry that trusts another key.
func writeStrangeKeys(dir string) error {
	seed := sha256.Sum256([]byte("stranger"))
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		return err
	}
	key := filepath.Join(dir, "strange-key.pem")
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	signer, err := journal.NewFileSigner(key)
	if err != nil {
		return err
	}
	registry := &journal.Registry{}
	if err := registry.Add(journal.Key{ID: signer.KeyID(), PublicKey: signer.PublicKey(), ValidFrom: record.NewTime(fixtureStart)}); err != nil {
		return err
	}
	text, err := registry.Marshal()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "strange-keys.json"), text, 0o644)
}
