// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// QueryHoldsCredential reports whether a database query contains a credential,
// or is too long to be searched: a token, a connection string, a literal behind
// the name of a credential (PASSWORD 'x', token = 'x', "secret": "x", IDENTIFIED BY
// 'x'), or what Redis is told to authenticate with. A column of that name and a
// parameter in place of the value ($1, ?, '***') are none.
func QueryHoldsCredential(s string) bool {
	if len(s) > MaxSearched || LooksLikeCredential(s) {
		return true
	}
	return holdsToken(s, marksOf(s)) || holdsUserInfo(s) || authenticates(s) || holdsSecretLiteral(s)
}

// authenticates knows the commands by which a client of Redis proves who it is,
// and those that set with what.
func authenticates(s string) bool {
	for _, command := range []string{"auth ", "hello ", "config set requirepass", "config set masterauth", "acl setuser "} {
		if rest, ok := cutPrefixFold(s, command); ok {
			return strings.Trim(rest, " ?*0123456789\r\n") != ""
		}
	}
	return false
}

// holdsSecretLiteral looks at each literal and at each = within one.
func holdsSecretLiteral(s string) bool {
	within := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'', '"':
			if !isMasked(s[i+1:], c) && namesSecretBefore(s[:i], c) {
				return true
			}
			within = within != (c == '\'')
		case '=':
			if within && s[i-1] != c && namesSecretBefore(s[:i+1], c) {
				return true
			}
		}
	}
	return false
}

// isMasked reports whether a literal is empty or has been made unreadable.
func isMasked(literal string, quote byte) bool {
	literal = strings.TrimLeft(literal, "?*")
	return literal != "" && literal[0] == quote
}

// namesSecretBefore reports whether a text ends in the name of a credential and
// what may stand between it and a value that begins with next.
func namesSecretBefore(s string, next byte) bool {
	const blanks = " \t\r\n"
	trimmed := strings.TrimRight(s, blanks)
	before := strings.TrimRight(trimmed, "=:>")
	if len(before) < len(trimmed) {
		return NamesSecret(lastName(strings.TrimRight(strings.TrimRight(before, blanks), "\"'`]")))
	}
	if len(trimmed) == len(s) {
		return false // the quote ends a literal
	}
	word := lastName(trimmed)
	if strings.EqualFold(word, "by") {
		return strings.EqualFold(lastName(strings.TrimRight(trimmed[:len(trimmed)-len(word)], blanks)), "identified")
	}
	return next == '\'' && NamesSecret(word)
}

// lastName returns the name that a text ends in, or the end of a long one.
func lastName(s string) string {
	const longest = 64
	begin := len(s)
	for begin > 0 && len(s)-begin < longest && isNameByte[s[begin-1]] {
		begin--
	}
	return s[begin:]
}
