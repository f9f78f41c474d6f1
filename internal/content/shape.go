// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Shape is what a value may look like to stay in clear. The zero Shape matches
// nothing.
type Shape struct {
	name  string
	max   int // bytes
	kinds kinds
	list  bool
	match func(string) bool
}

// kinds is a set of Kind that a shape takes beside strings.
type kinds uint16

func kindSet(of ...Kind) (k kinds) {
	for _, kind := range of {
		k |= 1 << kind
	}
	return k
}

// maxListed bounds the elements of a list that stays in clear.
const maxListed = 128

// The shapes. No shape matches the empty string.
var (
	// ShapeIdentifier is an opaque id: letters, digits and ._:/@#+=~%-, at
	// most 256 bytes; or an integer.
	ShapeIdentifier = Shape{"identifier", 256, kindSet(KindInt), false, allOf(alnum + "._:/@#+=~%-")}
	// ShapeName is the name of a tool, model, agent or component: words of
	// letters, digits and _.:/@- with single spaces between them, at most 128
	// bytes.
	ShapeName = Shape{"name", 128, 0, false, isName}
	// ShapeToken is one word of a vocabulary: letters, digits and _.:/-,
	// at most 64 bytes, or an integer.
	ShapeToken = Shape{"token", 64, kindSet(KindInt), false, allOf(alnum + "_.:/-")}
	// ShapeVersion is a version: letters, digits and .+_~:/-, at most 64
	// bytes, or a number.
	ShapeVersion = Shape{"version", 64, kindSet(KindInt, KindDouble), false, allOf(alnum + ".+_~:/-")}
	// ShapeTypeName is the name of a type in a programming language, at most
	// 128 bytes.
	ShapeTypeName = Shape{"type_name", 128, 0, false, allOf(alnum + "_.:$/`")}
	// ShapeNumber is a finite number as OTLP value or in JSON spelling.
	ShapeNumber = Shape{"number", 32, kindSet(KindInt, KindDouble), false, isNumber}
	// ShapeBool is a bool as OTLP value or spelled true or false in any case.
	ShapeBool = Shape{"bool", 5, kindSet(KindBool), false, isBool}
	// ShapeTimestamp is an RFC 3339 time or a number of time units.
	ShapeTimestamp = Shape{"timestamp", 40, kindSet(KindInt, KindDouble), false, isTimestamp}
	// ShapeHex is a string of hexadecimal digits, at most 128 bytes.
	ShapeHex = Shape{"hex", 128, 0, false, allOf("0123456789abcdefABCDEF")}
	// ShapeDigest is a digest of contract 2 without a key.
	ShapeDigest = Shape{"digest", 71, 0, false, isDigest}
	// ShapeMIMEType is a media type with at most a charset or boundary token.
	ShapeMIMEType = Shape{"mime_type", 128, 0, false, isMIMEType}
	// ShapeHost is a DNS name or an IP address.
	ShapeHost = Shape{"host", 253, 0, false, allOf(alnum + ".-_:")}
	// ShapePort is a TCP or UDP port.
	ShapePort = Shape{"port", 5, kindSet(KindInt), false, allOf("0123456789")}
	// ShapeHTTPMethod is a method that IANA registers, or _OTHER.
	ShapeHTTPMethod = OneOf("http_method", "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY", "_OTHER")
	// ShapeURLScheme is a URL scheme.
	ShapeURLScheme = Shape{"url_scheme", 16, 0, false, allOf("abcdefghijklmnopqrstuvwxyz0123456789+.-")}
	// ShapeRoute is a path template: literal segments without long digit runs
	// and parameters such as {id}, :id or <id>.
	ShapeRoute = Shape{"route", 256, 0, false, isRoute}
	// ShapeLocation is where content is kept: a URI or path without user
	// info, query or fragment.
	ShapeLocation = Shape{"location", 1024, 0, false, isLocation}
	// ShapeEventName is a name on the list of event names.
	ShapeEventName = Shape{"event_name", 128, 0, false, KnownEventName}
)

