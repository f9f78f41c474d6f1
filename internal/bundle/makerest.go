// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// copyKey is a copy that a read names, and where it is looked for.
type copyKey struct{ organization, class, digest string }

// writeKeys writes the extract of the registry that the entries and checkpoints
// need: the keys as the maker knew them, which proves nothing about them.
func (m *maker) writeKeys() error {
	extract := &journal.Registry{}
	for _, id := range slices.Sorted(maps.Keys(m.keys)) {
		if key, found := m.options.Registry.Key(id); found {
			if err := extract.Add(key); err != nil {
				return err
			}
		}
	}
	text, err := extract.Marshal()
	if err != nil {
		return err
	}
	return m.out.add(keysName, text)
}

func (m *maker) writeSchemas() error {
	return m.sorted(func(yield func(string, []byte)) {
		for s := range m.schemas {
			yield(schemaName(record.Kind(s[0]), s[1]), schema.Text(record.Kind(s[0]), s[1]))
		}
	})
}

// sorted writes artifacts in the order of their names.
func (m *maker) sorted(all func(yield func(string, []byte))) error {
	texts := map[string][]byte{}
	all(func(name string, text []byte) { texts[name] = text })
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := m.out.add(name, texts[name]); err != nil {
			return err
		}
	}
	return nil
}

// nameCopies remembers the copies that a read names.
func (w *journalWriter) nameCopies(e *journal.Entry) error {
	named, err := w.options.CopiesOf(e)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Header.Sequence, err)
	}
	for _, digest := range named {
		w.copies[copyKey{e.Header.Scope.OrganizationRef, e.Header.Scope.RetentionClass, digest}] = true
	}
	return within(len(w.copies))
}

// ageHead begins every object: an age file (age-encryption.org/v1).
const ageHead = "age-encryption.org/v1\n"

// writeCopies writes the objects of the copies as they are in the stores: encrypted.
// Nothing is opened.
func (m *maker) writeCopies(ctx context.Context) error {
	reader := &evidence.Reader{Places: m.options.Copies}
	objects := map[string]evidence.Reading{}
	for key := range m.copies {
		digest, err := content.ParseDigest(key.digest)
		if err != nil {
			return fmt.Errorf("copy: %w", err)
		}
		found, err := reader.Objects(ctx, key.organization, key.class, digest)
		if err != nil {
			return fmt.Errorf("copy %w; leave out --with-evidence, or name the store that has it", err)
		}
		maps.Copy(objects, found)
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if err := m.writeCopy(ctx, objects[name], name); err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil
}

func (m *maker) writeCopy(ctx context.Context, place evidence.Reading, name string) error {
	in, err := place.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	spool, err := os.CreateTemp(m.options.Scratch, "copy-")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	h := sha256.New()
	head := &strings.Builder{}
	size, err := io.Copy(io.MultiWriter(spool, h), io.TeeReader(io.LimitReader(in, maxFileBytes+1), &limited{head, len(ageHead)}))
	if err != nil {
		return err
	}
	if head.String() != ageHead {
		return errors.New("is not encrypted and is not handed over")
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return m.out.stream(objectsDir+name, size, [sha256.Size]byte(h.Sum(nil)), spool)
}

// limited keeps the first bytes that are written to it.
type limited struct {
	to   *strings.Builder
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.to.Write(p[:n])
	l.left -= n
	return len(p), nil
}
