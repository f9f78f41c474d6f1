// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

// maxMessages bounds the messages, and the parts of one, among which a part is
// looked for.
const maxMessages = 1000

// messagePart reads a member of the first part of a type in what other sources
// read: messages of the OpenTelemetry conventions, [{role, parts: [{type, ...}]}]
// (gen-ai-input-messages.json). Libraries name a member in several ways; the
// first that has a value counts.
func messagePart(sources []source, partType string, members ...string) []source {
	out := make([]source, 0, len(sources))
	for _, s := range sources {
		out = append(out, source{keys: s.keys, basis: record.BasisUnwrapped, read: func(it *item) value {
			return partOf(s.at(it), partType, members)
		}})
	}
	return out
}

func partOf(messages value, partType string, members []string) value {
	list, _ := messages.elements(maxMessages)
	for _, message := range list {
		m, _ := message.object()
		parts, _ := m["parts"].elements(maxMessages)
		for _, p := range parts {
			part, _ := p.object()
			if part["type"].text() != partType {
				continue
			}
			for _, name := range members {
				if v := part[name]; v.ok {
					return v
				}
			}
			return value{}
		}
	}
	return value{}
}
