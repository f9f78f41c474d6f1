// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package schema holds the JSON Schemas (draft 2020-12) of journal entries, one
// per body and version, each for the whole entry. A schema never changes once
// it is released (contract 1): an auditor reads today's entries in ten years.
package schema

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/readtrail/readtrail/record"
)

//go:embed */*/schema.json
var files embed.FS

// compiled is a schema that is compiled when it is first needed.
type compiled struct {
	text []byte
	get  func() (*jsonschema.Schema, error)
	// body is what of the schema is for the body alone.
	body func() (*jsonschema.Schema, error)
}

type key struct {
	kind    record.Kind
	version string
}

var schemas = load(
	key{record.KindRead, record.SchemaVersion},
	key{record.KindLineage, record.SchemaVersion},
	key{record.KindJournal, record.SchemaVersion},
	key{record.KindDecision, record.SchemaVersion},
	key{record.KindAction, record.SchemaVersion},
	key{record.KindApproval, record.SchemaVersion},
	key{record.KindContext, record.SchemaVersion},
	key{record.KindAuditEvent, record.AuditEventVersion},
	key{record.KindAuditEvent, record.AuditEventVersionExtended},
)

// manifests are the schemas of manifests of evidence bundles, by version. A manifest
// stands in no journal.
var manifests = map[string]compiled{
	record.SchemaVersion: load(key{"evidence_manifest", record.SchemaVersion})[key{"evidence_manifest", record.SchemaVersion}],
}

func load(keys ...key) map[key]compiled {
	all := make(map[key]compiled, len(keys))
	for _, k := range keys {
		name := path.Join(strings.ReplaceAll(string(k.kind), "_", "-"), k.version, "schema.json")
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // a file of this package
		}
		body := name + "#/properties/" + string(k.kind)
		all[k] = compiled{
			text,
			sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(name, text, name) }),
			sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(name, text, body) }),
		}
	}
	return all
}

// compile returns the schema at a place in a text that has a name.
func compile(name string, text []byte, place string) (*jsonschema.Schema, error) {
	s, err := asWritten(name, text, place, pattern)
	if err != nil {
		return nil, err
	}
	return prepare(s), nil
}

// asWritten is compile without what only saves time.
func asWritten(name string, text []byte, place string, patterns jsonschema.RegexpEngine) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseRegexpEngine(patterns)
	if err := c.AddResource(name, document); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	s, err := c.Compile(place)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return s, nil
}

// Supports reports whether this version has the schema of a body.
func Supports(kind record.Kind, version string) bool {
	_, found := schemas[key{kind, version}]
	return found
}

// Versions returns the versions of bodies of a kind that Supports knows, in order of
// their text.
func Versions(kind record.Kind) []string {
	var versions []string
	for k := range schemas {
		if k.kind == kind {
			versions = append(versions, k.version)
		}
	}
	slices.Sort(versions)
	return versions
}

// Text returns the schema of a body as published, or nil.
func Text(kind record.Kind, version string) []byte {
	return bytes.Clone(schemas[key{kind, version}].text)
}
