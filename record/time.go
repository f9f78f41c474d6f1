// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"time"
)

// timeLayout is the only spelling of a time in an entry: RFC 3339, UTC, Z,
// exactly nine fractional digits (contract 2).
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// Time is an instant as entries spell it. The zero Time is absent.
type Time struct{ t time.Time }

var errTime = errors.New("time is not RFC 3339 in UTC with nine fractional digits")

// NewTime returns t as an entry holds it.
func NewTime(t time.Time) Time { return Time{t.UTC()} }

// TimeFromUnixNano returns the instant ns nanoseconds after the epoch, as OTLP
// counts them; 0 means unknown and gives the absent Time.
func TimeFromUnixNano(ns uint64) Time {
	if ns == 0 {
		return Time{}
	}
	const second = uint64(time.Second)
	return NewTime(time.Unix(int64(ns/second), int64(ns%second)))
}

// ParseTime reads the one spelling that entries allow. It does what time.Parse and
// a comparison with the time's own spelling do, in a tenth of the time: a verifier
// reads the time of every entry.
func ParseTime(s string) (Time, error) {
	if len(s) != len(timeLayout) {
		return Time{}, errTime
	}
	for i := range len(s) {
		switch c, want := s[i], timeLayout[i]; {
		case '0' <= want && want <= '9':
			if c < '0' || c > '9' {
				return Time{}, errTime
			}
		case c != want:
			return Time{}, errTime
		}
	}
	month, day, hour, minute, second := number(s[5:7]), number(s[8:10]), number(s[11:13]), number(s[14:16]), number(s[17:19])
	t := time.Date(number(s[:4]), time.Month(month), day, hour, minute, second, number(s[20:29]), time.UTC)
	// A day that the month has not becomes one of the next.
	if month < 1 || month > 12 || t.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return Time{}, errTime
	}
	return NewTime(t), nil
}

// number reads decimal digits.
func number(digits string) (n int) {
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}

// Std returns the instant as a time.Time.
func (t Time) Std() time.Time { return t.t }

// IsZero reports whether the time is absent.
func (t Time) IsZero() bool { return t.t.IsZero() }

// String returns the spelling of contract 2.
func (t Time) String() string { return t.t.Format(timeLayout) }

// AppendText implements encoding.TextAppender.
func (t Time) AppendText(b []byte) ([]byte, error) {
	// As timeLayout says, by the layout for which the library has a faster way.
	b = t.t.AppendFormat(b, time.RFC3339)
	b = append(b[:len(b)-len("Z")], '.')
	for unit, rest := int(time.Second)/10, t.t.Nanosecond(); unit > 0; unit /= 10 {
		b = append(b, '0'+byte(rest/unit))
		rest %= unit
	}
	return append(b, 'Z'), nil
}

// appendQuoted appends the time as it stands in an entry.
func (t Time) appendQuoted(dst []byte) []byte {
	dst, _ = t.AppendText(append(dst, '"')) // which cannot fail
	return append(dst, '"')
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}
