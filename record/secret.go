// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"regexp"
	"strings"
)

// ErrSecret says that a text of a body looks like a token, a key or a password, which
// no record may hold (requirement H3).
var ErrSecret = errors.New("a text looks like a secret")

// SecretPattern matches a text that looks like a secret: what intake refuses anywhere
// in a body, and the schemas of bodies that only clients give as noSecret. It means the
// same to RE2 and to ECMA-262, where every repetition in it is bounded or ends at a
// character that cannot be repeated.
const SecretPattern = `(` + secretHeader + `|` + secretAssigned + `|` + secretIssued + `|` + secretToken + `|` + secretBeside + `)`

const (
	// An authorization header, its value, or a cookie.
	secretHeader = `[Bb][Ee][Aa][Rr][Ee][Rr]( |%20)[A-Za-z0-9]|[Bb][Aa][Ss][Ii][Cc]( |%20)[A-Za-z+/]{0,64}([0-9][A-Za-z0-9+/]{6}|=)|[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn][:=]|[Cc][Oo][Oo][Kk][Ii][Ee] ?[:=]`
	// A value that is assigned to the name of a secret; {...} in its place is a template.
	secretAssigned = `([Pp][Aa][Ss][Ss][Ww][Dd]|[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]|[Pp][Ww][Dd]|[Aa][Pp][Ii][_-]?[Kk][Ee][Yy])["']?(: ?|=)[^{ ]|([Ss][Ee][Cc][Rr][Ee][Tt]|[Aa][Cc][Cc][Ee][Ss][Ss][_-]?[Kk][Ee][Yy])[A-Za-z_]{0,24}=[^{ ]|[Tt][Oo][Kk][Ee][Nn]=[^{ ]|--(password|passwd|pwd|secret|token|api-key) [^{-]`
	// What issuers put before tokens, at the beginning of a word.
	secretIssued = `(^|[^A-Za-z0-9_-])(gh[opsur]_[A-Za-z0-9]{6}|github_pat_[A-Za-z0-9]{6}|glpat-[A-Za-z0-9_-]{16}|A[KS]IA[0-9A-Z]{12}|sk-([a-z0-9]{1,12}-){0,3}[A-Za-z0-9_]{16}|sk_(live|test)_[A-Za-z0-9]{8}|xox[a-z]-[A-Za-z0-9]{4}|hvs\.[A-Za-z0-9]{4}|SG\.[A-Za-z0-9_-]{16})`
	// A JSON Web Token or its header, and a key in PEM.
	secretToken = `eyJ[A-Za-z0-9_-]{0,512}\.|eyJ(hbGciOi|0eXAiOi|raWQiOi|lbmMiOi)|-----BEGIN`
	// A password beside a user, in a URL or for a command.
	secretBeside = `://[^/@:]*:[^/@]*@|curl ([^|;&]{0,256} )?(-u|--user) ?[^ :{]{1,128}:[^ {]|(mysql|mysqldump|mysqladmin|mariadb) ([^|;&]{0,256} )?-p[^ {]|sshpass ([^|;&]{0,256} )?-p ?[^ {]`
)

var secret = regexp.MustCompile(SecretPattern)

// secretMarks are in lower case in whatever secret matches: most texts have none of
// them, and to look for them takes little time.
var secretMarks = []string{
	"earer ", "earer%20", "basic ", "basic%20", "uthorization:", "uthorization=", "ookie:", "ookie=", "ookie :", "ookie =", "passw", "pwd", "api_key", "api-key",
	"apikey", "secret", "access_key", "access-key", "accesskey", "token=", "--token ", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "akia", "asia",
	"sk-", "sk_", "xox", "hvs.", "sg.", "eyj", "-----begin", "://", "curl ", "mysql", "mariadb", "sshpass",
}

// marksBegin are the first two bytes of secretMarks, in either case: by the first a set
// of the second.
var marksBegin = func() (begin [256][256 / 64]uint64) {
	for _, mark := range secretMarks {
		for _, first := range eitherCase(mark[0]) {
			for _, second := range eitherCase(mark[1]) {
				begin[first][second/64] |= 1 << (second % 64)
			}
		}
	}
	return begin
}()

func eitherCase(c byte) []byte {
	if c < 'a' || c > 'z' {
		return []byte{c}
	}
	return []byte{c, c - ('a' - 'A')}
}

// marked reports whether one of secretMarks stands in a text.
func marked[T string | []byte](text T) bool {
	for at := 1; at < len(text); at++ {
		if second := text[at]; marksBegin[text[at-1]][second/64]&(1<<(second%64)) != 0 && beginsWithMark(text[at-1:]) {
			return true
		}
	}
	return false
}

func beginsWithMark[T string | []byte](text T) bool {
	for _, mark := range marksOf[text[0]] {
		if len(mark) <= len(text) && strings.EqualFold(string(text[:len(mark)]), mark) {
			return true
		}
	}
	return false
}

// marksOf are secretMarks by their first byte, in either case.
var marksOf = func() (by [256][]string) {
	for _, mark := range secretMarks {
		for _, first := range eitherCase(mark[0]) {
			by[first] = append(by[first], mark)
		}
	}
	return by
}()

// LooksLikeSecret reports whether a text looks like a token, a key or a password.
func LooksLikeSecret(text string) bool { return marked(text) && secret.MatchString(text) }

// SecretIn returns the place of the first text in a JSON value that looks like a
// secret.
func SecretIn(value jsontext.Value) (at jsontext.Pointer, found bool) {
	escaped := bytes.IndexByte(value, '\\') >= 0
	if !escaped && !marked([]byte(value)) {
		return "", false
	}
	d := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return "", false // the end
		}
		if token.Kind() != jsontext.KindString {
			continue
		}
		if LooksLikeSecret(token.String()) {
			return d.StackPointer(), true
		}
	}
}
