// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sort"
)

// A run is marks sorted by their keys, which is never changed: what is learned
// becomes a new run, and small runs are merged into larger ones. So the time that
// a mark costs does not depend on how many there are, as it would in a tree into
// which keys without any order are put.
//
//	since     uint64, big-endian: the first run that was merged into this one, or itself
//	marks     uint32, big-endian
//	filter    uint32, big-endian: its length; then the filter
//	checksum  uint32, big-endian: CRC-32C of everything before it
//	and each mark, as appendMark writes it
type run struct {
	part      string // the bucket
	id, since uint64
	marks     int
	filter    filter
}

const (
	runHeadBytes = 8 + 4 + 4
	// maxRunMarks bounds a run, and with it what merging holds in memory.
	maxRunMarks = 1 << 18
)

// sortedMarks are encoded marks in the order of their keys.
type sortedMarks []byte

func (s sortedMarks) len() int         { return len(s) / markBytes }
func (s sortedMarks) key(i int) []byte { return s[i*markBytes:][:len(Key{})] }
func (s sortedMarks) mark(i int) []byte {
	return s[i*markBytes:][:markBytes]
}

// find returns what the marks say of a key.
func (s sortedMarks) find(k *Key) (seen Seen, found bool, err error) {
	i := sort.Search(s.len(), func(i int) bool { return bytes.Compare(s.key(i), k[:]) >= 0 })
	if i == s.len() || !bytes.Equal(s.key(i), k[:]) {
		return Seen{}, false, nil
	}
	seen, err = decodeMark(s.mark(i))
	return seen, err == nil, err
}

// merge returns the marks of both; of a key that both have, the newer one.
func merge(older, newer sortedMarks) sortedMarks {
	out := make(sortedMarks, 0, len(older)+len(newer))
	o, n := 0, 0
	for o < older.len() && n < newer.len() {
		switch bytes.Compare(older.key(o), newer.key(n)) {
		case -1:
			out = append(out, older.mark(o)...)
			o++
		case 0:
			o++
		default:
			out = append(out, newer.mark(n)...)
			n++
		}
	}
	out = append(out, older[o*markBytes:]...)
	return append(out, newer[n*markBytes:]...)
}

// encodeRun returns the bytes of a run, and the filter among them.
func encodeRun(since uint64, marks sortedMarks) (text []byte, f filter) {
	f = newFilter(marks.len())
	for i := range marks.len() {
		f.add((*Key)(marks.key(i)))
	}
	text = make([]byte, 0, runHeadBytes+len(f)+4+len(marks))
	text = binary.BigEndian.AppendUint64(text, since)
	text = binary.BigEndian.AppendUint32(text, uint32(marks.len()))
	text = binary.BigEndian.AppendUint32(text, uint32(len(f)))
	text = append(text, f...)
	text = binary.BigEndian.AppendUint32(text, crc32.Checksum(text, castagnoli))
	return append(text, marks...), f
}

// decodeRun splits the bytes of a run, which the marks stay part of. It checks
// all but the marks, which have checksums of their own.
func decodeRun(text []byte) (r run, marks sortedMarks, err error) {
	damaged := fmt.Errorf("%w: run does not hold together", ErrDamaged)
	if len(text) < runHeadBytes+4 {
		return run{}, nil, damaged
	}
	r.since = binary.BigEndian.Uint64(text)
	r.marks = int(binary.BigEndian.Uint32(text[8:]))
	size := int(binary.BigEndian.Uint32(text[12:]))
	rest := text[runHeadBytes:]
	if size == 0 || size%blockBytes != 0 || len(rest) < size+4 || len(rest)-size-4 != r.marks*markBytes {
		return run{}, nil, damaged
	}
	r.filter = filter(rest[:size])
	marks = sortedMarks(rest[size+4:])
	if binary.BigEndian.Uint32(rest[size:]) != crc32.Checksum(text[:runHeadBytes+size], castagnoli) {
		return run{}, nil, damaged
	}
	return r, marks, nil
}

// marksOfRun is decodeRun for what was checked when it was loaded.
func (r *run) marksOfRun(text []byte) (sortedMarks, error) {
	at := runHeadBytes + len(r.filter) + 4
	if len(text) != at+r.marks*markBytes {
		return nil, fmt.Errorf("%w: run is not the one that was there", ErrDamaged)
	}
	return sortedMarks(text[at:]), nil
}
