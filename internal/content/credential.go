// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"regexp"
	"strings"
)

// A credential is never digested: the digest of a secret is a confirmation of
// it (requirement H3).

// credentialPrefixes begin tokens whose issuers gave them a recognisable form,
// with the least length of what follows.
var credentialPrefixes = []struct {
	prefix string
	rest   int
}{
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

// maxCredential bounds what is taken for a bare credential, in bytes.
const maxCredential = 16 << 10

var credentialSchemes = []string{"bearer ", "basic ", "digest ", "token ", "negotiate ", "aws4-hmac-sha256 "}

var isTokenText = allOf(alnum + "_.+/=-")

// LooksLikeCredential reports whether a value as a whole is a credential by
// its form: an authorization header's value, a token with its issuer's prefix,
// a JSON Web Token or a private key in PEM.
func LooksLikeCredential(s string) bool {
	s = strings.Trim(s, " \t\r\n\"'")
	if len(s) < 12 {
		return false
	}
	if strings.HasPrefix(s, "-----BEGIN ") { // a certificate or public key is none
		return strings.Contains(s[:min(len(s), 64)], "PRIVATE KEY")
	}
	for _, scheme := range credentialSchemes {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return isTokenText(strings.TrimSpace(s[len(scheme):])) || scheme == "digest " && strings.Contains(s, "=")
		}
	}
	for _, p := range credentialPrefixes {
		if rest, ok := strings.CutPrefix(s, p.prefix); ok && len(rest) >= p.rest && isTokenText(rest) {
			return true
		}
	}
	return strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") >= 2 && isTokenText(s)
}

// MaxSearched bounds the text that is searched for credentials, in bytes.
const MaxSearched = 64 << 10

// embeddedCredential finds credentials inside URLs and command lines: user
// info, parameters and flags whose name says so, authorization values and
// tokens with a known prefix.
var embeddedCredential = regexp.MustCompile(strings.Join([]string{
	`://[^/?#\s"'@]*@`,
	`(?i)(?:^|[?&;#\s"'{,-])(?:[a-z0-9]+[_.-])*(?:api_?-?key|apikey|key|secret|token|password|passwd|pwd|pass|passphrase|auth|authorization|cookie|credentials?|sig|signature|session|sessionid|sid|code|jwt)["']?\s*[=:\s]\s*\S`,
	`(?i)(?:bearer|basic)[\s%+]+[a-z0-9_.+/=-]{6,}`,
	`(?:^|\s)(?:-u|--user|--proxy-user)[=\s]*\S+:\S`,
	`(?:^|\s)-p\S{4,}`,
	`(?:sk-|sk_live_|sk_test_|gh[pousr]_|github_pat_|glpat-|xox[bpars]-|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{12,}`,
	`-----BEGIN [A-Z ]*PRIVATE KEY`,
}, "|"))

// HoldsCredential reports whether a URL or command line contains a credential,
// or is too long to be searched.
func HoldsCredential(s string) bool {
	if len(s) > MaxSearched {
		return true
	}
	s = strings.ReplaceAll(s, "://REDACTED:REDACTED@", "://")
	return embeddedCredential.MatchString(s)
}

// secretNames are the names of attributes, headers, parameters and variables
// whose value is a credential.
var secretNames = map[string]struct{}{}

func init() {
	for name := range strings.FieldsSeq(`authorization proxy_authorization cookie cookies set_cookie x_api_key api_key apikey
		api_token access_token refresh_token id_token auth_token bearer_token session_token security_token csrf_token token jwt
		password passwd pwd passphrase secret client_secret secret_key private_key access_key secret_access_key signing_key
		credential credentials connection_string`) {
		secretNames[name] = struct{}{}
	}
}

// secretWords mark a header or an environment variable, whose owners name
// them freely, as one that may hold a credential.
var secretWords = []string{"auth", "token", "cookie", "secret", "passw", "pwd", "key", "signature", "credential", "session", "jwt", "dsn"}

// namesSecret reports whether the last segment of an attribute's key is the
// name of a credential.
func namesSecret(key string) bool {
	const longest = 24
	last := key[strings.LastIndexAny(key, ".:")+1:]
	if last == "" || len(last) > longest {
		return false
	}
	var folded [longest]byte
	for i := range len(last) {
		c := last[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '-':
			c = '_'
		}
		folded[i] = c
	}
	_, ok := secretNames[string(folded[:len(last)])]
	return ok
}

// mayNameSecret is namesSecret for names that anybody may choose.
func mayNameSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
