// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// This file decodes an item in the plain way: one pass over its tokens for each thing
// that is asked of them, and one decoding for each comparison. The survey is held
// against it.

var secretPattern = regexp.MustCompile(record.SecretPattern)

func plainScan(item jsontext.Value) *Problem {
	d := jsontext.NewDecoder(bytes.NewReader(item))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return syntax(err)
		}
		code := ""
		switch token.Kind() {
		case jsontext.KindNull:
			code = CodeNull
		case jsontext.KindString:
			if token.String() == "" {
				code = CodeEmpty
			}
		case jsontext.KindNumber:
			if !isPlainInteger(token.String()) {
				code = CodeNumber
			}
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			if d.StackDepth() > maxDepth {
				code = CodeTooDeep
			}
		}
		if code != "" {
			return problem(code, shown(d.StackPointer()))
		}
	}
}

func plainWithoutSecrets(raw jsontext.Value) *Problem {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end
		}
		if token.Kind() != jsontext.KindString {
			continue
		}
		if text := token.String(); secretPattern.MatchString(text) || content.LooksLikeCredential(text) {
			return unfit(&schema.InvalidError{Location: shown(d.StackPointer()), Keyword: "not"})
		}
	}
}

func plainWhole(raw, body jsontext.Value) *Problem {
	if p := plainKept(raw, body); p != nil {
		return p
	}
	var said, is map[string]any
	if err := errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(body, &is)); err != nil {
		return syntax(err)
	}
	plainWithoutAdded(is)
	at := plainLost("", is, said)
	if at == "" {
		return nil
	}
	p := problem(CodeInvalid, shown(at))
	p.Detail += " (required)."
	return p
}

func plainWithoutAdded(body map[string]any) {
	delete(body, "event_type")
	delete(body, "observed_by")
	claims, _ := body["claims"].([]any)
	for _, claim := range claims {
		if claim, ok := claim.(map[string]any); ok {
			delete(claim, "supported")
		}
	}
}

func plainWithJoiningIDs(raw jsontext.Value) *Problem {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end
		}
		if token.Kind() != jsontext.KindString {
			continue
		}
		depth := d.StackDepth()
		at := d.StackPointer()
		switch kind, n := d.StackIndex(depth); {
		case kind == jsontext.KindBeginArray:
			at = at.Parent()
		case n%2 != 0:
			continue // a name
		}
		if !joins(at.LastToken(), token.String()) {
			return problem(CodeID, shown(d.StackPointer()))
		}
	}
}

func plainWithMembers(raw jsontext.Value, required []string) *Problem {
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return syntax(err)
	}
	for _, path := range required {
		members, last := body, path
		for name, rest, found := strings.Cut(last, "/"); found; name, rest, found = strings.Cut(last, "/") {
			members, _ = members[name].(map[string]any)
			last = rest
		}
		if _, found := members[last]; !found {
			p := problem(CodeInvalid, "/"+path)
			p.Detail += " (required)."
			return p
		}
	}
	return nil
}

func plainWithoutOurs(raw jsontext.Value, ours []string) *Problem {
	const deepest = 3 // of ours
	var names [deepest + 1]string
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end
		}
		depth := d.StackDepth()
		if depth > deepest || token.Kind() != jsontext.KindString {
			continue
		}
		if kind, n := d.StackIndex(depth); kind != jsontext.KindBeginObject || n%2 == 0 {
			continue // no name
		}
		names[depth] = token.String()
		if slices.Contains(ours, plainPattern(d, names[:depth+1])) {
			return problem(CodeOurs, shown(d.StackPointer()))
		}
	}
}

func plainPattern(d *jsontext.Decoder, names []string) string {
	var p []byte
	for depth := 1; depth < len(names); depth++ {
		name := names[depth]
		if kind, _ := d.StackIndex(depth); kind == jsontext.KindBeginArray {
			name = "*"
		}
		p = append(p, jsontext.Pointer("").AppendToken(name)...)
	}
	return string(p)
}

func plainKept(raw, body jsontext.Value) *Problem {
	var said, is any
	if err := errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(body, &is)); err != nil {
		return syntax(err)
	}
	if at := plainLost("", said, is); at != "" {
		return problem(CodeEmpty, shown(at))
	}
	return nil
}

func plainLost(at jsontext.Pointer, said, is any) jsontext.Pointer {
	switch said := said.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(said)) {
			kept, found := is[name]
			if !found {
				return at.AppendToken(name)
			}
			if p := plainLost(at.AppendToken(name), said[name], kept); p != "" {
				return p
			}
		}
	case []any:
		is, _ := is.([]any)
		for i, value := range said {
			if i >= len(is) {
				return at.AppendToken(strconv.Itoa(i))
			}
			if p := plainLost(at.AppendToken(strconv.Itoa(i)), value, is[i]); p != "" {
				return p
			}
		}
	}
	return ""
}
