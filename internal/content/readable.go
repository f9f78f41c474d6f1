// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An id or a name says nothing to whoever does not know it. What reads as an
// address of somebody or as encoded text is neither.

// holdsEmail reports whether an e-mail address stands in a text: something
// before an @ and a domain name after it. A version after the @, as in
// name@1.2.0, is none.
func holdsEmail(s string) bool {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '@')
		if i < 0 {
			return false
		}
		at += i + 1
		if at > 1 && isEmailByte[s[at-2]] && isDomain(host(s[at:])) {
			return true
		}
	}
}

var (
	isEmailByte = byteSet(alnum + "._+~=-")
	isHostByte  = byteSet(alnum + ".-")
	isLetters   = allOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
)

// host returns the host name that a text begins with.
func host(s string) string {
	end := 0
	for end < len(s) && isHostByte[s[end]] {
		end++
	}
	return strings.Trim(s[:end], ".-")
}

// isDomain reports whether a host name ends in a top-level domain.
func isDomain(host string) bool {
	first, rest, found := strings.Cut(host, ".")
	if !found {
		return false
	}
	if second, _, _ := strings.Cut(rest, "."); isDigits(first) && isDigits(second) {
		return false
	}
	top := host[strings.LastIndexByte(host, '.')+1:]
	return len(top) >= 2 && isLetters(top) || strings.HasPrefix(top, "xn--")
}

// beginsWithHost reports whether a text begins with what can only be a host:
// a domain name, or a name and then a port or a path.
func beginsWithHost(s string) bool {
	name := host(s)
	if name == "" {
		return false
	}
	rest := s[len(name):]
	if port, ok := strings.CutPrefix(rest, ":"); ok {
		const longest = 5
		digits := 0
		for digits < len(port) && '0' <= port[digits] && port[digits] <= '9' {
			digits++
		}
		return 0 < digits && digits <= longest && (digits == len(port) || !isAlnum[port[digits]])
	}
	return isDomain(name) || name == "localhost" || strings.HasPrefix(rest, "/")
}

// minEncoded is the least length of a run of letters and digits that is
// decoded, in bytes. Shorter runs are left alone: a call id that a model's API
// made at random must not be lost because it happens to decode to text, which
// about one in ten million of this length does.
const minEncoded = 24

// isEncodedText reports whether a run of letters and digits in an id is text
// in base64 or hexadecimal.
func isEncodedText(s string) bool {
	for len(s) >= minEncoded {
		// What breaks a run before that length is found sooner from its end.
		begin := minEncoded
		for begin > 0 && isAlnum[s[begin-1]] {
			begin--
		}
		if begin > 0 {
			s = s[begin:]
			continue
		}
		end := minEncoded
		for end < len(s) && isAlnum[s[end]] {
			end++
		}
		if run := s[:end]; isBase64Text(run) || isHexText(run) {
			return true
		}
		s = s[min(end+1, len(s)):]
	}
	return false
}

// base64Value is the place of a letter or digit in alnum, which is the order
// of base64.
var base64Value = func() (value [256]byte) {
	for i := range len(alnum) {
		value[alnum[i]] = byte(i)
	}
	return value
}()

// isBase64Text stops at the first control character, which is early in what
// is no text.
func isBase64Text(run string) bool {
	var decoded [192]byte
	n, bits, held := 0, 0, uint32(0)
	for i := range len(run) {
		held = held<<6 | uint32(base64Value[run[i]])
		if bits += 6; bits < 8 {
			continue
		}
		bits -= 8
		c := byte(held >> bits)
		if isControl(c) {
			return false
		}
		if n == len(decoded) {
			break
		}
		decoded[n] = c
		n++
	}
	return isText(decoded[:n])
}

var isHexDigit = byteSet("0123456789abcdefABCDEF")

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	default:
		return c&^0x20 - 'A' + 10
	}
}

// isHexText does not take a number for text.
func isHexText(run string) bool {
	const shortest = 40
	var decoded [128]byte
	if len(run) < shortest || len(run)%2 != 0 || isDigits(run) {
		return false
	}
	n := 0
	for i := 0; i < len(run) && n < len(decoded); i += 2 {
		if !isHexDigit[run[i]] || !isHexDigit[run[i+1]] {
			return false
		}
		c := hexValue(run[i])<<4 | hexValue(run[i+1])
		if isControl(c) {
			return false
		}
		decoded[n] = c
		n++
	}
	return isText(decoded[:n])
}

func isControl(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }

// isText reports whether bytes are UTF-8 of printable ASCII and letters. The
// last character may be cut off.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(b)
		}
		if r >= utf8.RuneSelf && !unicode.IsLetter(r) {
			return false
		}
		b = b[size:]
	}
	return true
}
