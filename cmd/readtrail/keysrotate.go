// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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

// formerInfix stands between the name of a key file and the id of the key that was
// put in front of it, in the name of the copy that holds the keys that were left out.
const formerInfix = ".before-"

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
			"With --forget-older the file ends with two keys, the new one and the one that signed before. A journal\n" +
			"whose last entry is by a key that was left out cannot be continued without it: the former file is kept\n" +
			"as FILE" + formerInfix + "KEYID, KEYID being that of the new key, until you delete it.\n\n" +
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
	cmd.Flags().BoolVar(&r.forget, "forget-older", false, "leave out the outgoing keys that the file holds already, and keep the former file beside it")
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
	signers, text, err := r.readKeys()
	if err != nil {
		return err
	}
	former := signers[0]
	registry, err := readRegistryToChange(r.registryPath)
	if err != nil {
		return err
	}
	if _, found := registry.Key(former.KeyID()); !found {
		return fmt.Errorf("%s: has no key %s, which %s holds: name the registry of this key", r.registryPath, former.KeyID(), r.keyPath)
	}
	kept, err := r.keep(former, text)
	if err != nil {
		return err
	}
	incoming := kept[0]
	dropped, err := r.keepDropped(signers, kept, text)
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
	fmt.Fprintf(con.out, "key_id: %s\noutgoing_key_id: %s\n", incoming.KeyID(), former.KeyID())
	for _, id := range dropped {
		fmt.Fprintf(con.out, "dropped_key_id: %s\n", id)
	}
	fmt.Fprintf(con.out, "signing_key: %s\nregistry: %s\n", escape(r.keyPath), escape(r.registryPath))
	if len(dropped) > 0 {
		fmt.Fprintf(con.out, "former_signing_key: %s\n", escape(r.formerPath(incoming)))
	}
	fmt.Fprintln(con.out)
	fmt.Fprintf(con.out, "A collector that reads %s takes the new key within seconds, or at its next start. Until every journal holds\n"+
		"journal.key_accepted of the new key, the former one is needed, and stays in the file.\n"+
		"Give %s to everybody who verifies.\n", escape(r.keyPath), escape(r.registryPath))
	if len(dropped) > 0 {
		fmt.Fprintf(con.out, "The dropped keys are in %s. Delete it once every journal holds journal.key_accepted\n"+
			"of a key that is not one of them; a journal that does not can only be continued with that file.\n", escape(r.formerPath(incoming)))
	}
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

// readKeys returns the keys of the file, the one that signs first, and the text of the
// file.
func (r *rotation) readKeys() (signers []journal.Signer, text []byte, err error) {
	if err := checkNotLink(r.keyPath); err != nil {
		return nil, nil, err
	}
	if text, err = journal.ReadKeyFile(r.keyPath); err != nil {
		return nil, nil, err
	}
	if signers, err = journal.NewPEMSigners(text); err != nil {
		return nil, nil, fmt.Errorf("signing key %s: %w", r.keyPath, err)
	}
	if len(signers) == journal.MaxKeys && !r.forget {
		return nil, nil, fmt.Errorf("signing key %s holds %d keys already: add --forget-older once every journal has accepted the newest", r.keyPath, len(signers))
	}
	return signers, text, nil
}

// formerPath is where the file is kept that held the keys that were left out.
func (r *rotation) formerPath(incoming journal.Signer) string {
	return r.keyPath + formerInfix + incoming.KeyID()
}

// keepDropped returns the ids of the keys that the new file leaves out. The former
// file is kept first: which journals still stand on one of them is not known here, and
// a private key that is gone ends them.
func (r *rotation) keepDropped(signers, kept []journal.Signer, text []byte) ([]string, error) {
	var dropped []string
	for _, s := range signers {
		if !slices.ContainsFunc(kept, func(k journal.Signer) bool { return k.KeyID() == s.KeyID() }) {
			dropped = append(dropped, s.KeyID())
		}
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	if err := removeUnfinished(r.formerPath(kept[0])); err != nil {
		return nil, fmt.Errorf("rotate: %w", err)
	}
	if _, err := replaceFileOf(r.formerPath(kept[0]), r.keyPath, text, 0o600); err != nil {
		return nil, again(err)
	}
	return dropped, nil
}

// keep makes the new key and keeps it in a file beside the key file, or finds the one
// that an interrupted rotation kept. It returns the keys of that file.
func (r *rotation) keep(former journal.Signer, text []byte) ([]journal.Signer, error) {
	path := r.keyPath + incomingSuffix
	signers, err := journal.NewFileSigners(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(signers) < 2 || signers[1].KeyID() != former.KeyID():
		return nil, fmt.Errorf("%s: holds a key that was to take over from another one than %s: move it away", path, former.KeyID())
	default:
		return signers, nil
	}
	private, _, err := journal.NewKey(r.from)
	if err != nil {
		return nil, err
	}
	if r.forget {
		block, _ := pem.Decode(text)
		text = pem.EncodeToMemory(block)
	}
	text = slices.Concat(private, text)
	if signers, err = journal.NewPEMSigners(text); err != nil {
		return nil, err
	}
	if _, err := replaceFileOf(path, r.keyPath, text, 0o600); err != nil {
		return nil, again(err)
	}
	return signers, nil
}
