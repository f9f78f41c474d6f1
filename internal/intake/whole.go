// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"strconv"
)

// lost returns the pointer of something that was said and that is not there, "" if
// there is nothing; what stands at places does not count. Of several it is the first in
// the order of names.
func lost(said, is any, apart places) jsontext.Pointer {
	switch said := said.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		return lostMember(said, is, apart)
	case []any:
		is, _ := is.([]any)
		for i, value := range said {
			if i >= len(is) {
				return below(strconv.Itoa(i), "")
			}
			if p := lost(value, is[i], apart["*"]); p != "" {
				return below(strconv.Itoa(i), p)
			}
		}
	}
	return ""
}

func lostMember(said, is map[string]any, apart places) (first jsontext.Pointer) {
	firstName := ""
	for name, value := range said {
		if first != "" && name > firstName {
			continue
		}
		deeper, isApart := apart[name]
		if isApart && deeper == nil {
			continue
		}
		p := jsontext.Pointer("")
		if kept, found := is[name]; found {
			if p = lost(value, kept, deeper); p == "" {
				continue
			}
		}
		firstName, first = name, below(name, p)
	}
	return first
}

// below returns the pointer of what has a pointer in a member or element.
func below(name string, p jsontext.Pointer) jsontext.Pointer {
	return jsontext.Pointer("").AppendToken(name) + p
}

// kept refuses a body that lacks something that the client said.
func kept(said, is any) *Problem {
	if at := lost(said, is, nil); at != "" {
		return problem(CodeEmpty, shown(at))
	}
	return nil
}

// whole refuses a body in which something would stand that the client did not say:
// a type writes what it must have, such as an empty list of tool calls, and that is
// for the client alone to say.
func whole(said, is any) *Problem {
	if p := kept(said, is); p != nil {
		return p
	}
	at := lost(is, said, added)
	if at == "" {
		return nil
	}
	p := problem(CodeInvalid, shown(at))
	p.Detail += " (required)."
	return p
}

// added are what intake itself puts in a body, its event type, who saw it and whether a
// claim is supported, and what the writer of the journal does.
var added = placesOf("/event_type", "/observed_by", "/claims/*/supported", "/event_id", "/journal_id", "/sequence", "/recorded_at", "/scope")
