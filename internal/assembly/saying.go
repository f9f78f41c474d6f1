// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// saying is what was said so far of the members of an audit event, and where two
// sources disagree. A source that says nothing about a member does not disagree.
type saying struct {
	members      object
	contradicted map[string]bool
}

func newSaying() saying { return saying{members: object{}, contradicted: map[string]bool{}} }

// say adds what a source says. Objects are said member by member; a list is one value.
func (s *saying) say(members object) { s.sayIn(s.members, members, "") }

func (s *saying) sayIn(known, said object, at string) {
	for _, name := range slices.Sorted(maps.Keys(said)) {
		pointer := at + "/" + escapedName(name)
		before, found := known[name]
		inner, isObject := said[name].(object)
		within, wasObject := before.(object)
		switch {
		case !found && isObject:
			within = object{}
			known[name] = within
			s.sayIn(within, inner, pointer)
		case !found:
			known[name] = said[name]
		case isObject && wasObject:
			s.sayIn(within, inner, pointer)
		case !reflect.DeepEqual(before, said[name]):
			s.contradicted[pointer] = true
		}
	}
}

// sayAt says one value at a path of names.
func (s *saying) sayAt(value any, path ...string) { s.say(nested(value, path)) }

// otherwise is sayAt for a value that holds only if nobody said another one.
func (s *saying) otherwise(value any, path ...string) {
	if s.at(path...) == nil {
		s.sayAt(value, path...)
	}
}

// at returns what was said at a path, nil if nothing was.
func (s *saying) at(path ...string) any {
	var here any = s.members
	for _, name := range path {
		members, _ := here.(object)
		if here = members[name]; here == nil {
			return nil
		}
	}
	return here
}

// text returns a text that was said, "" if none was.
func (s *saying) text(path ...string) string {
	text, _ := s.at(path...).(string)
	return text
}

func nested(value any, path []string) object {
	if len(path) > 1 {
		value = nested(value, path[1:])
	}
	return object{path[0]: value}
}

// escapedName spells a name as RFC 6901 does.
func escapedName(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
