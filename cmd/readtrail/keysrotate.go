// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

// incomingSuffix names the file with the key that a rotation made and that does not
// sign yet. One that a rotation left behind is taken up by the next.
const incomingSuffix = ".incoming"

func newKeysRotateCommand(con *console) *cobra.Command {
	var r rotation
	var from validFrom
	cmd := &cobra.Command{
		Use:   "rotate --signing-key FILE --keys FILE",
		Short: "Make a new signing key that takes over from the one in a key file",
		Long: "Make a new Ed25519 signing key, add it to the registry, and put it in front of the key in the key file,\n" +
			"in one step. The former key stays in the file as an outgoing one, which only hands over: a collector\n" +
			"that runs takes the new key within seconds, one that is stopped when it starts. Each journal gets\n" +
			"journal.key_rotated by the former key and journal.key_accepted by the new one.\n\n" +
			"A rotation that was interrupted goes on when the command is run again.",
		Example: "  readtrail keys rotate --signing-key keys/signing-key.pem --keys keys/keys.json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case r.keyPath == "":
				return usagef(cmd, "--signing-key FILE is missing")
			case r.registryPath == "":
				return usagef(cmd, "--keys FILE is missing")
			}
			var err error
			if r.from, err = from.read(cmd); err != nil {
				return err
			}
			return r.run(con)
		},
	}
	cmd.Flags().StringVar(&r.keyPath, "signing-key", "", "the key file that the collector reads")
	registryFlag(cmd, &r.registryPath)
	cmd.Flags().BoolVar(&r.forget, "forget-older", false, "leave out the outgoing keys that the file holds already; no journal may need them any more")
	from.register(cmd)
	return cmd
}

// rotation puts a new key in front of a key file. Each of its steps is durable before
// the next, and none is harmful without the next: the new key is kept, then
// trusted, then used.
type rotation struct {
	keyPath, registryPath string
	forget                bool
	from                  time.Time
}

func (r *rotation) run(con *console) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	for _, path := range []string{r.keyPath + incomingSuffix, r.registryPath} {
		if err := removeUnfinished(path); err != nil {
			return fmt.Errorf("rotate: %w", err)
		}
	}
	former, text, err := r.readKeys()
	if err != nil {
		return err
	}
	registry, err := readRegistryToChange(r.registryPath)
	if err != nil {
		return err
	}
	if _, found := registry.Key(former.KeyID()); !found {
		return fmt.Errorf("%s: has no key %s, which %s holds: name the registry of this key", r.registryPath, former.KeyID(), r.keyPath)
	}
	incoming, err := r.keep(former, text)
	if err != nil {
		return err
	}
	if _, found := registry.Key(incoming.KeyID()); !found {
		if err := registry.Add(journal.TrustedKey(incoming.PublicKey(), r.from)); err != nil {
			return err
		}
		if _, err := putRegistry(r.registryPath, registry); err != nil {
			return again(err)
		}
	}
	if err := os.Rename(r.keyPath+incomingSuffix, r.keyPath); err != nil {
		return again(fmt.Errorf("rotate: %w", err))
	}
	if err := syncDirectory(filepath.Dir(r.keyPath)); err != nil {
		return fmt.Errorf("key %s signs from now on but may be lost if the machine stops now: sync the disk of %s: %w", incoming.KeyID(), r.keyPath, err)
	}
	fmt.Fprintf(con.out, "key_id: %s\noutgoing_key_id: %s\nsigning_key: %s\nregistry: %s\n\n", incoming.KeyID(), former.KeyID(), escape(r.keyPath), escape(r.registryPath))
	fmt.Fprintf(con.out, "A collector that reads %s takes the new key within seconds, or at its next start. Until every journal holds\n"+
		"journal.key_accepted of the new key, the former one is needed, and stays in the file.\n"+
		"Give %s to everybody who verifies.\n", escape(r.keyPath), escape(r.registryPath))
	return nil
}

func again(err error) error {
	return fmt.Errorf("%w; the former key still signs: run the same command again", err)
}

// lock keeps other commands from the key file and from the registry. Two commands
// take the locks in the same order.
func (r *rotation) lock() (unlock func(), err error) {
	dirs := []string{filepath.Dir(r.keyPath), filepath.Dir(r.registryPath)}
	slices.Sort(dirs)
	first, err := lockDir(dirs[0])
	if err != nil {
		return nil, fmt.Errorf("rotate: %w", err)
	}
	if same, err := sameFile(dirs[0], dirs[1]); err == nil && same {
		return first, nil
	}
	second, err := lockDir(dirs[1])
	if err != nil {
		first()
		return nil, fmt.Errorf("rotate: %w", err)
	}
	return func() { second(); first() }, nil
}

func sameFile(a, b string) (bool, error) {
	first, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	second, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(first, second), nil
}

// readKeys returns the key that signs, and the file that the new one is to stand in
// front of.
func (r *rotation) readKeys() (former journal.Signer, text []byte, err error) {
	if err := checkNotLink(r.keyPath); err != nil {
		return nil, nil, err
	}
	if text, err = journal.ReadKeyFile(r.keyPath); err != nil {
		return nil, nil, err
	}
	signers, err := journal.NewPEMSigners(text)
	if err != nil {
		return nil, nil, fmt.Errorf("signing key %s: %w", r.keyPath, err)
	}
	if r.forget {
		block, _ := pem.Decode(text)
		return signers[0], pem.EncodeToMemory(block), nil
	}
	if len(signers) == journal.MaxKeys {
		return nil, nil, fmt.Errorf("signing key %s holds %d keys already: add --forget-older once every journal has accepted the newest", r.keyPath, len(signers))
	}
	return signers[0], text, nil
}

// keep makes the new key and keeps it in a file beside the key file, or finds the one
// that an interrupted rotation kept.
func (r *rotation) keep(former journal.Signer, text []byte) (journal.Signer, error) {
	path := r.keyPath + incomingSuffix
	signers, err := journal.NewFileSigners(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(signers) < 2 || signers[1].KeyID() != former.KeyID():
		return nil, fmt.Errorf("%s: holds a key that was to take over from another one than %s: move it away", path, former.KeyID())
	default:
		return signers[0], nil
	}
	private, _, err := journal.NewKey(r.from)
	if err != nil {
		return nil, err
	}
	signer, err := journal.NewPEMSigner(private)
	if err != nil {
		return nil, err
	}
	if _, err := replaceFileOf(path, r.keyPath, bytes.Join([][]byte{private, text}, nil), 0o600); err != nil {
		return nil, again(err)
	}
	return signer, nil
}
