// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"regexp"
	"strings"
)

// maxUnescapes is how often a text is percent-decoded before it is searched
// for the last time.
const maxUnescapes = 2

// inAnySpelling reports whether a text is such, as it is or percent-decoded.
func inAnySpelling(s string, such func(string) bool) bool {
	for range maxUnescapes {
		if such(s) {
			return true
		}
		decoded, changed := unescape(s)
		if !changed {
			return false
		}
		s = decoded
	}
	return such(s)
}

// unescape decodes the percent-encoding that is well-formed and leaves the
// rest, as browsers do.
func unescape(s string) (decoded string, changed bool) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s, false
	}
	out := []byte(s[:i])
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHexDigit[s[i+1]] && isHexDigit[s[i+2]] {
			out = append(out, hexValue(s[i+1])<<4|hexValue(s[i+2]))
			i += 2
			changed = true
			continue
		}
		out = append(out, s[i])
	}
	return string(out), changed
}

// exposes reports whether a credential stands somewhere in a text in a form
// that says what it is. It takes no regular expression, since it is asked of
// every value that stays in clear.
func exposes(s string) bool { return marksExpose(s, marksOf(s)) }

func marksExpose(s string, seen mark) bool {
	return (seen&markAt != 0 || seen&markSlash != 0 && strings.Contains(s, "//")) && holdsUserInfo(s) || seen&markEquals != 0 && holdsParameter(s, "=") ||
		seen&markOpaque != 0 && holdsToken(s, seen)
}

// minToken is the length of the shortest text that beginsWithToken knows, in
// bytes.
const minToken = 12

// holdsToken reports whether a token stands in a text where a word begins, and
// not within a random id, parts of which can look like the beginning of one. A
// letter after a backslash is an escape of JSON.
func holdsToken(s string, seen mark) bool {
	last := len(s) - minToken
	if seen&^(markAlnum|markBearer|markOpaque|markJoin) == 0 { // no other word begins
		last = min(last, 0)
	}
	for i := 0; i <= last; i++ {
		if beginsToken.has(s[i], s[i+1]) &&
			(i == 0 || marks[s[i-1]]&(markAlnum|markJoin) == 0 || i > 1 && s[i-2] == '\\') && beginsWithToken(s[i:]) {
			return true
		}
	}
	return false
}

// isTokenByte are the bytes of tokens with an issuer's prefix.
var isTokenByte = byteSet(alnum + "_.-")

var isAlnum = byteSet(alnum)

// minEmbeddedJSON is the least length of base64 after "eyJ" that is taken for
// a JSON Web Token or an encoded object, in bytes.
const minEmbeddedJSON = 12

// beginsWithToken knows tokens with an issuer's prefix, JSON in base64 and
// private keys in PEM.
func beginsWithToken(s string) bool {
	for _, p := range prefixesAt[s[0]] {
		if rest, ok := strings.CutPrefix(s, p.prefix); ok && isToken(rest, p.rest) {
			return true
		}
	}
	if strings.HasPrefix(s, "eyJ") {
		return isEmbeddedJSON(s)
	}
	label, ok := strings.CutPrefix(s, "-----BEGIN ")
	return ok && strings.Contains(label[:min(len(label), 64)], privateKey)
}

// isEmbeddedJSON reports whether base64 that begins as an object in JSON does
// goes on as text: a random id can begin so too.
func isEmbeddedJSON(s string) bool {
	end := 0
	for end < len(s) && isAlnum[s[end]] {
		end++
	}
	return end >= minEmbeddedJSON && isBase64Text(s[:end])
}

// isToken reports whether s begins with at least n bytes of a token, of which
// enough are opaque. Words of prose between dashes are none, nor are the names
// of versions.
func isToken(s string, n int) bool {
	const longest = 256 // bytes that are looked at
	end := 0
	for end < len(s) && end < longest && isTokenByte[s[end]] {
		end++
	}
	return end >= n && opaqueBytes(s[:end]) >= min(n, minCredential)
}

// opaqueBytes counts the bytes of the runs of letters and digits that nobody
// would write as words: letters with digits among them, or long ones of both
// cases.
func opaqueBytes(s string) (n int) {
	const longWord = 20 // bytes; shorter ones are CamelCase
	for len(s) > 0 {
		end, letters, digits, small, capitals := 0, false, false, false, false
		for ; end < len(s) && isAlnum[s[end]]; end++ {
			switch c := s[end]; {
			case c <= '9':
				digits = true
			case isUpper(c):
				letters, capitals = true, true
			default:
				letters, small = true, true
			}
		}
		if letters && digits || small && capitals && end >= longWord {
			n += end
		}
		s = s[min(end+1, len(s)):]
	}
	return n
}

// secretPaths are the beginnings of URLs whose path is a credential.
var secretPaths = []string{"//hooks.slack.com/", "//discord.com/api/webhooks/", "//discordapp.com/api/webhooks/", "//api.telegram.org/bot"}

// secretHosts are hosts whose paths all are.
const secretHosts = ".webhook.office.com"

// redactedUserInfo is what instrumentation writes in place of user info
// (OpenTelemetry, url.full).
const redactedUserInfo = "REDACTED:REDACTED@"

