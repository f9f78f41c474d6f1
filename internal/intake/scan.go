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
	"slices"
	"strconv"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// maxDepth is how deep an entry nests (contract 2).
const maxDepth = 64

// scan refuses in an item what no entry may hold (contract 2) and no type would
// notice. That the item is JSON in UTF-8 and that no name stands twice was checked
// when it was cut out.
func scan(item jsontext.Value) *Problem {
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

// withoutSecrets refuses a body in which any text, an id too, looks like a token, a key
// or a password.
func withoutSecrets(raw jsontext.Value) *Problem {
	at, found := record.SecretIn(raw, content.LooksLikeCredential)
	if !found {
		return nil
	}
	return unfit(&schema.InvalidError{Location: shown(at), Keyword: "not"})
}

// isPlainInteger reports whether a literal is an integer that an entry may hold.
func isPlainInteger(literal string) bool {
	n, err := strconv.ParseInt(literal, 10, 64)
	return err == nil && -record.MaxInteger <= n && n <= record.MaxInteger && literal != "-0"
}

// lost returns the pointer of something that a client said and that is not in the
// body, "" if there is nothing. What a type leaves out as nothing is found so.
func lost(said, is any) jsontext.Pointer { return lostBelow("", said, is) }

func lostBelow(at jsontext.Pointer, said, is any) jsontext.Pointer {
	switch said := said.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(said)) {
			kept, found := is[name]
			if !found {
				return at.AppendToken(name)
			}
			if p := lostBelow(at.AppendToken(name), said[name], kept); p != "" {
				return p
			}
		}
	case []any:
		is, _ := is.([]any)
		for i, value := range said {
			if i >= len(is) {
				return at.AppendToken(strconv.Itoa(i))
			}
			if p := lostBelow(at.AppendToken(strconv.Itoa(i)), value, is[i]); p != "" {
				return p
			}
		}
	}
	return ""
}

// whole refuses a body in which something would stand that the client did not say:
// a type writes what it must have, such as an empty list of tool calls, and that is
// for the client alone to say.
func whole(raw, body jsontext.Value) *Problem {
	if p := kept(raw, body); p != nil {
		return p
	}
	var said, is map[string]any
	if err := errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(body, &is)); err != nil {
		return syntax(err)
	}
	withoutAdded(is)
	at := lost(is, said)
	if at == "" {
		return nil
	}
	p := problem(CodeInvalid, shown(at))
	p.Detail += " (required)."
	return p
}

// withoutAdded takes from a body what intake itself has put there: its event type, who
// saw it, and whether a claim is supported.
func withoutAdded(body map[string]any) {
	delete(body, "event_type")
	delete(body, "observed_by")
	claims, _ := body["claims"].([]any)
	for _, claim := range claims {
		if claim, ok := claim.(map[string]any); ok {
			delete(claim, "supported")
		}
	}
}
