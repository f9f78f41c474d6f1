// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"math"
	"strconv"
	"strings"
)

func isIdentifier(s string) bool { return !holdsEmail(s) && !isEncodedText(s) }

func isUnencoded(s string) bool { return !isEncodedText(s) }

// maxWords is how many words a name has at most: more are a sentence.
const maxWords = 5

func isName(s string) bool {
	words := 0
	for rest, more := s, true; more; {
		var word string
		word, rest, more = strings.Cut(rest, " ")
		if words++; words > maxWords || word == "" {
			return false
		}
		// npm's scopes begin with an @, and versions of models and packages
		// follow one.
		if words == 1 {
			word = strings.TrimPrefix(word, "@")
		}
		if _, tag, found := strings.Cut(word, "@"); found && !isVersionTag(tag) {
			return false
		}
	}
	return !holdsEmail(s) && !isEncodedText(s)
}

var isVersionText = allOf(alnum + "._-")

// isVersionTag matches what follows an @ in the name of a model or a package.
func isVersionTag(s string) bool {
	return s != "" && '0' <= s[0] && s[0] <= '9' && isVersionText(s) || s == "default" || s == "latest"
}

func isComponent(s string) bool {
	kind, name, _ := strings.Cut(s, ":")
	return (kind == "tool" || kind == "prompt") && name != "" && !strings.Contains(name, " ") && isName(strings.TrimSuffix(name, "@"))
}

var isSummaryWord = allOf(alnum + "_.")

func isQuerySummary(s string) bool {
	const (
		shortest = 3 // letters: no statement begins with I or A
		longest  = 8 // words
	)
	operation, rest, more := strings.Cut(s, " ")
	if len(operation) < shortest || strings.Trim(operation, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || strings.Count(s, " ") >= longest {
		return false
	}
	for more {
		var word string
		if word, rest, more = strings.Cut(rest, " "); word == "" || !isSummaryWord(word) {
			return false
		}
	}
	return true
}

var isNumeric = allOf("0123456789.eE+-")

func isNumber(s string) bool {
	if !isNumeric(s) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(f, 0)
}

func isBool(s string) bool {
	return strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
}

var isTimeText = allOf("0123456789-:.+TZtz ")

func isTimestamp(s string) bool {
	return isNumber(s) || len(s) >= len("2006-01-02") && s[4] == '-' && s[7] == '-' && isTimeText(s)
}

var isHex = allOf("0123456789abcdef")

func isDigest(s string) bool {
	sum, ok := strings.CutPrefix(s, plainPrefix)
	return ok && len(sum) == 64 && isHex(sum)
}

var (
	isAnyHex     = allOf("0123456789abcdefABCDEF")
	isBase64Word = allOf(alnum + "+/")
)

func isChecksum(s string) bool {
	if sum, ok := strings.CutSuffix(s, "="); ok {
		return len(sum) == 43 && isBase64Word(sum) && !isEncodedText(s)
	}
	s = strings.TrimPrefix(s, "sha256:")
	return len(s) == 64 && isAnyHex(s)
}

var isMIMEWord = allOf(alnum + "!#$&^_.+-*=")

func isMIMEType(s string) bool {
	kind, parameters, _ := strings.Cut(s, ";")
	top, sub, ok := strings.Cut(kind, "/")
	parameters = strings.TrimSpace(parameters)
	return ok && top != "" && sub != "" && isMIMEWord(top) && isMIMEWord(strings.TrimSpace(sub)) && len(parameters) <= 64 && isMIMEWord(parameters)
}

var isRouteByte = byteSet(alnum + "_.~*:<>{}[]-/")

// maxRouteDigits is how many digits a literal segment of a route may have: a
// version does, an account number does not.
const maxRouteDigits = 4

func isRoute(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case !isRouteByte[c]:
			return false
		case c == '/':
			digits = 0
		case '0' <= c && c <= '9':
			if digits++; digits > maxRouteDigits {
				return false
			}
		}
	}
	return true
}

var isLocationText = allOf(alnum + "._:/~+=,-")

func isWhereabouts(s string) bool { return isLocation(s) || ShapeName.Matches(s) }

func isLocation(s string) bool {
	if decoded, changed := unescape(s); changed {
		s = decoded
	}
	scheme, path, hasAuthority := strings.Cut(s, "://")
	switch {
	case !isLocationText(s) || isEncodedText(s):
		return false
	case strings.HasPrefix(s, "/"):
		return !strings.HasPrefix(s, "//")
	default:
		return hasAuthority && scheme != "" && isURLScheme(scheme) && scheme != "data" && scheme != "javascript" && scheme != "mailto" && path != ""
	}
}

var isURLScheme = allOf("abcdefghijklmnopqrstuvwxyz0123456789+.-")

var (
	isTypeWord    = allOf(alnum + "_.:$`")
	isImportPath  = allOf(alnum + "._/~-")
	goDirectories = wordSet(`archive compress container crypto database debug encoding go hash html image internal io log math mime net os path regexp runtime
		testing text`)
)

// isTypeName matches qualified names and Go's package.Type with an import path
// before it: github.com/jackc/pgconn.PgError, *net/http.MaxBytesError. Other
// texts with a slash are paths.
func isTypeName(s string) bool {
	s = strings.TrimPrefix(s, "*")
	slash := strings.LastIndexByte(s, '/')
	if slash < 0 {
		return s != "" && isTypeWord(s)
	}
	path, name := s[:slash], s[slash+1:]
	first, _, _ := strings.Cut(path, "/")
	_, ofGo := goDirectories[first]
	_, typ, qualified := strings.Cut(name, ".")
	return isImportPath(path) && (ofGo || isDomain(first)) && qualified && typ != "" && isTypeWord(name)
}
