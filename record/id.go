// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Prefixes of the ids that we derive (contract 3).
const (
	prefixRead    = "read_"
	prefixContext = "ctx_"
	prefixEvent   = "evt_"
	prefixPart    = "part_"
)

// derivedLength is the number of base32 characters of a derived id: 130 bits.
const derivedLength = 26

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ReadIDOfSpan derives the read_id of a span from its trace and span id. If one
// of them is invalid the caller adds what else identifies the span, since ids
// of zero would make strangers repeats of each other.
func ReadIDOfSpan(traceID [16]byte, spanID [8]byte, extra ...[]byte) string {
	fields := append(make([][]byte, 0, 16), traceID[:], spanID[:])
	return derive(prefixRead, "span", append(fields, extra...)...)
}

// ReadIDOfLog derives the read_id of a log record from its ids, its time in
// nanoseconds, its event name, its call id and the digest of its body.
func ReadIDOfLog(traceID [16]byte, spanID [8]byte, unixNano uint64, eventName, callID, bodyDigest string) string {
	return derive(prefixRead, "log", traceID[:], spanID[:], binary.BigEndian.AppendUint64(nil, unixNano),
		[]byte(eventName), []byte(callID), []byte(bodyDigest))
}

// ContextIDOfSpan is ReadIDOfSpan for the context_id of a model call.
func ContextIDOfSpan(traceID [16]byte, spanID [8]byte, extra ...[]byte) string {
	fields := append(make([][]byte, 0, 16), traceID[:], spanID[:])
	return derive(prefixContext, "span", append(fields, extra...)...)
}

// ContextIDOfLog is ReadIDOfLog for the context_id of a model call that a log
// record tells of.
func ContextIDOfLog(traceID [16]byte, spanID [8]byte, unixNano uint64, eventName, callID, bodyDigest string) string {
	return derive(prefixContext, "log", traceID[:], spanID[:], binary.BigEndian.AppendUint64(nil, unixNano),
		[]byte(eventName), []byte(callID), []byte(bodyDigest))
}

// derive hashes length-prefixed fields, so that no two field lists have the
// same preimage.
func derive(prefix, item string, fields ...[]byte) string {
	var usual [128]byte
	preimage := appendField(appendField(usual[:0], "readtrail/id/v1"), item)
	for _, f := range fields {
		preimage = appendField(preimage, f)
	}
	sum := sha256.Sum256(preimage)
	id := append(make([]byte, 0, 64), prefix...)
	return string(lowerBase32.AppendEncode(id, sum[:])[:len(prefix)+derivedLength])
}

func appendField[T string | []byte](dst []byte, field T) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(field))), field...)
}

// EventID returns the event id for a ULID in Crockford base32 (contract 3).
func EventID(ulid string) string { return prefixEvent + ulid }

// HexTraceID spells a trace id as entries do; an all-zero id is absent.
func HexTraceID(id [16]byte) string {
	if id == [16]byte{} {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// HexSpanID spells a span id as entries do; an all-zero id is absent.
func HexSpanID(id [8]byte) string {
	if id == [8]byte{} {
		return ""
	}
	return hex.EncodeToString(id[:])
}

// TraceExecution is the execution id of a record whose telemetry names no
// execution but has a trace.
func TraceExecution(traceID string) string { return "trace:" + traceID }

// ItemExecution is the execution id of a record that has neither an execution
// nor a trace: an execution of its own, so that nothing is joined by accident.
func ItemExecution(id string) string { return "item:" + id }

// maxIDLength bounds an id that an application gives, in bytes.
const maxIDLength = 256

// PassesForDigest reports whether a text begins as a digest does, plain or
// keyed (contract 2). As an id it could be taken for the digest of one.
func PassesForDigest(s string) bool {
	return strings.HasPrefix(s, "sha256:") || strings.HasPrefix(s, keyedPrefix)
}

// ValidRecordRef reports whether an identifier can stand in record_refs as it
// is: what begins as a keyed digest has to be one.
func ValidRecordRef(s string) bool { return s != "" && !strings.HasPrefix(s, keyedPrefix) }

const keyedPrefix = "hmac-sha256:"

// isIDByte are the bytes of an id that an application gives; the first is a
// letter or a digit.
var isIDByte = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@#+=-") {
		set[c] = true
	}
	return set
}()

// ValidGivenID reports whether s can serve as an id given by an application:
// visible ASCII without spaces or quotes, at most 256 bytes, and none that
// passes for a digest.
func ValidGivenID(s string) bool {
	if s == "" || len(s) > maxIDLength || PassesForDigest(s) || strings.IndexByte("._:/@#+=-", s[0]) >= 0 {
		return false
	}
	for i := range len(s) {
		if !isIDByte[s[i]] {
			return false
		}
	}
	return true
}
