// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"encoding/json/jsontext"
	"errors"

	"github.com/readtrail/readtrail/internal/content"
)

// Part is one part of a model input: the bytes that its own digest would cover
// (contract 2), and their form. The zero Part was not captured.
type Part struct {
	Bytes []byte
	Form  content.Form
}

// Present reports whether the part was captured.
func (p Part) Present() bool { return p.Form != "" }

// Input is a model input as it was captured: the messages, the instructions that
// stand beside them, and the definitions of the tools that the model may ask for.
type Input struct {
	Messages, Instructions, Tools Part
}

// Members of the object that the digest of a model input covers, in the order of
// RFC 8785.
const (
	memberMessages     = "input_messages"
	memberInstructions = "system_instructions"
	memberTools        = "tool_definitions"
)

// ErrNoInput says that nothing of a model input is there.
var ErrNoInput = errors.New("no part of the model input is there")

// Bytes returns what the digest covers: an object with those of the members
// input_messages, system_instructions and tool_definitions that were captured.
// What is a JSON object or array stands in it as such, whether it was captured as
// a structure or as JSON in a string; any other text is a JSON string.
func (in *Input) Bytes() ([]byte, content.Form, error) {
	out, form := []byte{'{'}, content.FormJCS
	for _, m := range []struct {
		name string
		part Part
	}{{memberMessages, in.Messages}, {memberInstructions, in.Instructions}, {memberTools, in.Tools}} {
		if !m.part.Present() {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), m.name...), `":`...)
		if m.part.Form != content.FormBytes {
			out = append(out, m.part.Bytes...)
			form = wider(form, m.part.Form)
			continue
		}
		text, err := quoted(m.part.Bytes)
		if err != nil {
			return nil, "", err
		}
		out = append(out, text...)
	}
	if len(out) == 1 {
		return nil, "", ErrNoInput
	}
	return append(out, '}'), form, nil
}

// Digest digests a model input with a key, content.Plain for none.
func (in *Input) Digest(key *content.Key) (content.Digest, error) {
	b, form, err := in.Bytes()
	if err != nil {
		return content.Digest{}, err
	}
	return digest(key, b, form), nil
}

func digest(key *content.Key, b []byte, form content.Form) content.Digest {
	d := key.OfRaw(b)
	d.Form = form
	return d
}

// ParseInput reads a model input that somebody kept: a JSON object with the
// members that Bytes writes, each optional, whose values are what was sent.
func ParseInput(text []byte) (Input, error) {
	var in Input
	err := eachMember(text, func(name string, raw jsontext.Value) error {
		part := map[string]*Part{memberMessages: &in.Messages, memberInstructions: &in.Instructions, memberTools: &in.Tools}[name]
		if part == nil {
			return errors.New("has a member other than " + memberMessages + ", " + memberInstructions + " and " + memberTools)
		}
		var err error
		*part, err = parsePart(raw)
		return err
	})
	return in, err
}

// parsePart reads a part as telemetry would have captured it: a JSON object or
// array in a string is the same as one that stands there as such.
func parsePart(raw jsontext.Value) (Part, error) {
	if raw.Kind() == jsontext.KindString {
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return Part{}, errNotJSON
		}
		form := content.Plain.OfBytes(text).Form
		if form == "" {
			return Part{}, errors.New("holds a part without content: nothing, a placeholder or a credential, which no digest covers")
		}
		return Part{content.PreimageOfBytes(text, form), form}, nil
	}
	b, form, err := canonical(raw)
	if err != nil {
		return Part{}, err
	}
	return Part{b, form}, nil
}
