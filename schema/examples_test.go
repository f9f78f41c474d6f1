// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// exampleSigner signs with a key that anyone can make: what it signs proves nothing.
type exampleSigner struct{ private ed25519.PrivateKey }

func newExampleSigner() exampleSigner {
	return exampleSigner{ed25519.NewKeyFromSeed([]byte("readtrail examples: worthless..."))}
}

func (s exampleSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }
func (s exampleSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s exampleSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

// entryOf returns the line of an entry without its LF.
func entryOf(t *testing.T, kind record.Kind, body []byte) []byte {
	t.Helper()
	line, err := journal.Assemble(kind, record.SchemaVersion, body, "sha256:"+strings.Repeat("0", 63)+"1", newExampleSigner()).Sign(newExampleSigner())
	require.NoError(t, err)
	return bytes.TrimSuffix(line, []byte("\n"))
}

// complete returns the body that a journal would write.
func complete(t *testing.T, kind record.Kind, body any) []byte {
	t.Helper()
	return draft(t, kind, body).Complete(record.Completion{
		EventID: "evt_01K73TXE6TXEXAMPLEXAMPLE00", JournalID: "jrn_example", Sequence: 7, RecordedAt: after(7201), CollectorID: "collector-eu",
		Scope: record.Scope{OrganizationRef: "bank", Environment: "production", RetentionClass: "kyc"},
	})
}

// breached returns the body of an example that was changed.
func breached(t *testing.T, v *breach) []byte {
	t.Helper()
	body := valid()[v.kind][v.example]
	require.NotNil(t, body, v.example)
	var changed object
	require.NoError(t, json.Unmarshal(complete(t, v.kind, body), &changed))
	v.change(changed)
	text, err := json.Marshal(changed)
	require.NoError(t, err)
	canonical := jsontext.Value(text)
	require.NoError(t, canonical.Canonicalize())
	return canonical
}

// examples are all files below the directories of the schemas, by path.
func examples(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	add := func(kind record.Kind, directory, name string, line []byte) {
		pretty := jsontext.Value(bytes.Clone(line))
		require.NoError(t, pretty.Indent(jsontext.WithIndent("  ")))
		files[filepath.Join(strings.ReplaceAll(string(kind), "_", "-"), record.SchemaVersion, "examples", directory, name+".json")] = append(pretty, '\n')
	}
	for kind, bodies := range valid() {
		for name, body := range bodies {
			add(kind, "valid", name, entryOf(t, kind, complete(t, kind, body)))
		}
	}
	for _, v := range breaches() {
		add(v.kind, "invalid", v.name, entryOf(t, v.kind, breached(t, &v)))
	}
	return files
}

// The published examples are what the code writes, to the byte.
func TestTheExamplesAreWhatTheCodeWrites(t *testing.T) {
	files := examples(t)
	if *update {
		for name, text := range files {
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, os.WriteFile(name, text, 0o644))
		}
	}
	var found []string
	for kind := range valid() {
		root := filepath.Join(strings.ReplaceAll(string(kind), "_", "-"), record.SchemaVersion, "examples")
		require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, name)
			}
			return err
		}))
	}
	slices.Sort(found)
	require.Equal(t, slices.Sorted(maps.Keys(files)), found)
	for name, want := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(want), string(text), name)
		line := jsontext.Value(text)
		require.NoError(t, line.Canonicalize())
		_, err = journal.ParseLine(line)
		require.NoError(t, err, name)
	}
}

func TestValidExamplesFitTheirSchemasAndBreakNoRule(t *testing.T) {
	for kind, bodies := range valid() {
		for name, body := range bodies {
			require.NoError(t, schema.Validate(kind, record.SchemaVersion, entryOf(t, kind, complete(t, kind, body))), name)
			require.NoError(t, body.(interface{ Check() error }).Check(), name)
		}
	}
}

func TestEachViolationIsFoundWhereItIs(t *testing.T) {
	for _, v := range breaches() {
		t.Run(string(v.kind)+"/"+v.name, func(t *testing.T) {
			body := breached(t, &v)
			err := schema.Validate(v.kind, record.SchemaVersion, entryOf(t, v.kind, body))
			id, isRule := v.rule()
			if !isRule {
				require.Equal(t, &schema.InvalidError{Location: "/" + string(v.kind) + v.pointer, Keyword: v.keyword}, err)
				return
			}
			require.NoError(t, err, "no schema can say it")
			require.Equal(t, &record.RuleError{Rule: id, Pointer: v.pointer}, checked(t, v.kind, body))
		})
	}
}

// checked decodes a body as it stands in an entry and checks its rules.
func checked(t *testing.T, kind record.Kind, body []byte) error {
	t.Helper()
	into := map[record.Kind]interface{ Check() error }{
		record.KindAction: &record.Action{}, record.KindApproval: &record.Approval{}, record.KindDecision: &record.Decision{}, record.KindContext: &record.Context{},
	}[kind]
	require.NoError(t, json.Unmarshal(body, into))
	return into.Check()
}

