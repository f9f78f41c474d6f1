// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// A credential is never digested: the digest of a secret is a confirmation of
// it (requirement H3). Three questions are asked of a text, from the narrowest
// to the widest:
//
//   - LooksLikeCredential: is it, as a whole, a credential? Then it has no digest.
//   - GivesAwayCredential: would it give one away in clear? Then it does not stay.
//   - HoldsCredential: may it, as a URL or command line, contain one? Then it has
//     no digest either.

// credentialPrefix begins a token whose issuer gave it a recognizable form.
type credentialPrefix struct {
	prefix string
	rest   int // the least length of what follows, in bytes
}

var credentialPrefixes = []credentialPrefix{
	{"sk-", 16},
	{"sk_live_", 8},
	{"sk_test_", 8},
	{"rk_live_", 8},
	{"whsec_", 8},
	{"ghp_", 16},
	{"gho_", 16},
	{"ghu_", 16},
	{"ghs_", 16},
	{"ghr_", 16},
	{"github_pat_", 16},
	{"glpat-", 16},
	{"xoxb-", 8},
	{"xoxp-", 8},
	{"xoxa-", 8},
	{"xoxr-", 8},
	{"xoxs-", 8},
	{"xapp-", 8},
	{"AKIA", 16},
	{"ASIA", 16},
	{"AIza", 30},
	{"ya29.", 16},
	{"GOCSPX-", 16},
	{"hf_", 24},
	{"npm_", 24},
	{"pypi-", 24},
	{"SG.", 24},
	{"gsk_", 24},
	{"xai-", 24},
	{"pplx-", 24},
	{"r8_", 24},
	{"tvly-", 16},
	{"lsv2_", 16},
	{"dop_v1_", 16},
	{"shpat_", 16},
	{"hvs.", 16},
	{"AGE-SECRET-KEY-", 16},
}

// prefixesAt holds the prefixes by their first byte, so that most texts are
// compared with none.
var prefixesAt = func() (at [256][]credentialPrefix) {
	for _, p := range credentialPrefixes {
		at[p.prefix[0]] = append(at[p.prefix[0]], p)
	}
	return at
}()

// maxCredential bounds what is taken for a bare credential, in bytes.
const maxCredential = 16 << 10

// credentialScheme is an authentication scheme of HTTP and the one blank after
// it.
type credentialScheme struct {
	name string
	// parameters says that name=value pairs may follow in place of a token.
	parameters bool
	// word says that the scheme is an English word, which may begin the name of
	// something.
	word bool
}

var credentialSchemes = []credentialScheme{
	{"bearer ", false, false},
	{"basic ", false, true},
	{"digest ", true, true},
	{"token ", false, true},
	{"negotiate ", false, true},
	{"aws4-hmac-sha256 ", true, false},
}

// isTokenText matches a token68 (RFC 9110, 11.2).
var isTokenText = allOf(alnum + "_.~+/=-")

const privateKey = "PRIVATE KEY"

var authorizationHeaders = []string{"authorization:", "proxy-authorization:"}

// minCredential is the length of the shortest credential with its scheme or
// prefix, in bytes.
const minCredential = 12

// pairSet is a set of texts by their first two bytes, so that most texts are
// known not to begin as one of the set does without a comparison.
type pairSet [256][256 / 64]uint64

func (p *pairSet) add(first, second byte) { p[first][second/64] |= 1 << (second % 64) }

func (p *pairSet) has(first, second byte) bool { return p[first][second/64]&(1<<(second%64)) != 0 }

// beginsToken are the beginnings of what beginsWithToken knows.
var beginsToken = func() (begins pairSet) {
	for _, p := range credentialPrefixes {
		begins.add(p.prefix[0], p.prefix[1])
	}
	begins.add('e', 'y') // eyJ
	begins.add('-', '-') // -----BEGIN
	return begins
}()

// beginsCredential are the beginnings of what LooksLikeCredential knows.
var beginsCredential = func() pairSet {
	begins := beginsToken
	eitherCase := func(name string) {
		for _, spelled := range []string{name, strings.ToUpper(name)} {
			for _, second := range []string{name, strings.ToUpper(name)} {
				begins.add(spelled[0], second[1])
			}
		}
	}
	for _, scheme := range credentialSchemes {
		eitherCase(scheme.name)
	}
	for _, header := range authorizationHeaders {
		eitherCase(header)
	}
	return begins
}()

