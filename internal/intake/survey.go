// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// item is an item of a request, taken apart.
type item struct {
	kind    record.Kind
	version string
	body    said
}

// said is a body as a client wrote it.
type said struct {
	raw jsontext.Value
	// outline has the objects and lists of the body, and nil for what is neither.
	outline map[string]any
}

// maxDepth is how deep an entry nests (contract 2).
const maxDepth = 64

// A survey looks once at every token of an item, for all that is asked of tokens. That
// the item is JSON in UTF-8 and that no name stands twice was checked when it was cut
// out. Of the problems that an item has, the client is told of one: of what no entry may
// hold (contract 2) and no type would notice, which ends the survey; then of the members
// beside the body; then of secrets, of ids and of the writer's members in the body. Of
// several of a class it is the first.
type survey struct {
	*jsontext.Decoder
	// text and spelled are the item. Names and texts without escapes are parts of it.
	text    jsontext.Value
	spelled string
	item    item
	// inBody says that the token is one of the body.
	inBody                     bool
	envelope, secret, id, ours *Problem
}

// take takes an item of a request apart. Pointers of problems are relative to it.
func take(text jsontext.Value) (*item, *Problem) {
	s := survey{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)), text: text, spelled: string(text)}
	if p := s.members(); p != nil {
		return nil, p
	}
	if p := cmp.Or(s.envelope, s.secret, s.id, s.ours); p != nil {
		return nil, p
	}
	return &s.item, nil
}

// members looks at the members of the item.
func (s *survey) members() *Problem {
	if _, err := s.ReadToken(); err != nil {
		return syntax(err)
	}
	for s.PeekKind() != jsontext.KindEndObject {
		name, p := s.name()
		if p != nil {
			return p
		}
		if s.envelope == nil {
			s.envelope = s.beside(name)
		}
		begin := s.InputOffset()
		kind := s.PeekKind()
		s.inBody = s.envelope == nil && name != versionMember
		outline, p := s.value("", decoders[record.Kind(name)].ours)
		if p != nil {
			return p
		}
		s.inBody = false
		value := jsontext.Value(bytes.TrimLeft(s.text[begin:s.InputOffset()], ": \t\r\n"))
		switch {
		case s.envelope != nil:
		case name == versionMember && kind != jsontext.KindString:
			s.envelope = problem(CodeVersion, "/"+versionMember)
		case name == versionMember:
			version, _ := jsontext.AppendUnquote(nil, value)
			s.item.version = string(version)
		case kind != jsontext.KindBeginObject:
			s.envelope = problem(CodeNotAnObject, "/"+name)
		default:
			s.item.kind, s.item.body = record.Kind(strings.Clone(name)), said{value, outline.(map[string]any)}
		}
	}
	switch {
	case s.envelope != nil:
	case s.item.kind == "":
		s.envelope = problem(CodeKindMissing, "")
	case !supports(s.item.kind, s.item.version):
		s.envelope = problem(CodeVersion, "/"+versionMember)
	}
	return nil
}

// beside says why a member may not stand in an item.
func (s *survey) beside(name string) *Problem {
	code := ""
	switch kind := record.Kind(name); {
	case name == versionMember:
	case name == oursInItem:
		code = CodeOurs
	case slices.Contains(notAccepted, kind):
		code = CodeKindNotAccepted
	case decoders[kind].decode == nil:
		code = CodeUnknownMember
	case s.item.kind != "":
		code = CodeSeveralKinds
	}
	if code == "" {
		return nil
	}
	return problem(code, shown(s.StackPointer()))
}

// value looks at the value that comes next and returns its outline. member is the name
// of the member whose text or list of texts it is, and ours what a client may not say
// below it.
func (s *survey) value(member string, ours places) (outline any, p *Problem) {
	switch s.PeekKind() {
	case jsontext.KindBeginObject:
		return s.object(ours)
	case jsontext.KindBeginArray:
		return s.list(member, ours["*"])
	}
	value, err := s.ReadValue()
	if err != nil {
		return nil, syntax(err)
	}
	switch value.Kind() {
	case jsontext.KindNull:
		return nil, problem(CodeNull, shown(s.StackPointer()))
	case jsontext.KindNumber:
		if !isPlainInteger(string(value)) {
			return nil, problem(CodeNumber, shown(s.StackPointer()))
		}
	case jsontext.KindString:
		text, p := s.string(value)
		if p != nil {
			return nil, p
		}
		if s.inBody && s.id == nil && !joins(member, text) {
			s.id = problem(CodeID, s.inItem())
		}
	}
	return nil, nil
}

