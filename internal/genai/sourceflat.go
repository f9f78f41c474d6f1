// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/record"
)

// flat reads a value that a library spread over attributes, as one object: the
// names of its members are the keys behind the prefix, such as
// "0.message.content".
func flat(prefix string) []source {
	return spread(prefix, func(members map[string]value) value { return valueOfText(objectOf(members)) })
}

// nested is flat with the parts put into each other, in which the elements of a
// list have their indices as names.
func nested(prefix string) []source {
	return spread(prefix, func(members map[string]value) value { return valueOfText(limbOf(members).text()) })
}

func spread(prefix string, together func(map[string]value) value) []source {
	return []source{{keys: []string{prefix + "**"}, basis: record.BasisReassembled, read: func(it *item) value {
		members := map[string]value{}
		for key, v := range it.attrs.All() {
			name, begins := strings.CutPrefix(key, prefix)
			if _, repeated := members[name]; begins && name != "" && !repeated && v.Type() != pcommon.ValueTypeEmpty {
				members[name] = valueOf(v)
			}
		}
		if len(members) == 0 {
			return value{}
		}
		return together(members)
	}}}
}

// messageEvents reads span events of which each is a message, as one array in the
// order of the events: of each an object of its attributes, and its name as
// event.name. The events have to be ones that consist of content
// (internal/content), so that no key of them is named here.
func messageEvents(names ...string) []source {
	return []source{{basis: record.BasisReassembled, read: func(it *item) value {
		var out []byte
		for _, e := range it.events {
			if !slices.Contains(names, e.Name()) {
				continue
			}
			message := map[string]value{"event.name": valueOf(pcommon.NewValueStr(e.Name()))}
			for key, v := range e.Attributes().All() {
				if _, repeated := message[key]; !repeated && v.Type() != pcommon.ValueTypeEmpty {
					message[key] = valueOf(v)
				}
			}
			object := objectOf(message)
			if object == nil {
				return value{}
			}
			out = append(append(out, ','), object...)
		}
		if len(out) == 0 {
			return value{}
		}
		out[0] = '['
		return valueOfText(append(out, ']'))
	}}}
}

// objectOf spells members as a JSON object, in the order of their names. It
// returns nil if one of them has no spelling in JSON: a part would not be what was
// received.
func objectOf(members map[string]value) jsontext.Value {
	out := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		raw, ok := jsonOf(members[name])
		if out, ok = appendMember(out, name, raw, ok); !ok {
			return nil
		}
	}
	return append(out, '}')
}

func appendMember(out []byte, name string, raw jsontext.Value, ok bool) ([]byte, bool) {
	if !ok {
		return out, false
	}
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, err := jsontext.AppendQuote(out, name)
	return append(append(out, ':'), raw...), err == nil
}

// limb is an object of what was spread over attributes.
type limb struct {
	members map[string]*limb
	leaf    value
}

// maxSegments bounds the segments of a name that are put into each other.
const maxSegments = 16

func limbOf(members map[string]value) *limb {
	root := &limb{}
	for name, leaf := range members {
		segments := strings.Split(name, ".")
		if len(segments) > maxSegments {
			continue
		}
		at := root
		for _, s := range segments {
			if at.members == nil {
				at.members = map[string]*limb{}
			}
			if at.members[s] == nil {
				at.members[s] = &limb{}
			}
			at = at.members[s]
		}
		at.leaf = leaf
	}
	return root
}

// text spells a limb as JSON, without what has no spelling there. Of a name that
// has a value and members too the members count.
func (b *limb) text() jsontext.Value {
	if b.members == nil {
		raw, _ := jsonOf(b.leaf)
		return raw
	}
	out := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(b.members)) {
		raw := b.members[name].text()
		if with, ok := appendMember(out, name, raw, raw != nil); ok {
			out = with
		}
	}
	return append(out, '}')
}

// byIndex returns the members of an object in the order of their names if those
// are all indices.
func byIndex(members map[string]value) ([]value, bool) {
	indexed := make(map[int]value, len(members))
	for name, v := range members {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || strconv.Itoa(i) != name {
			return nil, false
		}
		indexed[i] = v
	}
	return inOrder(indexed), len(members) > 0
}
