// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// ParseError says why a line is not an entry. It holds nothing of the line.
type ParseError struct {
	// Code is CodeNotCanonical if the bytes are not those that a writer could
	// have signed, and CodeSchemaInvalid if they are but make no entry.
	Code Code
	err  error
}

func (e *ParseError) Error() string { return string(e.Code) + ": " + e.err.Error() }

// Unwrap returns the reason alone.
func (e *ParseError) Unwrap() error { return e.err }

func notCanonical(err error) error { return &ParseError{CodeNotCanonical, err} }

func tooLong(size int64) *ParseError {
	return &ParseError{CodeNotCanonical, fmt.Errorf("line has %d bytes, more than %d", size, record.MaxEntryBytes)}
}

func notEntry(format string, args ...any) error {
	return &ParseError{CodeSchemaInvalid, fmt.Errorf(format, args...)}
}

// ParseLine reads the line of an entry, without its LF, as strictly as contract
// 2 demands: it equals its own RFC 8785 form, so no two lines say the same; its
// numbers are plain integers of at most 2^53-1; it has no duplicate members, no
// invalid UTF-8, at most 1 MiB and 64 levels; it has exactly the three members
// of contract 1, exactly the integrity of contract 4 and, in a body that this
// version knows, every member of Header in its form. It checks neither hash nor
// signature nor schema. Errors are ParseErrors. The entry keeps line, which must
// not be changed afterwards.
func ParseLine(line []byte) (*Entry, error) {
	var p parts
	if err := p.read(line, nil); err != nil {
		return nil, err
	}
	if err := p.checkFixed(); err != nil {
		return nil, err
	}
	e := &Entry{Kind: p.kind, SchemaVersion: p.schemaVersion, Body: jsontext.Value(p.body), Line: line, cut: p.cut}
	e.Integrity = p.integrity()
	frame, err := p.readFrame()
	if err != nil {
		return nil, err
	}
	e.Header.JournalID, e.Header.Sequence, e.Header.RecordedAt = string(frame.journalID), frame.sequence, frame.recordedAt
	if schema.Supports(e.Kind, e.SchemaVersion) {
		if err := e.readHeader(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// parts are what a line consists of, as it stands there: nothing is copied. They
// can be read again and again with the same memory.
type parts struct {
	outline outline
	line    []byte

	kind          record.Kind
	schemaVersion string
	body          []byte
	// header are the members of the body, if it is an object.
	header []member

	sealed
}

var (
	bodyName      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	versionString = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$`)
)

// read reads as much of a line as its hash needs. Nothing else in it is judged
// here, so that bytes that were changed are told from those that were signed. A
// key that the registry has saves judging how its entry spells it.
func (p *parts) read(line []byte, registry *Registry) error {
	if len(line) > record.MaxEntryBytes {
		return tooLong(int64(len(line)))
	}
	p.line = line
	if !p.outline.read(line) {
		return notCanonical(whyNotCanonical(line))
	}
	if line[0] != '{' {
		return notEntry("line is not an object")
	}
	integrity, version, body, all := -1, -1, -1, 0
	for i := range p.outline.members {
		if p.outline.members[i].level != 1 {
			continue
		}
		all++
		switch string(p.outline.name(&p.outline.members[i])) {
		case "integrity":
			integrity = i
		case "schema_version":
			version = i
		default:
			body = i
		}
	}
	switch {
	case all != 3:
		return notEntry("entry has %d members, not 3", all)
	case integrity < 0 || version < 0:
		return notEntry("entry lacks integrity or schema_version")
	}
	if err := p.readBody(body); err != nil {
		return err
	}
	if err := p.readVersion(p.outline.text(&p.outline.members[version])); err != nil {
		return err
	}
	return p.sealed.read(&p.outline, integrity, registry)
}

func (p *parts) readBody(i int) error {
	m := &p.outline.members[i]
	switch name := p.outline.name(m); string(name) {
	case string(record.KindRead):
		p.kind = record.KindRead
	case string(record.KindLineage):
		p.kind = record.KindLineage
	case string(record.KindJournal):
		p.kind = record.KindJournal
	default:
		if !bodyName.Match(name) {
			return notEntry("name of the body is not one that a body can have")
		}
		p.kind = record.Kind(name)
	}
	p.body, p.header = p.outline.text(m), p.outline.within(i)
	return nil
}

func (p *parts) readVersion(value []byte) error {
	const known = `"` + record.SchemaVersion + `"`
	if string(value) == known {
		p.schemaVersion = record.SchemaVersion
		return nil
	}
	p.schemaVersion = ""
	if err := json.Unmarshal(value, &p.schemaVersion); err != nil || !versionString.MatchString(p.schemaVersion) {
		return notEntry("schema_version is not a version like %s", record.SchemaVersion)
	}
	return nil
}

// headerMember returns the value of a member of the body; nil if there is none.
func (p *parts) headerMember(name string) []byte {
	if len(p.header) == 0 {
		return nil
	}
	level := p.header[0].level
	for i := range p.header {
		m := &p.header[i]
		if m.level == level && string(p.outline.name(m)) == name {
			return p.outline.text(m)
		}
	}
	return nil
}

// stringOf returns what a string says; false if value is no string.
func stringOf(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	inner := value[1 : len(value)-1]
	for _, c := range inner {
		if c == '\\' {
			said, err := jsontext.AppendUnquote(nil, value)
			return said, err == nil
		}
	}
	return inner, true
}

func parseErrorOf(err error) *ParseError {
	problem, _ := errors.AsType[*ParseError](err)
	return problem
}