var isPadding = byteSet(" \t\r\n\"'")

// trimmed returns a text without the blanks and quotes around it.
func trimmed(s string) string {
	for len(s) > 0 && isPadding[s[0]] {
		s = s[1:]
	}
	for len(s) > 0 && isPadding[s[len(s)-1]] {
		s = s[:len(s)-1]
	}
	return s
}

// LooksLikeCredential reports whether a value as a whole is a credential by
// its form: an authorization header or its value, a token with its issuer's
// prefix, a JSON Web Token or a private key in PEM.
func LooksLikeCredential(s string) bool {
	if s = trimmed(s); len(s) < minCredential || !beginsCredential.has(s[0], s[1]) {
		return false
	}
	for _, header := range authorizationHeaders {
		if rest, ok := cutPrefixFold(s, header); ok {
			if s = trimmed(rest); len(s) < minCredential {
				return false
			}
		}
	}
	switch s[0] {
	case '-': // a certificate or public key is none
		return strings.HasPrefix(s, "-----BEGIN ") && strings.Contains(s[:min(len(s), 64)], privateKey)
	case 'e':
		return strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") >= 2 && isTokenText(s)
	}
	for _, p := range prefixesAt[s[0]] {
		if rest, ok := strings.CutPrefix(s, p.prefix); ok && isWholeToken(rest, p.rest) {
			return true
		}
	}
	for _, scheme := range credentialSchemes {
		if rest, ok := cutPrefixFold(s, scheme.name); ok {
			rest = strings.TrimSpace(rest)
			return scheme.parameters && strings.Contains(rest, "=") || isTokenText(rest) && !(scheme.word && isPlainWord(rest))
		}
	}
	return false
}

// isWholeToken reports whether all of a text is what follows an issuer's
// prefix: something opaque, or one run without a break, which no name is.
func isWholeToken(rest string, shortest int) bool {
	return len(rest) >= shortest && isTokenText(rest) && (isUnbroken(rest) || isToken(rest, shortest))
}

var isUnbroken = allOf(alnum)

// isPlainWord matches what may follow a scheme that is an English word in the
// name of something, such as the second word of "Token counter" and of "Basic
// CustomerLookup".
func isPlainWord(s string) bool {
	const longest = 30
	return len(s) <= longest && isUnbroken(s) && opaqueBytes(s) < minCredential && !isBase64Text(s)
}

// cutPrefixFold is strings.CutPrefix for a prefix in small letters and a text in
// any case, of which something has to follow.
func cutPrefixFold(s, prefix string) (rest string, found bool) {
	const caseBit = 'a' - 'A'
	if len(s) <= len(prefix) || s[0]|caseBit != prefix[0] || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// GivesAwayCredential reports whether a value would give away a credential if
// it stayed in clear: it is one, or a token, user info or a parameter that is
// one stands in it, spelled out or percent-encoded. A value longer than 16 KiB,
// which no shape admits, is judged as a whole only.
func GivesAwayCredential(s string) bool {
	if len(s) > maxCredential {
		return LooksLikeCredential(s)
	}
	return givesAway(s, marksOf(s))
}

// markTelling are of what a credential shorter than minCredential can't do
// without: user info or a parameter.
const markTelling = markAt | markSlash | markEquals | markEscape | markGap

// givesAway is GivesAwayCredential for a text of which the marks are known.
func givesAway(s string, seen mark) bool {
	switch {
	case len(s) < minCredential && seen&markTelling == 0: // most words and numbers
		return false
	case LooksLikeCredential(s), seen&markBearer != 0 && seen&markGap != 0 && holdsAuthorization(s, "bearer"):
		return true
	case seen&markEscape != 0:
		return inAnySpelling(s, exposes)
	default: // most values
		return marksExpose(s, seen)
	}
}

// MaxSearched bounds the text that is searched for credentials, in bytes.
const MaxSearched = 64 << 10

// HoldsCredential reports whether a URL or command line contains a credential,
// or is too long to be searched.
func HoldsCredential(s string) bool {
	if len(s) > MaxSearched {
		return true
	}
	return LooksLikeCredential(s) || inAnySpelling(s, func(s string) bool { return exposes(s) || commandHolds(s) })
}