func (s *survey) object(ours places) (outline any, p *Problem) {
	if p := s.begin(); p != nil {
		return nil, p
	}
	members := map[string]any{}
	for s.PeekKind() != jsontext.KindEndObject {
		name, p := s.name()
		if p != nil {
			return nil, p
		}
		below, isOurs := ours[name]
		if isOurs && below == nil && s.inBody && s.ours == nil {
			s.ours = problem(CodeOurs, s.inItem())
		}
		if members[name], p = s.value(name, below); p != nil {
			return nil, p
		}
	}
	_, _ = s.ReadToken() // which was seen
	return members, nil
}

func (s *survey) list(member string, ours places) (outline any, p *Problem) {
	if p := s.begin(); p != nil {
		return nil, p
	}
	elements := []any{}
	for s.PeekKind() != jsontext.KindEndArray {
		of := member
		if s.PeekKind() == jsontext.KindBeginArray {
			of = "" // a list in a list is that of no member
		}
		below, p := s.value(of, ours)
		if p != nil {
			return nil, p
		}
		elements = append(elements, below)
	}
	_, _ = s.ReadToken() // which was seen
	return elements, nil
}

// begin reads the begin of an object or a list.
func (s *survey) begin() *Problem {
	if _, err := s.ReadToken(); err != nil {
		return syntax(err)
	}
	if s.StackDepth() > maxDepth {
		return problem(CodeTooDeep, shown(s.StackPointer()))
	}
	return nil
}

// name reads the name of a member.
func (s *survey) name() (string, *Problem) {
	quoted, err := s.ReadValue()
	if err != nil {
		return "", syntax(err)
	}
	return s.string(quoted)
}

// string returns the text or the name that was read. No text of a body, an id or a name
// too, may look like a token, a key or a password.
func (s *survey) string(quoted jsontext.Value) (text string, p *Problem) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		end := s.InputOffset()
		text = s.spelled[end-int64(len(quoted))+1 : end-1]
	} else {
		unquoted, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return "", syntax(err)
		}
		text = string(unquoted)
	}
	if text == "" {
		return "", problem(CodeEmpty, shown(s.StackPointer()))
	}
	if s.inBody && s.secret == nil && (record.LooksLikeSecret(text) || content.LooksLikeCredential(text)) {
		s.secret = unfit(&schema.InvalidError{Keyword: "not"})
		s.secret.Pointer = s.inItem()
	}
	return text, nil
}

// inItem is the pointer of what was read in the body, that in the body being shown.
func (s *survey) inItem() string {
	full := string(s.StackPointer())
	body := len(full)
	if second := strings.IndexByte(full[1:], '/'); second >= 0 {
		body = second + 1
	}
	return full[:body] + shown(jsontext.Pointer(full[body:]))
}

// isPlainInteger reports whether a literal is an integer that an entry may hold.
func isPlainInteger(literal string) bool {
	n, err := strconv.ParseInt(literal, 10, 64)
	return err == nil && -record.MaxInteger <= n && n <= record.MaxInteger && literal != "-0"
}

// places are members by their names, with those below them; nil stands for one that is
// meant itself, and the name * for the elements of a list.
type places map[string]places

// placesOf returns the places that pointers name. None is below another.
func placesOf(pointers ...string) places {
	all := places{}
	for _, pointer := range pointers {
		at := all
		names := slices.Collect(jsontext.Pointer(pointer).Tokens())
		for _, name := range names[:len(names)-1] {
			if at[name] == nil {
				at[name] = places{}
			}
			at = at[name]
		}
		at[names[len(names)-1]] = nil
	}
	return all
}
