// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// placesIn are the pointers of all members below a value.
func placesIn(value any, at jsontext.Pointer) (places []jsontext.Pointer) {
	switch value := value.(type) {
	case object:
		for name, below := range value {
			place := at.AppendToken(name)
			places = append(append(places, place), placesIn(below, place)...)
		}
	case []any:
		for i, below := range value {
			places = append(places, placesIn(below, at.AppendToken(string(rune('0'+i))))...)
		}
	}
	return places
}

// valueAt returns what stands at a pointer.
func valueAt(value any, at jsontext.Pointer) (found any, ok bool) {
	for name := range at.Tokens() {
		switch below := value.(type) {
		case object:
			if value, ok = below[name]; !ok {
				return nil, false
			}
		case []any:
			if i := int(name[0] - '0'); i < len(below) {
				value = below[i]
			} else {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return value, true
}

// Whatever member of a body is left out: it is absent in the record too, or the client
// is told its name.
func TestWhatAClientLeftOutIsNeverFilledIn(t *testing.T) {
	for _, text := range texts() {
		records, p := decodeJSON(text)
		require.Nil(t, p)
		name := string(records[0].Kind)
		var item object
		require.NoError(t, json.Unmarshal([]byte(text), &item))
		for _, place := range placesIn(item[name], "") {
			var changed object
			require.NoError(t, json.Unmarshal([]byte(text), &changed))
			parent, _ := valueAt(changed[name], place.Parent())
			delete(parent.(object), place.LastToken())
			if remains := parent.(object); len(remains) == 0 && place.Parent() != "" {
				continue // an empty object is a member of its own
			}
			again, err := json.Marshal(changed)
			require.NoError(t, err)
			records, p := decodeJSON(string(again))
			if p != nil {
				assert.Equal(t, 400, p.Status, "%s %s", name, place)
				continue
			}
			d, err := records[0].Draft()
			require.NoError(t, err)
			var body object
			require.NoError(t, json.Unmarshal(d.Body(), &body))
			is, found := valueAt(body, place)
			assert.False(t, found, "%s %s is invented: %v", name, place, is)
		}
	}
}

func TestARequiredMemberThatIsLeftOutIsNamed(t *testing.T) {
	for text, places := range map[string][]jsontext.Pointer{
		plannedText(): {
			"/action_id", "/state", "/edge_type", "/occurred_at", "/correlation", "/correlation/execution_id", "/actor", "/actor/kind", "/actor/identity",
			"/action", "/action/channel", "/action/host", "/action/port", "/action/protocol", "/action/method",
			"/action/credential_ref", "/action/redaction", "/idempotency_token",
		},
		approvalText: {
			"/approval_id", "/request_id", "/kind", "/occurred_at", "/correlation", "/expires_at", "/binds", "/binds/action_id", "/binds/target",
			"/binds/target/channel", "/binds/target/host", "/binds/target/port", "/binds/target/protocol", "/binds/target/method", "/binds/credential_ref", "/binds/actor_identity",
		},
		decisionText: {
			"/decision_id", "/occurred_at", "/correlation", "/outcome", "/fields", "/field_provenance", "/field_provenance/a/source", "/field_provenance/a/marked_for_reviewer",
			"/boundary", "/boundary/data_boundary_ref", "/boundary/purpose",
		},
		contextText: {
			"/context_id", "/occurred_at", "/correlation", "/model", "/model/request", "/entries", "/entries/0/entry_id", "/entries/0/object_id", "/entries/0/object_type", "/entries/0/property",
			"/entries/0/side", "/entries/0/origin", "/context_digest", "/context_canonicalization", "/context_form",
			"/tool_calls_requested", "/claims/0/claim_id", "/claims/0/entry_ids",
		},
	} {
		var item object
		require.NoError(t, json.Unmarshal([]byte(text), &item))
		for _, place := range places {
			changed := change(t, text, func(_, body object) {
				parent, _ := valueAt(body, place.Parent())
				_, found := parent.(object)[place.LastToken()]
				require.True(t, found, place)
				delete(parent.(object), place.LastToken())
			})
			_, p := decodeJSON(changed)
			if assert.NotNil(t, p, "%s is not missed", place) {
				assert.Equal(t, 400, p.Status)
				assert.Equal(t, shown(place), p.Pointer[strings.Index(p.Pointer[1:], "/")+1:])
			}
		}
	}
}