var shapes = []Shape{
	ShapeIdentifier, ShapeName, ShapeToken, ShapeVersion, ShapeTypeName, ShapeNumber, ShapeBool, ShapeTimestamp, ShapeHex,
	ShapeDigest, ShapeMIMEType, ShapeHost, ShapePort, ShapeHTTPMethod, ShapeURLScheme, ShapeRoute, ShapeLocation,
}

// ShapeNamed returns the shape of that name, as configuration spells it.
func ShapeNamed(name string) (Shape, bool) {
	for _, s := range shapes {
		if s.name == name {
			return s, true
		}
	}
	return Shape{}, false
}

// ShapeNames returns the names that ShapeNamed knows, in the order of the
// documentation.
func ShapeNames() []string {
	names := make([]string, len(shapes))
	for i, s := range shapes {
		names[i] = s.name
	}
	return names
}

// OneOf is the shape of a value out of a fixed set, case exact.
func OneOf(name string, values ...string) Shape {
	longest := 0
	for _, v := range values {
		longest = max(longest, len(v))
	}
	return Shape{name, longest, 0, false, func(s string) bool { return slices.Contains(values, s) }}
}

// List returns the shape of a value of shape s or an array of such values,
// structured or as JSON text without escapes.
func (s Shape) List() Shape {
	s.list = true
	return s
}

// String returns the name of the shape.
func (s Shape) String() string { return s.name }

// Matches reports whether a string has the shape.
func (s Shape) Matches(v string) bool {
	if s.list && strings.HasPrefix(v, "[") {
		return s.matchesList(v)
	}
	return v != "" && len(v) <= s.max && s.match(v)
}

func (s Shape) matchesList(v string) bool {
	inner, ok := strings.CutSuffix(v[1:], "]")
	if !ok || strings.Count(inner, ",") >= maxListed {
		return false
	}
	for element := range strings.SplitSeq(inner, ",") {
		element = strings.TrimPrefix(element, " ")
		if len(element) < 3 || len(element) > s.max+2 || element[0] != '"' || element[len(element)-1] != '"' || !s.match(element[1:len(element)-1]) {
			return false
		}
	}
	return true
}

// Takes reports whether every value of a kind that is no string has the shape.
// A double has it only if it is finite.
func (s Shape) Takes(k Kind) bool { return s.kinds&(1<<k) != 0 }

// TakesList reports whether an array of n values can have the shape.
func (s Shape) TakesList(n int) bool { return s.list && n <= maxListed }

const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// allOf matches strings of only these ASCII characters.
func allOf(characters string) func(string) bool {
	var set [256]bool
	for i := range len(characters) {
		set[characters[i]] = true
	}
	return func(s string) bool {
		for i := range len(s) {
			if !set[s[i]] {
				return false
			}
		}
		return true
	}
}

var isWord = allOf(alnum + "_.:/@-")

func isName(s string) bool {
	for word := range strings.SplitSeq(s, " ") {
		if word == "" || !isWord(word) {
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
	sum, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(sum) == 64 && isHex(sum)
}

var isMIMEWord = allOf(alnum + "!#$&^_.+-*=")

func isMIMEType(s string) bool {
	kind, parameters, _ := strings.Cut(s, ";")
	top, sub, ok := strings.Cut(kind, "/")
	parameters = strings.TrimSpace(parameters)
	return ok && top != "" && sub != "" && isMIMEWord(top) && isMIMEWord(strings.TrimSpace(sub)) && len(parameters) <= 64 && isMIMEWord(parameters)
}

var isRouteWord = allOf(alnum + "_.~*:<>{}[]-")

// maxRouteDigits is how many digits a literal segment of a route may have: a
// version does, an account number does not.
const maxRouteDigits = 4

func isRoute(s string) bool {
	for segment := range strings.SplitSeq(s, "/") {
		digits := 0
		for i := range len(segment) {
			if '0' <= segment[i] && segment[i] <= '9' {
				digits++
			}
		}
		if digits > maxRouteDigits || !isRouteWord(segment) {
			return false
		}
	}
	return true
}

var isLocationText = allOf(alnum + "._:/~+=%,-")

func isLocation(s string) bool { return isLocationText(s) }
