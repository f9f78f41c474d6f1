// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxFileBytes bounds one file of a bundle: a copy of content is the largest, and
// the index of a million entries takes a third of it.
const maxFileBytes = 1 << 30

// archiveWriter writes the files of a bundle, which must come in the order of
// their names.
type archiveWriter struct {
	w    *bufio.Writer
	last string
}

func newArchiveWriter(w io.Writer) *archiveWriter {
	return &archiveWriter{w: bufio.NewWriterSize(w, 64<<10)}
}

// add writes one file.
func (a *archiveWriter) add(name string, size int64, content io.Reader) error {
	if name <= a.last {
		return fmt.Errorf("%s comes twice or out of order", name)
	}
	h, err := header(name, size)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	a.last = name
	if _, err := a.w.Write(h[:]); err != nil {
		return err
	}
	if n, err := io.Copy(a.w, io.LimitReader(content, size+1)); err != nil || n != size {
		return errors.Join(fmt.Errorf("%s: read %d bytes instead of %d", name, n, size), err)
	}
	return a.zeros(padding(size))
}

// close ends the archive.
func (a *archiveWriter) close() error {
	if err := a.zeros(2 * blockSize); err != nil {
		return err
	}
	return a.w.Flush()
}

func (a *archiveWriter) zeros(n int64) error {
	var b [2 * blockSize]byte
	_, err := a.w.Write(b[:n])
	return err
}

// archiveReader reads the files of a bundle one after the other, with one buffer.
type archiveReader struct {
	r io.ReaderAt
	// offset is where the next header is expected, size where the archive ends.
	offset, size int64
	last         string
}

// file is one file of a bundle.
type file struct {
	name    string
	size    int64
	content *io.SectionReader
}

// next returns the next file, and io.EOF after the last one. Any byte that was
// not written by archiveWriter is errArchive: names out of order, twice, or
// leading elsewhere, and everything else that a tar can hold.
func (a *archiveReader) next() (*file, error) {
	var b [blockSize]byte
	if err := a.read(b[:]); err != nil {
		return nil, err
	}
	if b == [blockSize]byte{} {
		if err := a.read(b[:]); err != nil {
			return nil, err
		}
		if b != [blockSize]byte{} || a.offset != a.size {
			return nil, errArchive
		}
		return nil, io.EOF
	}
	name, size, err := parseHeader(&b)
	if err != nil {
		return nil, err
	}
	if name <= a.last || size > a.size-a.offset {
		return nil, errArchive
	}
	a.last = name
	f := &file{name: name, size: size, content: io.NewSectionReader(a.r, a.offset, size)}
	a.offset += size
	pad := b[:padding(size)]
	if err := a.read(pad); err != nil {
		return nil, err
	}
	for _, c := range pad {
		if c != 0 {
			return nil, errArchive
		}
	}
	return f, nil
}

// read reads the next bytes; there have to be so many.
func (a *archiveReader) read(b []byte) error {
	if int64(len(b)) > a.size-a.offset {
		return errArchive
	}
	n, err := a.r.ReadAt(b, a.offset)
	if n < len(b) {
		if errors.Is(err, io.EOF) {
			return errArchive
		}
		return fmt.Errorf("read bundle: %w", err)
	}
	a.offset += int64(len(b))
	return nil
}

// all returns the content of a file that has at most limit bytes.
func (f *file) all(limit int64) ([]byte, bool, error) {
	if f.size > limit {
		return nil, false, nil
	}
	b := make([]byte, f.size)
	if _, err := f.content.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read bundle: %w", err)
	}
	return b, true, nil
}
