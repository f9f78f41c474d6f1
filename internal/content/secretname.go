// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"strings"
)

// secretNames are the names, in words, of attributes, headers, parameters and
// variables whose value is a credential. Other words may stand before them.
var secretNames = wordSet(`authorization cookie cookies set_cookie api_key apikey
	api_token access_token refresh_token id_token auth_token bearer_token session_token security_token csrf_token token jwt
	password passwd pwd passphrase secret client_secret secret_key private_key access_key secret_access_key signing_key encryption_key
	credential credentials connection_string`)

// lastSecretWords are the last words of secretNames, by which most names are
// known to be none.
var lastSecretWords = func() map[string]struct{} {
	words := make(map[string]struct{})
	for name := range secretNames {
		words[name[strings.LastIndexByte(name, '_')+1:]] = struct{}{}
	}
	return words
}()

// countedBy are the words before "token" that make it one of a text or of a
// list's pages.
var countedBy = wordSet("first output input next page prompt completion total max cached reasoning continuation per")

// secretParameters are the last words that make a parameter of a URL or
// command line a credential besides.
var secretParameters = wordSet("key auth sig signature session sessionid sid code pass")

// secretEndings end a last word that was written without a break, such as
// PGPASSWORD.
var secretEndings = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "credential", "credentials", "signature", "cookie", "pwd"}

// secretWords mark a header or an environment variable, whose owners name
// them freely, as one that may hold a credential.
var secretWords = []string{"auth", "token", "cookie", "secret", "passw", "pwd", "key", "signature", "credential", "session", "jwt", "dsn"}

// folding is a name in small letters, with "_" between its words however they
// were set apart.
type folding struct {
	buf [64]byte
	n   int
}

// fold folds the end of a name, as far as it matters.
func (f *folding) fold(name string) []byte {
	f.n = 0
	name = name[max(0, len(name)-len(f.buf)/2):]
	put := func(c byte) {
		f.buf[f.n] = c
		f.n++
	}
	for i := range len(name) {
		switch c := name[i]; {
		case isUpper(c):
			if beginsWord(name, i) {
				put('_')
			}
			put(c + 'a' - 'A')
		case c == '-' || c == '.':
			put('_')
		default:
			put(c)
		}
	}
	return f.buf[:f.n]
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// NamesSecret reports whether the last segment of an attribute's key is the
// name of a credential, in snake_case, kebab-case or camelCase.
func NamesSecret(key string) bool {
	begin := len(key)
	for begin > 0 && key[begin-1] != '.' && key[begin-1] != ':' {
		begin--
	}
	var f folding
	if _, ok := lastSecretWords[string(f.fold(lastWord(key[begin:])))]; !ok {
		return false
	}
	return namesSecret(f.fold(key[begin:]))
}

// lastWord returns the last word of a name.
func lastWord(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i-1] == '_' || name[i-1] == '-' || beginsWord(name, i) {
			return name[i:]
		}
	}
	return name
}

// beginsWord reports whether a capital begins a word: accessToken and APIToken
// are two words each.
func beginsWord(name string, i int) bool {
	return isUpper(name[i]) && i > 0 && (isLower(name[i-1]) || isUpper(name[i-1]) && i+1 < len(name) && isLower(name[i+1]))
}

// namesSecret looks for the longest name first: what begins at a word.
func namesSecret(words []byte) bool {
	for rest, before := words, []byte(nil); ; {
		if _, ok := secretNames[string(rest)]; ok {
			_, counted := countedBy[string(before)]
			return !counted || string(rest) != "token"
		}
		i := bytes.IndexByte(rest, '_')
		if i < 0 {
			return false
		}
		before, rest = rest[:i], rest[i+1:]
	}
}

// NamesSecretParameter reports whether a parameter of a URL, a flag or a
// variable of a command line has the name of a credential. It takes more names
// for one than NamesSecret, since there is no table of the harmless ones.
func NamesSecretParameter(name string) bool {
	var f folding
	words := bytes.Trim(f.fold(name), "_")
	if namesSecret(words) {
		return true
	}
	last := words[bytes.LastIndexByte(words, '_')+1:]
	if _, ok := secretParameters[string(last)]; ok {
		return true
	}
	for _, ending := range secretEndings {
		if len(last) >= len(ending) && string(last[len(last)-len(ending):]) == ending {
			return true
		}
	}
	return false
}

// mayNameSecret is NamesSecret for names that anybody may choose.
func mayNameSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
