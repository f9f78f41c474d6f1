// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/readtrail/readtrail/internal/content"
)

// nameTemplate is a harmless span name: literal text, and in braces the keys
// of attributes whose values stand in clear, {tool} for the tool's name as the
// record has it, or {#} for a number. A span name is harmless only if it is
// exactly what a template of its row makes of its attributes, since a name may
// carry anything else as well.
type nameTemplate []nameSegment

type nameSegment struct {
	literal string
	key     string
	// shaped says that the key is that of an attribute, and shape is what its
	// value must have to stand in clear.
	shaped bool
	shape  content.Shape
}

// The names in braces that are no keys.
const (
	segmentTool   = "tool"
	segmentNumber = "#"
)

// maxNameDigits is the length of the longest number in a harmless name.
const maxNameDigits = 4

// parseName reads a template such as "execute_tool {gen_ai.tool.name}".
func parseName(s string) nameTemplate {
	var t nameTemplate
	for s != "" {
		literal, rest, found := strings.Cut(s, "{")
		if literal != "" {
			t = append(t, nameSegment{literal: literal})
		}
		if !found {
			break
		}
		var key string
		key, s, _ = strings.Cut(rest, "}")
		segment := nameSegment{key: key, shaped: key != segmentTool && key != segmentNumber}
		if segment.shaped {
			segment.shape = harmless.Rule(key, 0).Shape // no key is harmless without one
		}
		t = append(t, segment)
	}
	return t
}

// matches reports whether the item's name is what the template makes of it.
func (t nameTemplate) matches(r *compiledRow, it *item) bool {
	const most = 8 // segments, but for a template that takes memory
	texts := make([]string, 0, most)
	rest := it.name
	for i := range t {
		segment := &t[i]
		text := segment.literal
		switch segment.key {
		case "":
		case segmentTool:
			text = r.accepted(it, toolName, name)
		case segmentNumber:
			text = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
			if len(text) > maxNameDigits {
				return false
			}
		default:
			text = it.text(segment.key)
		}
		if text == "" {
			return false
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, text); !ok {
			return false
		}
		texts = append(texts, text)
	}
	return rest == "" && t.areInClear(texts, it.before)
}

// areInClear reports whether what the segments stand for may stand in clear.
func (t nameTemplate) areInClear(texts []string, b *before) bool {
	for i := range t {
		if !t[i].shaped {
			continue
		}
		known := &b.clear[i%len(b.clear)]
		if *known == (clearText{&t[i], texts[i]}) {
			continue
		}
		if kept(t[i].shape, texts[i]) == "" {
			return false
		}
		*known = clearText{&t[i], texts[i]}
	}
	return true
}

// safeName returns the span name if a template of the row explains it, or if a
// library gives it to every span of its kind.
func (r *compiledRow) safeName(it *item) string {
	if len(it.name) > maxLabel {
		return ""
	}
	for _, t := range r.names {
		if t.matches(r, it) {
			return it.name
		}
	}
	if content.KnownSpanName(it.name) {
		return it.name
	}
	return ""
}
