// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"slices"
	"strings"
)

// Shape is what a value may look like to stay in clear. The zero Shape matches
// nothing.
type Shape struct {
	name  string
	max   int // bytes
	kinds kinds
	list  bool
	bytes mark // of which a value may be made
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
	// ShapeIdentifier is an opaque id: letters, digits and ._:/@#+=~|-, at most
	// 256 bytes, without an e-mail address or encoded text in it; or an integer.
	ShapeIdentifier = Shape{"identifier", 256, kindSet(KindInt), false, markWord | markSlash | markAt | markBar | markPlus | markEquals | markTilde, isIdentifier}
	// ShapeName is the name of a tool, model, agent or component: up to five
	// words of letters, digits and _.:/- with single spaces between them, at
	// most 160 bytes, without encoded text. An @ stands at the beginning or
	// before a version. Libraries that hide the names of an MCP server and its
	// tool give their two SHA-256 in hexadecimal.
	ShapeName = Shape{"name", 160, 0, false, markWord | markSlash | markAt | markBlank, isName}
	// ShapeToken is one word of a vocabulary: letters, digits and _.:/-,
	// at most 64 bytes, without encoded text, or an integer.
	ShapeToken = Shape{"token", 64, kindSet(KindInt), false, markWord | markSlash, isUnencoded}
	// ShapeVersion is a version: letters, digits and .+_~:/-, at most 64
	// bytes, or a number.
	ShapeVersion = Shape{"version", 64, kindSet(KindInt, KindDouble), false, markWord | markSlash | markPlus | markTilde, isUnencoded}
	// ShapeTypeName is the name of a type in a programming language, at most
	// 128 bytes. A slash stands only in the import path of a Go package.
	ShapeTypeName = Shape{"type_name", 128, 0, false, anyBytes, isTypeName}
	// ShapeNumber is a finite number as OTLP value or in JSON spelling.
	ShapeNumber = Shape{"number", 32, kindSet(KindInt, KindDouble), false, anyBytes, isNumber}
	// ShapeBool is a bool as OTLP value or spelled true or false in any case.
	ShapeBool = Shape{"bool", 5, kindSet(KindBool), false, anyBytes, isBool}
	// ShapeTimestamp is an RFC 3339 time or a number of time units.
	ShapeTimestamp = Shape{"timestamp", 40, kindSet(KindInt, KindDouble), false, anyBytes, isTimestamp}
	// ShapeHex is a string of hexadecimal digits, at most 128 bytes.
	ShapeHex = Shape{"hex", 128, 0, false, anyBytes, isAnyHex}
	// ShapeDigest is a digest of contract 2 without a key.
	ShapeDigest = Shape{"digest", 71, 0, false, anyBytes, isDigest}
	// ShapeMIMEType is a media type with at most a charset or boundary token.
	ShapeMIMEType = Shape{"mime_type", 128, 0, false, anyBytes, isMIMEType}
	// ShapeHost is a DNS name or an IP address.
	ShapeHost = Shape{"host", 253, 0, false, markWord, func(string) bool { return true }} // its bytes are all that there is to it
	// ShapePort is a TCP or UDP port.
	ShapePort = Shape{"port", 5, kindSet(KindInt), false, anyBytes, allOf("0123456789")}
	// ShapeHTTPMethod is a method that IANA registers, or _OTHER.
	ShapeHTTPMethod = oneOf("http_method", "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY", "_OTHER")
	// ShapeURLScheme is a URL scheme.
	ShapeURLScheme = Shape{"url_scheme", 16, 0, false, anyBytes, isURLScheme}
	// ShapeRoute is a path template: literal segments without long digit runs
	// and parameters such as {id}, :id or <id>.
	ShapeRoute = Shape{"route", 256, 0, false, anyBytes, isRoute}
	// ShapeLocation is where content is kept: a URI with an authority, or an
	// absolute path, without user info, query, fragment or encoded text, at most
	// 1024 bytes.
	ShapeLocation = Shape{"location", 1024, 0, false, anyBytes, isLocation}
	// ShapeWhereabouts is a location, or the name of a place where content is kept.
	ShapeWhereabouts = Shape{"location_or_name", 1024, 0, false, anyBytes, isWhereabouts}
	// ShapeChecksum is a SHA-256 as an application may spell that of a document:
	// hexadecimal digits, alone or behind sha256:, or base64 of no text.
	ShapeChecksum = Shape{"checksum", 71, 0, false, anyBytes, isChecksum}
	// ShapeEventName is a name on the list of event names.
	ShapeEventName = Shape{"event_name", 128, 0, false, anyBytes, KnownEventName}
	// ShapeQuerySummary is an operation in capitals and what it was done to, such
	// as SELECT customers, at most 128 bytes (OpenTelemetry, db.query.summary).
	ShapeQuerySummary = Shape{"query_summary", 128, 0, false, anyBytes, isQuerySummary}
	// ShapeComponent is the key of a FastMCP tool or prompt, of at most 128
	// bytes: its kind, its name and perhaps its version. That of a resource is
	// its URI and has not this shape.
	ShapeComponent = Shape{"component", 128, 0, false, markWord | markSlash | markAt | markBlank, isComponent}
	// ShapeProgram is the file name of a program, without its path.
	ShapeProgram = Shape{"program", 64, 0, false, anyBytes, allOf(alnum + "_.+-")}
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

// oneOf is the shape of a value out of a fixed set, case exact.
func oneOf(name string, values ...string) Shape {
	longest := 0
	for _, v := range values {
		longest = max(longest, len(v))
	}
	return Shape{name, longest, 0, false, anyBytes, func(s string) bool { return slices.Contains(values, s) }}
}

// List returns the shape of a value of shape s or an array of such values,
// structured or as JSON text without escapes.
func (s Shape) List() Shape {
	s.list = true
	return s
}

// String returns the name of the shape.
func (s Shape) String() string { return s.name }

// Matches reports whether a string has the shape and may stay in clear as far
// as credentials go: what would give one away has no shape.
func (s Shape) Matches(v string) bool {
	if s.list && strings.HasPrefix(v, "[") {
		return s.matchesList(v)
	}
	return s.matchesOne(v)
}

func (s Shape) matchesOne(v string) bool {
	if v == "" || len(v) > s.max {
		return false
	}
	seen := marksOf(v)
	return seen&^s.bytes == 0 && s.match(v) && !givesAway(v, seen)
}

func (s Shape) matchesList(v string) bool {
	inner, ok := strings.CutSuffix(v[1:], "]")
	if !ok || strings.Count(inner, ",") >= maxListed {
		return false
	}
	for element := range strings.SplitSeq(inner, ",") {
		element = strings.TrimPrefix(element, " ")
		if len(element) < 3 || element[0] != '"' || element[len(element)-1] != '"' || !s.matchesOne(element[1:len(element)-1]) {
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

// byteSet is a set of ASCII characters.
func byteSet(characters string) (set [256]bool) {
	for i := range len(characters) {
		set[characters[i]] = true
	}
	return set
}

// allOf matches strings of only these ASCII characters.
func allOf(characters string) func(string) bool {
	set := byteSet(characters)
	return func(s string) bool {
		for i := range len(s) {
			if !set[s[i]] {
				return false
			}
		}
		return true
	}
}
