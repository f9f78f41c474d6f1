// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json/v2"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// wrongs returns all that a document lacks to fit a schema, in order.
func wrongs(t testing.TB, s *jsonschema.Schema, document any) (all []InvalidError) {
	err := s.Validate(document)
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	require.True(t, ok, err)
	for _, leaf := range leaves(nil, invalid) {
		all = append(all, InvalidError{location(leaf), keyword(leaf.ErrorKind)})
	}
	slices.SortFunc(all, func(a, b InvalidError) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.Compact(all)
}

// twin is a schema as it is used, and as it was written.
type twin struct {
	name        string
	used, plain *jsonschema.Schema
	examples    []any
	// values are those that are put in places: its constants, and odd ones.
	values []any
}

// twins are all schemas with the examples that are published, and with what has every
// member that they know.
func twins(t testing.TB) (all []*twin) {
	texts := map[string][]byte{}
	for k, c := range schemas {
		texts[strings.ReplaceAll(string(k.kind), "_", "-")+"/"+k.version] = c.text
	}
	for version, c := range manifests {
		texts["evidence-manifest/"+version] = c.text
	}
	for name, text := range texts {
		s := &twin{name: name}
		var err error
		s.used, err = compile(name, text, name)
		require.NoError(t, err)
		s.plain, err = asWritten(name, text, name, nil)
		require.NoError(t, err)
		s.examples = append(s.examples, fullest(s.plain))
		var schema any
		require.NoError(t, json.Unmarshal(text, &schema))
		s.values = append(constantsIn(schema), odd...)
		require.NoError(t, filepath.WalkDir(filepath.FromSlash(name), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(file, "examples") || filepath.Ext(file) != ".json" {
				return err
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var document any
			require.NoError(t, json.Unmarshal(text, &document))
			s.examples = append(s.examples, document)
			return nil
		}))
		all = append(all, s)
	}
	return all
}

// fullest returns a value with every member that a schema names.
func fullest(s *jsonschema.Schema) any {
	switch {
	case s.Const != nil:
		return *s.Const
	case s.Enum != nil:
		return s.Enum.Values[0]
	case s.Ref != nil:
		return fullest(s.Ref)
	case s.Items2020 != nil:
		return []any{fullest(s.Items2020)}
	}
	members := map[string]any{}
	for _, one := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if below, ok := fullest(one).(map[string]any); ok {
			for name, value := range below {
				members[name] = value
			}
		}
	}
	for name, member := range s.Properties {
		members[name] = fullest(member)
	}
	switch {
	case len(members) > 0:
		return members
	case s.Types != nil && s.Types.String() == "[integer]":
		return 2.0
	case s.Types != nil && s.Types.String() == "[boolean]":
		return true
	}
	return "a"
}

// odd are values that something in a schema says no to.
var odd = []any{
	nil, true, 0.0, 1.0, -1.0, 1.5, 65536.0, 9007199254740991.0, 9007199254740992.0, -9007199254740992.0, 1e300, "", "a", "x\n", "Bearer abc", "sk-0123456789abcdef",
	"eyJhbGciOi.", "sha256:x", "a:b", "vault://u:p@h", strings.Repeat("a1", 30), strings.Repeat("x", 300), strings.Repeat("\u2028", 4), "planned", "completed", "http",
	"ssh", "api", "none", "unknown",
	map[string]any{},
	map[string]any{"a": "b"},
	[]any{},
	[]any{"a", "a"},
	[]any{1.0, 1.0},
}

// constantsIn are the texts that a schema compares with.
func constantsIn(schema any) (all []any) {
	switch schema := schema.(type) {
	case map[string]any:
		if constant, found := schema["const"]; found {
			all = append(all, constant)
		}
		if values, ok := schema["enum"].([]any); ok {
			all = append(all, values...)
		}
		for _, name := range slices.Sorted(maps.Keys(schema)) {
			all = append(all, constantsIn(schema[name])...)
		}
	case []any:
		for _, below := range schema {
			all = append(all, constantsIn(below)...)
		}
	}
	return all
}

// changed returns a document with another value, or none, at a place.
func (s *twin) changed(document any, random *rand.Rand) any {
	switch document := document.(type) {
	case map[string]any:
		if len(document) == 0 {
			break
		}
		other := maps.Clone(document)
		names := slices.Sorted(maps.Keys(document))
		name := names[random.IntN(len(names))]
		switch _, isText := document[name].(string); {
		case random.IntN(12) == 0:
			delete(other, name)
		case random.IntN(24) == 0:
			other["unknown"] = s.values[random.IntN(len(s.values))]
		case isText || random.IntN(8) == 0:
			other[name] = s.values[random.IntN(len(s.values))]
		default:
			other[name] = s.changed(document[name], random)
		}
		return other
	case []any:
		if len(document) == 0 {
			break
		}
		other := slices.Clone(document)
		i := random.IntN(len(other))
		other[i] = s.changed(other[i], random)
		return other
	}
	return s.values[random.IntN(len(s.values))]
}

// same holds that a document is judged alike.
func (s *twin) same(t testing.TB, document any) {
	if want, got := wrongs(t, s.plain, document), wrongs(t, s.used, document); !slices.Equal(want, got) {
		text, _ := json.Marshal(document)
		require.Equal(t, want, got, string(text))
	}
}

func TestAPreparedSchemaSaysTheSameAsTheOneThatWasWritten(t *testing.T) {
	const changes = 15 // of each example
	for _, s := range twins(t) {
		t.Run(s.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			for _, document := range s.examples {
				s.same(t, document)
				for range changes {
					other := s.changed(document, random)
					s.same(t, other)
					s.same(t, s.changed(other, random))
				}
			}
		})
	}
}

// FuzzPrepared is the same for as many changes as somebody has time for.
func FuzzPrepared(f *testing.F) {
	all := twins(f)
	slices.SortFunc(all, func(a, b *twin) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		f.Add(uint64(i), uint64(1))
	}
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		s := all[which%uint64(len(all))]
		random := rand.New(rand.NewPCG(which, seed))
		document := s.examples[random.IntN(len(s.examples))]
		for range 1 + random.IntN(4) {
			document = s.changed(document, random)
		}
		s.same(t, document)
	})
}
