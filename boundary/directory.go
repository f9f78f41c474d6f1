// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Directory keeps notes as files, mode 0600, of a directory of this executor's own, mode
// 0700. A process that uses one holds a lock on it until it ends, where the system has
// such locks (flock): another that would settle the attempts of a living process is refused,
// and so is a directory in which others may write.
type Directory string

const noteSuffix = ".attempt"

// Put implements [Attempts]: written, synced and renamed into place.
func (d Directory) Put(_ context.Context, attemptID string, note []byte) (err error) {
	path := filepath.Join(string(d), attemptID+noteSuffix)
	if err := d.hold(); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(d), ".note-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(note)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return d.sync()
}

// Delete implements [Attempts].
func (d Directory) Delete(_ context.Context, attemptID string) error {
	err := os.Remove(filepath.Join(string(d), attemptID+noteSuffix))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// maxNoteBytes bounds a note that is read back.
const maxNoteBytes = 1 << 20

// List implements [Attempts], in the order in which the notes were written.
func (d Directory) List(context.Context) ([][]byte, error) {
	if err := d.hold(); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	type kept struct {
		at   time.Time
		note []byte
	}
	var all []kept
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(f.Name(), noteSuffix) || !info.Mode().IsRegular() || info.Size() > maxNoteBytes {
			continue
		}
		note, err := os.ReadFile(filepath.Join(string(d), f.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, kept{info.ModTime(), note})
	}
	slices.SortFunc(all, func(a, b kept) int { return a.at.Compare(b.at) })
	notes := make([][]byte, len(all))
	for i, k := range all {
		notes[i] = k.note
	}
	return notes, nil
}

func (d Directory) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// held are the directories that this process has locked, for good.
var held struct {
	sync.Mutex
	all []*os.File
}

// hold makes the directory this process's own.
func (d Directory) hold() error {
	held.Lock()
	defer held.Unlock()
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	keep, err := lockOnce(f)
	if keep && err == nil {
		held.all = append(held.all, f)
		return nil
	}
	return errors.Join(err, f.Close())
}

// lockOnce locks a directory unless it is locked already. It reports whether the file has
// to stay open for the lock.
func lockOnce(f *os.File) (keep bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return false, fmt.Errorf("boundary: others may write in the directory of notes (mode %#o): chmod 700", info.Mode().Perm())
	}
	for _, other := range held.all {
		if own, err := other.Stat(); err == nil && os.SameFile(own, info) {
			return false, nil
		}
	}
	return true, lock(f)
}

var errHeld = errors.New("boundary: another process holds the directory of notes: give each executor one of its own")
