// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package execution

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A file of one segment, all numbers big-endian:
//
//	magic[8] journal[16] segment[8] size[8] places[8] crc32c[4]     the head
//	first key of each block[8] ... crc32c[4]                        the fences
//	key[8] offset[8] ... crc32c[4]                                  blocks, each of blockPlaces places but the last
//
// journal is the beginning of the SHA-256 of the journal's id, size that of the
// segment in bytes. Places are sorted by key and offset. Every part has its own
// checksum, since a look-up reads a few of them.
const (
	magic       = "rtexec\x00\x01"
	headBytes   = len(magic) + 16 + 8 + 8 + 8 + checkBytes
	placeBytes  = 16
	blockPlaces = 255
	blockBytes  = blockPlaces*placeBytes + checkBytes
	checkBytes  = 4
	fenceBytes  = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errUseless says that a file is not that of its segment, or is damaged.
var errUseless = errors.New("index of executions is not that of its segment")

// label says which segment of which journal a file is about.
type label struct {
	journal string
	segment uint64
	// size is in bytes, of the segment.
	size int64
}

func (l label) append(dst []byte, places int) []byte {
	journal := sha256.Sum256([]byte(l.journal))
	dst = append(append(dst, magic...), journal[:16]...)
	dst = binary.BigEndian.AppendUint64(dst, l.segment)
	dst = binary.BigEndian.AppendUint64(dst, uint64(l.size))
	return binary.BigEndian.AppendUint64(dst, uint64(places))
}

func sealed(part []byte) []byte {
	return binary.BigEndian.AppendUint32(part, crc32.Checksum(part, castagnoli))
}

// opened returns a part without its checksum, which must be right.
func opened(part []byte) ([]byte, error) {
	body := part[:len(part)-checkBytes]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(part[len(body):]) {
		return nil, errUseless
	}
	return body, nil
}

// encode spells a file. It sorts the places.
func encode(l label, places []place) []byte {
	slices.SortFunc(places, comparePlaces)
	blocks := slices.Collect(slices.Chunk(places, blockPlaces))
	size := headBytes + len(blocks)*(fenceBytes+blockBytes) + checkBytes
	out := append(make([]byte, 0, size), sealed(l.append(nil, len(places)))...)
	var fences []byte
	for _, b := range blocks {
		fences = binary.BigEndian.AppendUint64(fences, uint64(b[0].key))
	}
	out = append(out, sealed(fences)...)
	for _, b := range blocks {
		begin := len(out)
		for _, p := range b {
			out = binary.BigEndian.AppendUint64(out, uint64(p.key))
			out = binary.BigEndian.AppendUint64(out, uint64(p.offset))
		}
		out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out[begin:], castagnoli))
	}
	return out
}

// find returns the offsets in a segment of the entries that have a key, from an
// offset on, in their order. It returns errUseless for a file that is not that of
// the segment, and never reads more than the fences and the blocks that hold the
// key.
func find(r io.ReaderAt, l label, key Key, from int64) ([]int64, error) {
	places, err := readHead(r, l)
	if err != nil {
		return nil, err
	}
	blocks := (places + blockPlaces - 1) / blockPlaces
	fences, err := readPart(r, int64(headBytes), blocks*fenceBytes)
	if err != nil {
		return nil, err
	}
	first := func(block int) Key { return Key(binary.BigEndian.Uint64(fences[block*fenceBytes:])) }
	block := 0 // the last one that begins before the key, which may end with it
	for low, high := 0, blocks; low < high; {
		if middle := (low + high) / 2; first(middle) < key {
			block, low = middle, middle+1
		} else {
			high = middle
		}
	}
	var offsets []int64
	for ; block < blocks && first(block) <= key; block++ {
		at := int64(headBytes+blocks*fenceBytes+checkBytes) + int64(block)*int64(blockBytes)
		body, err := readPart(r, at, min(blockPlaces, places-block*blockPlaces)*placeBytes)
		if err != nil {
			return nil, err
		}
		for ; len(body) > 0; body = body[placeBytes:] {
			offset := int64(binary.BigEndian.Uint64(body[8:]))
			if Key(binary.BigEndian.Uint64(body)) == key && offset >= from {
				offsets = append(offsets, offset)
			}
		}
	}
	return offsets, nil
}

// readHead returns the number of places.
func readHead(r io.ReaderAt, l label) (int, error) {
	head, err := readPart(r, 0, headBytes-checkBytes)
	if err != nil {
		return 0, err
	}
	places := binary.BigEndian.Uint64(head[len(head)-8:])
	// Every entry has more bytes than a place.
	if places > uint64(l.size)/placeBytes || string(head) != string(l.append(nil, int(places))) {
		return 0, errUseless
	}
	return int(places), nil
}

// readPart returns a part with a body of a number of bytes.
func readPart(r io.ReaderAt, at int64, size int) ([]byte, error) {
	part := make([]byte, size+checkBytes)
	if _, err := r.ReadAt(part, at); errors.Is(err, io.EOF) {
		return nil, errUseless
	} else if err != nil {
		return nil, err
	}
	return opened(part)
}

// suffix is that of the files, behind the first sequence of their segments.
const suffix = ".executions"

// unfinished follows in the name of a file that is being written.
const unfinished = ".new"

func pathOf(dir string, segment uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", segment, suffix))
}

// store writes a file whole or not at all. It is not synced: what a crash leaves of
// it is known by its checksums.
func store(dir string, l label, text []byte) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, "*"+suffix+unfinished)
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), pathOf(dir, l.segment))
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// lookUp asks the file of a segment.
func lookUp(dir string, l label, key Key, from int64) ([]int64, error) {
	f, err := os.Open(pathOf(dir, l.segment))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return find(f, l, key, from)
}

// sweep removes what a crash left: files of segments that are gone, and those that
// were not written to their end.
func sweep(dir string, segments []uint64) {
	files, _ := os.ReadDir(dir) // nothing depends on it
	for _, f := range files {
		number, ours := strings.CutSuffix(f.Name(), suffix)
		first, err := strconv.ParseUint(number, 10, 64)
		_, there := slices.BinarySearch(segments, first)
		if ours && (err != nil || !there) || strings.HasSuffix(f.Name(), suffix+unfinished) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
