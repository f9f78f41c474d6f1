// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"regexp"
	"strings"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// Problem says why a request is refused (RFC 9457). It holds names of members and
// keywords, never values.
type Problem struct {
	// Status is the status of HTTP.
	Status int
	// Code is one of Codes, or the id of one of record.Rules.
	Code string
	// Pointer is a JSON Pointer into the request. A name that no schema has stands
	// in it as "?", because it may be content.
	Pointer string
	// Detail is one constant sentence; of a schema it names the keyword too.
	Detail string
}

func (p *Problem) Error() string {
	if p.Pointer == "" {
		return p.Code + ": " + p.Detail
	}
	return p.Code + " at " + p.Pointer + ": " + p.Detail
}

// The codes of this package, apart from those of rules.
const (
	CodeUnreadable      = "unreadable"
	CodeTooLarge        = "too_large"
	CodeTooManyRecords  = "too_many_records"
	CodeNoRecords       = "no_records"
	CodeMalformed       = "malformed"
	CodeDuplicateMember = "duplicate_member"
	CodeTooDeep         = "too_deep"
	CodeNull            = "null"
	CodeEmpty           = "empty"
	CodeNumber          = "number"
	CodeTime            = "time"
	CodeNotAnObject     = "not_an_object"
	CodeKindMissing     = "kind_missing"
	CodeKindNotAccepted = "kind_not_accepted"
	CodeSeveralKinds    = "several_kinds"
	CodeVersion         = "version_unsupported"
	CodeUnknownMember   = "unknown_member"
	CodeOurs            = "member_of_the_writer"
	CodeEventType       = "event_type"
	CodeID              = "id_not_kept"
	CodeInvalid         = "invalid"
)

// Codes are the problems that this package finds by itself, and what each says.
var Codes = map[string]struct {
	Status int
	Detail string
}{
	CodeUnreadable:      {http.StatusBadRequest, "The request could not be read to its end."},
	CodeTooLarge:        {http.StatusRequestEntityTooLarge, "The request or a record in it is too large: send less at once."},
	CodeTooManyRecords:  {http.StatusRequestEntityTooLarge, "The batch has too many records: send fewer at once."},
	CodeNoRecords:       {http.StatusBadRequest, "There is no record in the request."},
	CodeMalformed:       {http.StatusBadRequest, "This is not JSON in UTF-8 (RFC 8259), or something follows it."},
	CodeDuplicateMember: {http.StatusBadRequest, "A name stands twice in one object."},
	CodeTooDeep:         {http.StatusBadRequest, "A record nests deeper than 64 levels."},
	CodeNull:            {http.StatusBadRequest, "Leave out what is not known: null is no value."},
	CodeEmpty:           {http.StatusBadRequest, "Leave out what says nothing: an empty text or object, or 0 where something is counted from 1."},
	CodeNumber:          {http.StatusBadRequest, "A number is a plain integer of at most 2^53-1; write others as decimal strings."},
	CodeTime:            {http.StatusBadRequest, "A time is RFC 3339 with an offset and at most nine fractional digits."},
	CodeNotAnObject:     {http.StatusBadRequest, "A record is an object."},
	CodeKindMissing:     {http.StatusBadRequest, "A record has schema_version and one body, such as action_record."},
	CodeKindNotAccepted: {http.StatusNotFound, "Bodies of this kind are not taken here."},
	CodeSeveralKinds:    {http.StatusBadRequest, "A record has one body: send several as an array."},
	CodeVersion:         {http.StatusBadRequest, "This version of the body's schema is not known here."},
	CodeUnknownMember:   {http.StatusBadRequest, "The schema does not know this member."},
	CodeOurs:            {http.StatusBadRequest, "The receiver or the writer of the journal gives this member: leave it out."},
	CodeEventType:       {http.StatusBadRequest, "event_type is another one for this body: leave it out or correct it."},
	CodeID:              {http.StatusBadRequest, "An id that telemetry has too is one that it keeps: a letter or digit, then letters, digits and ._:/@#+=-, at most 256 bytes and no e-mail address. Of a document, chunk or entry the digest that telemetry gives will do."},
	CodeInvalid:         {http.StatusBadRequest, "The member does not satisfy the schema"},
}

func problem(code, pointer string) *Problem {
	says := Codes[code]
	return &Problem{Status: says.Status, Code: code, Pointer: pointer, Detail: says.Detail}
}

// syntax says what is wrong with a text that is not JSON as we take it.
func syntax(err error) *Problem {
	code, pointer := CodeMalformed, ""
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer = shown(e.JSONPointer)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		code = CodeDuplicateMember
	}
	return problem(code, pointer)
}

// unfit says why a body that was decoded is no body of a record.
func unfit(err error) *Problem {
	if invalid, ok := errors.AsType[*schema.InvalidError](err); ok {
		p := problem(CodeInvalid, shown(jsontext.Pointer(invalid.Location)))
		p.Detail += " (" + invalid.Keyword + ")."
		return p
	}
	if broken, ok := errors.AsType[*record.RuleError](err); ok {
		return &Problem{Status: http.StatusBadRequest, Code: broken.Rule, Pointer: shown(jsontext.Pointer(broken.Pointer)), Detail: rules[broken.Rule]}
	}
	if errors.Is(err, record.ErrTooLarge) {
		return problem(CodeTooLarge, "")
	}
	return problem(CodeMalformed, "")
}

// rules are what the rules of bodies say.
var rules = func() map[string]string {
	says := map[string]string{}
	for _, r := range record.Rules() {
		says[r.ID] = r.Says
	}
	return says
}()

// index is what the index of an element looks like. A longer number is none.
var index = regexp.MustCompile(`^[0-9]{1,6}$`)

// ends says that a pointer was shortened.
const ends = "..."

const longestPointer = 256

// shown returns a pointer without names that may be content: all that no schema has.
func shown(p jsontext.Pointer) string {
	var pointer strings.Builder
	for name := range p.Tokens() {
		if !schema.HasMember(name) && name != string(KindAuditEventPart) && !index.MatchString(name) && name != ends {
			name = "?"
		}
		if pointer.Len()+len(name) > longestPointer {
			pointer.WriteString("/" + ends)
			break
		}
		pointer.WriteString("/" + name)
	}
	return pointer.String()
}