// holdsUserInfo finds user info of a URL, with or without its scheme, and
// connection strings of the form user:password@host.
func holdsUserInfo(s string) bool {
	if strings.Contains(s, "@") && strings.Contains(s, "jdbc:") {
		return true // Oracle writes user/password@host behind it
	}
	lastAt := strings.LastIndexByte(s, '@')
	for rest := s; ; {
		i := strings.Index(rest, "//")
		if i < 0 {
			break
		}
		for _, path := range secretPaths {
			if strings.HasPrefix(rest[i:], path) {
				return true
			}
		}
		rest = strings.TrimPrefix(rest[i+len("//"):], redactedUserInfo)
		authority := rest
		if end := strings.IndexAny(rest, "/?#\\ \t\r\n\"'"); end >= 0 {
			authority = rest[:end]
		}
		if strings.Contains(authority, "@") || strings.HasSuffix(authority, secretHosts) {
			return true
		}
		// A password may hold what ends an authority; then its beginning stands
		// where a port should.
		_, port, found := strings.Cut(authority, ":")
		if found && authority[0] != '[' && !isDigits(port) && len(s)-len(rest) <= lastAt {
			return true
		}
	}
	for rest := s; ; {
		before, after, found := strings.Cut(rest, "@")
		if !found {
			return false
		}
		before = before[strings.LastIndexAny(before, " \t\r\n\"'/")+1:]
		user, password, _ := strings.Cut(before, ":")
		_, isAddress := addressSchemes[user]
		if password != "" && !isAddress && beginsWithHost(after) && before+"@" != redactedUserInfo {
			return true
		}
		rest = after
	}
}

// addressSchemes stand before an address of somebody, which has no password.
var addressSchemes = wordSet("mailto email sip sips xmpp acct")

var isDigits = allOf("0123456789")

// isNameByte are the bytes of the names of parameters, flags and variables.
var isNameByte = byteSet(alnum + "_.-")

// holdsParameter finds a name of a credential with a value after one of the
// separators, bare or in quotes. A blank as separator stands for any number of
// them. Only = may follow a name that is part of a path or of a host.
func holdsParameter(s, separators string) bool {
	for end := 1; end < len(s); end++ {
		if isNameByte[s[end]] || !isNameByte[s[end-1]] {
			continue
		}
		separator := separatorIn(s[end:], separators)
		if separator == 0 {
			continue
		}
		begin := end
		for begin > 0 && isNameByte[s[begin-1]] {
			begin--
		}
		if separator != '=' && begin > 0 && strings.IndexByte(`?&;#"'{[(, `+"\t\r\n", s[begin-1]) < 0 {
			continue
		}
		if NamesSecretParameter(s[begin:end]) {
			return true
		}
	}
	return false
}

// separatorIn returns the separator that stands between a name and a value, or
// 0 if there is none or no value.
func separatorIn(s, separators string) byte {
	const blanks = " \t\r\n"
	if strings.IndexByte(`"']`, s[0]) >= 0 {
		s = s[1:]
	}
	value, separator := strings.TrimLeft(s, blanks), byte(' ')
	if value != "" && value[0] != ' ' && strings.IndexByte(separators, value[0]) >= 0 {
		separator = value[0]
		value = strings.TrimLeft(value[1:], blanks+`"'`)
	} else if len(value) == len(s) || strings.IndexByte(separators, ' ') < 0 {
		return 0
	}
	if value == "" || value[0] == '&' {
		return 0
	}
	return separator
}

// holdsAuthorization finds the value of an authorization header of one of the
// schemes, which begin with a b.
func holdsAuthorization(s string, schemes ...string) bool {
	const shortest = 6 // bytes
	for i := range len(s) {
		if s[i] != 'b' && s[i] != 'B' {
			continue
		}
		for _, scheme := range schemes {
			rest, ok := cutPrefixFold(s[i:], scheme)
			value := strings.TrimLeft(rest, " \t\r\n%+")
			if ok && len(value) < len(rest) && len(value) >= shortest && isTokenText(value[:shortest]) {
				return true
			}
		}
	}
	return false
}

// secretFlags finds the flags for user and password, and those that are short
// for one in some programs.
var secretFlags = regexp.MustCompile(strings.Join([]string{
	`(?:^|\s)(?:-u|--user|--proxy-user)[=\s]*\S+:\S`,
	`(?:^|\s)-p\S{4,}`,
	`(?:sshpass|mongo[a-z]*|cqlsh|(?:docker|podman|helm\s+registry)\s+login)\s(?:.*\s)?-p\s*\S`,
	`(?:sqlcmd|mosquitto_\w+)\s(?:.*\s)?-P\s*\S`,
	`redis-cli\s(?:.*\s)?-a\s*\S`,
	`ldap[a-z]+\s(?:.*\s)?-w\s*\S`,
}, "|"))

// hasFlag reports whether a word of a command line begins with a dash, without
// which there is nothing for the regular expression to find.
func hasFlag(s string) bool {
	for rest, before := s, byte(' '); rest != ""; {
		i := strings.IndexByte(rest, '-')
		if i < 0 {
			return false
		}
		if i > 0 {
			before = rest[i-1]
		}
		if before == ' ' || '\t' <= before && before <= '\r' {
			return true
		}
		rest, before = rest[i+1:], '-'
	}
	return false
}

// listed turns a list of words in JSON, or as Python prints it, into a command
// line.
var listed = strings.NewReplacer(`["`, "", `"]`, "", `", "`, " ", `","`, " ", `['`, "", `']`, "", `', '`, " ", `','`, " ")

// commandHolds finds what only command lines hold.
func commandHolds(s string) bool {
	if strings.HasPrefix(s, "[") {
		s = listed.Replace(s)
	}
	return holdsParameter(s, "=: ") || holdsAuthorization(s, "bearer", "basic") || hasFlag(s) && secretFlags.MatchString(s)
}