func TestEachRuleHasAnExampleThatBreaksIt(t *testing.T) {
	broken := map[string]bool{}
	for _, v := range breaches() {
		if id, isRule := v.rule(); isRule {
			broken[id] = true
		}
	}
	for id := range auditRuleBreaks {
		broken[id] = true
	}
	ids := map[string]bool{}
	for _, r := range record.Rules() {
		require.False(t, ids[r.ID], "%s stands twice", r.ID)
		ids[r.ID] = true
		assert.NotEmpty(t, r.Kinds)
		assert.True(t, strings.HasSuffix(r.Says, "."))
	}
	require.Equal(t, ids, broken)
}

// required are the members that no entry of a kind may lack, whatever else it says.
var required = map[record.Kind][]string{
	record.KindAction: {
		"/action_id", "/edge_type", "/state", "/actor", "/actor/kind", "/actor/identity", "/action", "/action/channel", "/action/host", "/action/port",
		"/action/protocol", "/action/credential_ref", "/action/redaction", "/idempotency_token",
	},
	record.KindApproval: {
		"/approval_id", "/request_id", "/kind", "/binds", "/binds/action_id", "/binds/target", "/binds/target/channel", "/binds/target/host",
		"/binds/target/port", "/binds/target/protocol", "/binds/credential_ref", "/binds/actor_identity",
	},
	record.KindDecision: {
		"/decision_id", "/outcome", "/fields", "/field_provenance", "/boundary", "/boundary/data_boundary_ref", "/boundary/purpose",
		"/field_provenance/residence_country/source",
	},
	record.KindContext: {
		"/context_id", "/model", "/entries", "/tool_calls_requested",
	},
}

// requiredThere are members that belong to what not every entry of a kind has.
var requiredThere = map[record.Kind][]string{
	record.KindAction:   {"/outcome", "/outcome/remote_effect", "/attempt", "/attempt_id", "/linked_span", "/linked_span/trace_id", "/linked_span/span_id", "/actor/started_at"},
	record.KindApproval: {"/expires_at", "/reviewer", "/reviewer/identity", "/reviewer/role", "/decision"},
	record.KindDecision: {
		"/correlation/step_id", "/field_provenance/residence_country/path", "/field_provenance/id_document_expiry/document_id",
		"/field_provenance/id_document_expiry/checksum_sha256", "/field_provenance/policy_section/chunk_id", "/field_provenance/policy_section/read_id",
		"/field_provenance/preferred_language/entry_id", "/field_provenance/source_of_funds_summary/marked_for_reviewer",
	},
	record.KindContext: {
		"/context_digest", "/context_canonicalization", "/context_form", "/capture", "/capture/input", "/capture/output",
		"/entries/0/entry_id", "/entries/0/object_id", "/entries/0/object_type", "/entries/0/property", "/entries/0/side", "/entries/0/origin",
		"/entries/0/origin/source", "/claims/0/claim_id", "/claims/0/entry_ids", "/claims/0/supported", "/plan/kind", "/plan/version",
		"/rights/person_ref", "/rights/agent_role", "/tool_calls_requested/0/tool_id",
	},
}

var requiredOfHeaders = []string{
	"/event_id", "/event_type", "/journal_id", "/sequence", "/occurred_at", "/recorded_at", "/scope", "/scope/organization_ref", "/scope/environment",
	"/scope/retention_class", "/observed_by", "/observed_by/collector_id", "/observed_by/signal", "/observed_by/upstream_context_source",
	"/correlation", "/correlation/execution_id",
}

// Whatever is taken away from an example is optional, or the error names it.
func TestAMemberThatIsTakenAwayIsNamed(t *testing.T) {
	for kind, bodies := range valid() {
		everNamed := map[string]bool{}
		for name, body := range bodies {
			var whole object
			require.NoError(t, json.Unmarshal(complete(t, kind, body), &whole))
			named := map[string]bool{}
			takeAway(whole, "", func(pointer string) {
				text, err := json.Marshal(whole)
				require.NoError(t, err)
				canonical := jsontext.Value(text)
				require.NoError(t, canonical.Canonicalize())
				err = schema.Validate(kind, record.SchemaVersion, entryOf(t, kind, canonical))
				if err == nil {
					return
				}
				location := err.(*schema.InvalidError).Location
				named[pointer], everNamed[pointer] = true, true
				// Of alternatives the first is named.
				alternatives := []string{"/read_id", "/exit_status", "/capture"}
				if !slices.ContainsFunc(alternatives, func(a string) bool { return strings.HasSuffix(location, a) }) {
					require.Equal(t, "/"+string(kind)+pointer, location, name)
				}
			})
			for _, pointer := range slices.Concat(requiredOfHeaders, required[kind]) {
				assert.True(t, named[pointer], "%s %s: %s is not required", kind, name, pointer)
			}
		}
		for _, pointer := range requiredThere[kind] {
			assert.True(t, everNamed[pointer], "%s: %s is never required", kind, pointer)
		}
	}
}

// takeAway calls back with each member of an object gone, one at a time.
func takeAway(o object, at string, gone func(pointer string)) {
	for name, value := range o {
		pointer := at + "/" + name
		delete(o, name)
		gone(pointer)
		o[name] = value
		switch value := value.(type) {
		case object:
			takeAway(value, pointer, gone)
		case []any:
			for i, element := range value {
				if element, ok := element.(object); ok {
					takeAway(element, pointer+"/"+strconv.Itoa(i), gone)
				}
			}
		}
	}
}
