// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/readtrail/readtrail/internal/durable"
)

// Restored is what a restore of one journal did.
type Restored struct {
	Place
	Dir string
	// Files were written, Present were there already with the same bytes.
	Files, Present int
	// Bytes were written.
	Bytes int64
}

// ErrOther says that a restore would have to overwrite a file.
var ErrOther = errors.New("a file with other bytes has that name; restore into another directory")

// Restore writes what the archive holds of a journal below a directory:
// <dir>/<organization_ref>/<retention_class>/<kind>/<journal_id>/ with the segments
// in it and checkpoints/ and tiles/ below. Each file has the bytes of the oldest
// version, checked against the digest that the server keeps, and is durable when
// Restore returns. It overwrites nothing; run again, it goes on where it was
// interrupted.
func (b *Bucket) Restore(ctx context.Context, fsys durable.FS, dir string, c *Copy) (*Restored, error) {
	done := &Restored{Place: c.Place, Dir: filepath.Join(dir, filepath.FromSlash(c.dir()))}
	for _, objects := range [][]object{c.segments, c.others} {
		for _, o := range objects {
			if err := b.restore(ctx, fsys, done, o); err != nil {
				return done, fmt.Errorf("restore %s: %w", b.address(o.version), err)
			}
		}
	}
	return done, nil
}

func (b *Bucket) restore(ctx context.Context, fsys durable.FS, done *Restored, o object) error {
	path := filepath.Join(done.Dir, filepath.FromSlash(o.name))
	if o.part != segmentsPart {
		path = filepath.Join(done.Dir, o.part, filepath.FromSlash(o.name))
	}
	digest, size, err := b.digest(ctx, o.version)
	if err != nil {
		return err
	}
	if size != o.size {
		return fmt.Errorf("the server says that it has %d bytes and %d", o.size, size)
	}
	dir := filepath.Dir(path)
	if err := fsys.MkdirAll(dir); err != nil {
		return err
	}
	switch here, err := fileDigest(fsys, path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case here != digest:
		return fmt.Errorf("%s: %w", path, ErrOther)
	default:
		done.Present++
		return fsys.SyncDir(dir)
	}
	if err := b.download(ctx, fsys, path, o.version, digest); err != nil {
		return err
	}
	done.Files++
	done.Bytes += o.size
	return nil
}

// partial ends the name of a file that is not complete yet; verify takes no such
// file for a segment.
const partial = ".partial"

// download writes a version to a file. The name appears when all of it is durable.
func (b *Bucket) download(ctx context.Context, fsys durable.FS, path string, v *version, digest [sha256.Size]byte) error {
	if err := fsys.Unlink(path + partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.Create(path + partial)
	if err != nil {
		return err
	}
	body := b.read(ctx, v)
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(h, io.NewOffsetWriter(f, 0)), body)
	err = errors.Join(err, body.Close())
	if err == nil && [sha256.Size]byte(h.Sum(nil)) != digest {
		err = errors.New("the bytes that the server gives are not those whose digest it keeps")
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, fsys.Unlink(path+partial))
	}
	if err := fsys.Rename(path+partial, path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func fileDigest(fsys durable.FS, path string) (digest [sha256.Size]byte, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return digest, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return digest, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, size)); err != nil {
		return digest, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
