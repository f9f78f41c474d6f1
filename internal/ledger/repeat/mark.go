// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	// markBytes is the length of an encoded mark: key, segment, offset, digest of
	// the body, checksum.
	markBytes  = len(Key{}) + 8 + 8 + keyBytes + checkBytes
	checkBytes = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendMark appends a key and what is kept of it.
func appendMark(dst []byte, k *Key, s *Seen) []byte {
	begin := len(dst)
	dst = append(dst, k[:]...)
	dst = binary.BigEndian.AppendUint64(dst, s.At.Segment)
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.At.Offset))
	dst = append(dst, s.Digest[:]...)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[begin:], castagnoli))
}

// decodeMark takes what appendMark appended.
func decodeMark(m []byte) (s Seen, err error) {
	v := m[len(Key{}):]
	if binary.BigEndian.Uint32(m[markBytes-checkBytes:]) != crc32.Checksum(m[:markBytes-checkBytes], castagnoli) {
		return Seen{}, fmt.Errorf("%w: checksum of a mark does not match", ErrDamaged)
	}
	s.At.Segment = binary.BigEndian.Uint64(v)
	s.At.Offset = int64(binary.BigEndian.Uint64(v[8:]))
	s.Digest = Digest(v[16:][:keyBytes])
	return s, nil
}
