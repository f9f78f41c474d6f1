// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// valueBytes is the length of an encoded Seen with its checksum.
const valueBytes = 8 + 8 + keyBytes + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendValue appends what is kept of a key.
func appendValue(dst []byte, k Key, s Seen) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, s.At.Segment)
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.At.Offset))
	dst = append(dst, s.Digest[:]...)
	return binary.BigEndian.AppendUint32(dst, checksum(k, dst[begin:]))
}

func decode(k Key, v []byte) (s Seen, err error) {
	if len(v) != valueBytes || binary.BigEndian.Uint32(v[valueBytes-4:]) != checksum(k, v[:valueBytes-4]) {
		return Seen{}, fmt.Errorf("%w: checksum of a mark does not match", ErrDamaged)
	}
	s.At.Segment = binary.BigEndian.Uint64(v)
	s.At.Offset = int64(binary.BigEndian.Uint64(v[8:]))
	s.Digest = Digest(v[16 : 16+keyBytes])
	return s, nil
}

func checksum(k Key, v []byte) uint32 {
	return crc32.Update(crc32.Checksum(k[:], castagnoli), castagnoli, v)
}
