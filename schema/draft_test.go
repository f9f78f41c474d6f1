// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"encoding/json/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

func draft(t *testing.T, kind record.Kind, body any) *record.Draft {
	t.Helper()
	d, err := record.NewBodyDraft(kind, record.SchemaVersion, true, body)
	require.NoError(t, err)
	return d
}

func TestWhatTheTypesSayFitsTheSchemasAndReadsBack(t *testing.T) {
	for kind, bodies := range valid() {
		for name, body := range bodies {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				d := draft(t, kind, body)
				require.NoError(t, schema.ValidateDraft(d))
				back := reflect.New(reflect.TypeOf(body).Elem()).Interface()
				require.NoError(t, json.Unmarshal(d.Body(), back, json.RejectUnknownMembers(true)))
				require.Equal(t, body, back)
			})
		}
	}
}

func TestADraftThatDoesNotFitSaysWhereInItsBody(t *testing.T) {
	a := action(record.ActionPlanned, 0)
	a.Target.Host = ""
	require.Equal(t, &schema.InvalidError{Location: "/action/host", Keyword: "minLength"}, schema.ValidateDraft(draft(t, record.KindAction, a)))
	sent := action(record.ActionSent, 0)
	sent.AttemptID = ""
	require.Equal(t, &schema.InvalidError{Location: "/attempt_id", Keyword: "dependentRequired/attempt"}, schema.ValidateDraft(draft(t, record.KindAction, sent)))

	d, err := record.NewBodyDraft(record.KindAction, "9.0.0", true, a)
	require.NoError(t, err)
	require.ErrorIs(t, schema.ValidateDraft(d), schema.ErrUnsupported)
}

// Telemetry is written without asking a schema: what has the shape of a name there
// must fit.
func TestAContextTakesEveryNameThatTelemetryMayHave(t *testing.T) {
	for _, name := range []string{"Bearer a", "eyJa.b", "Authorization:x", "a-----BEGIN", "(merged tools)", digest, keyed} {
		c := context()
		c.Model.Request, c.Correlation.ExecutionID, c.Purpose, c.Entries[0].ObjectID = name, name, name, name
		require.NoError(t, schema.ValidateDraft(draft(t, record.KindContext, c)), name)
	}
}
