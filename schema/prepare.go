// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A compiled schema asks some things of a value in a way that costs more than it has
// to: it follows a reference by a validation of its own, and walks all members of an
// object to find out for each "if" what one of them is. prepare asks the same in fewer
// steps. What fits and what does not, and the places and keywords of what does not,
// stay those of the schema as it was written.
func prepare(s *jsonschema.Schema) *jsonschema.Schema {
	p := preparation{done: map[*jsonschema.Schema]bool{}}
	return p.below(s)
}

type preparation struct {
	done map[*jsonschema.Schema]bool
}

// below prepares a schema with all that it consists of, and returns what stands for it.
func (p *preparation) below(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if s.Ref != nil && saysOnly(s, "Ref") {
		return p.below(s.Ref)
	}
	if p.done[s] {
		return s
	}
	p.done[s] = true
	for _, one := range []**jsonschema.Schema{&s.Ref, &s.Not, &s.If, &s.Then, &s.Else, &s.Contains, &s.Items2020} {
		*one = p.below(*one)
	}
	for _, several := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		for i := range several {
			several[i] = p.below(several[i])
		}
	}
	for name, member := range s.Properties {
		s.Properties[name] = p.below(member)
	}
	for pattern, member := range s.PatternProperties {
		s.PatternProperties[pattern] = p.below(member)
	}
	if other, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		s.AdditionalProperties = p.below(other)
	}
	if bounds := boundsOf(s); bounds != nil {
		s.Types, s.Minimum, s.Maximum = nil, nil, nil
		s.Extensions = append(s.Extensions, bounds)
	}
	if not := excludedBy(s); not != nil {
		s.Not = nil
		s.Extensions = append(s.Extensions, not)
	}
	s.AllOf = slices.DeleteFunc(s.AllOf, func(one *jsonschema.Schema) bool {
		if c := conditionalOf(one); c != nil {
			s.Extensions = append(s.Extensions, c)
			return true
		}
		if saysOnly(one, "Extensions") {
			s.Extensions = append(s.Extensions, one.Extensions...)
			return true
		}
		if s.Required == nil && saysOnly(one, "Required") {
			s.Required = one.Required
			return true
		}
		return false
	})
	return s
}

// saysOnly reports whether some fields of a compiled schema are all that it has, apart
// from what is said about it.
func saysOnly(s *jsonschema.Schema, fields ...string) bool {
	about := []string{"DraftVersion", "Location", "ID", "Title", "Description", "Comment"}
	for field, value := range reflect.ValueOf(s).Elem().Fields() {
		if field.IsExported() && !value.IsZero() && !slices.Contains(about, field.Name) && !slices.Contains(fields, field.Name) {
			return false
		}
	}
	return true
}

// conditional is a schema that holds if a condition does.
type conditional struct {
	condition *condition
	then      *jsonschema.Schema
	// ofMembers says that all that it says is of its members.
	ofMembers bool
}

func conditionalOf(s *jsonschema.Schema) *conditional {
	c := conditionOf(s.If)
	if c == nil || s.Then == nil || !saysOnly(s, "If", "Then") {
		return nil
	}
	return &conditional{c, s.Then, saysOnly(s.Then, "Properties")}
}

// Validate implements jsonschema.SchemaExt.
func (c *conditional) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if c.condition.holds(v) && !(c.ofMembers && c.hasNone(v)) {
		ctx.AddErr(ctx.Validate(c.then, v, nil))
	}
}

// hasNone reports whether a value has none of the members.
func (c *conditional) hasNone(v any) bool {
	object, _ := v.(map[string]any)
	for name := range c.then.Properties {
		if _, found := object[name]; found {
			return false
		}
	}
	return true
}

// condition is what nearly every "if" says: that a member is there, and is one of some
// texts or an object with such a member.
type condition struct {
	member string
	below  *condition
	texts  []string
}

// conditionOf returns the condition that a schema is, nil if it is another.
func conditionOf(s *jsonschema.Schema) *condition {
	if s == nil || !saysOnly(s, "Properties", "Required") || len(s.Properties) != 1 || len(s.Required) != 1 {
		return nil
	}
	c := &condition{member: s.Required[0]}
	member := s.Properties[c.member]
	if member == nil {
		return nil
	}
	values := []any{}
	switch {
	case member.Const != nil && saysOnly(member, "Const"):
		values = append(values, *member.Const)
	case member.Enum != nil && saysOnly(member, "Enum"):
		values = member.Enum.Values
	default:
		c.below = conditionOf(member)
	}
	for _, value := range values {
		text, ok := value.(string)
		if !ok {
			return nil
		}
		c.texts = append(c.texts, text)
	}
	if c.below == nil && c.texts == nil {
		return nil
	}
	return c
}

// holds reports whether a value satisfies the condition, as what is no object satisfies
// all that a schema says of members.
func (c *condition) holds(v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return true
	}
	value, found := object[c.member]
	if !found {
		return false
	}
	if c.below != nil {
		return c.below.holds(value)
	}
	text, ok := value.(string)
	return ok && slices.Contains(c.texts, text)
}

// excluded are what a text may not be: none of some constants, and of no pattern.
type excluded struct {
	constants []string
	patterns  []jsonschema.Regexp
}

// excludedBy returns what the "not" of a schema consists of, nil if it consists of
// something else.
func excludedBy(s *jsonschema.Schema) *excluded {
	if s.Not == nil {
		return nil
	}
	e := &excluded{}
	if e.add(s.Not) {
		return e
	}
	if len(s.Not.AnyOf) == 0 || !saysOnly(s.Not, "AnyOf") {
		return nil
	}
	for _, one := range s.Not.AnyOf {
		if !e.add(one) {
			return nil
		}
	}
	return e
}

// add adds a schema that is a pattern or a text, and reports whether it is.
func (e *excluded) add(s *jsonschema.Schema) bool {
	switch {
	case s.Pattern != nil && saysOnly(s, "Pattern"):
		e.patterns = append(e.patterns, s.Pattern)
		return true
	case s.Const != nil && saysOnly(s, "Const"):
		text, ok := (*s.Const).(string)
		e.constants = append(e.constants, text)
		return ok
	default:
		return false
	}
}

// Validate implements jsonschema.SchemaExt.
func (e *excluded) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if e.has(v) {
		ctx.AddError(&kind.Not{})
	}
}

// has reports whether a value is excluded. What is no text satisfies every pattern.
func (e *excluded) has(v any) bool {
	text, ok := v.(string)
	if !ok {
		return len(e.patterns) > 0
	}
	return slices.Contains(e.constants, text) ||
		slices.ContainsFunc(e.patterns, func(pattern jsonschema.Regexp) bool { return pattern.MatchString(text) })
}
