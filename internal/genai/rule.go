// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/record"
)

// SourceRule is one entry of sources: what telemetry does not know about a
// source. The first rule that matches a read applies; attributes that the
// application set win over it.
type SourceRule struct {
	// Name names the rule in records; without one its place does.
	Name                string            `mapstructure:"name"`
	Match               SourceMatch       `mapstructure:"match"`
	System              string            `mapstructure:"system"`
	Kind                record.SourceKind `mapstructure:"kind"`
	ToolVersion         Value             `mapstructure:"tool_version"`
	RecordRefs          []Value           `mapstructure:"record_refs"`
	SourceRecordVersion Value             `mapstructure:"source_record_version"`
	AsOf                Value             `mapstructure:"as_of"`
	Boundary            Boundary          `mapstructure:"boundary"`
	ContentLocation     string            `mapstructure:"content_location"`
	Documents           *DocumentsRule    `mapstructure:"documents"`
	Retrieval           *RetrievalRule    `mapstructure:"retrieval"`
	Memory              *MemoryRule       `mapstructure:"memory"`
	// Digest is the key of this source, instead of the organization's.
	Digest    DigestKey `mapstructure:"digest"`
	Retention Retention `mapstructure:"retention"`

	_ struct{}
}

// Boundary is the data boundary and the purpose that the reads of a source run
// under; a record names both or neither.
type Boundary struct {
	DataBoundaryRef string `mapstructure:"data_boundary_ref"`
	Purpose         string `mapstructure:"purpose"`

	_ struct{}
}

// Value is a literal, or where to find a value in the arguments or the result
// of a read: an RFC 9535 JSONPath. In YAML a literal is a plain string.
type Value struct {
	Arguments string `mapstructure:"arguments"`
	Result    string `mapstructure:"result"`
	literal   string
}

// Literal returns a literal value.
func Literal(s string) Value { return Value{literal: s} }

// UnmarshalText reads a literal.
func (v *Value) UnmarshalText(text []byte) error {
	*v = Literal(string(text))
	return nil
}

// Unmarshal reads a rule from the configuration. YAML reads an unquoted date or
// number as something else than a string, and the spelling that was meant is
// lost, so that they are refused and not guessed.
func (r *SourceRule) Unmarshal(conf *confmap.Conf) error {
	if err := withQuotedCount(conf); err != nil {
		return err
	}
	for _, key := range valueKeys {
		if err := checkQuoted(key, conf.Get(strings.ReplaceAll(key, ".", confmap.KeyDelimiter))); err != nil {
			return err
		}
	}
	if list, ok := conf.Get("record_refs").([]any); ok {
		for i, v := range list {
			if err := checkQuoted(fmt.Sprintf("record_refs[%d]", i), v); err != nil {
				return err
			}
		}
	}
	type plain SourceRule
	return conf.Unmarshal((*plain)(r))
}

// valueKeys are the members of a rule that are values, apart from those in
// lists.
var valueKeys = []string{
	"tool_version", "source_record_version", "as_of",
	"documents.from", "documents.document_id", "documents.checksum_sha256", "documents.object_version_id", "documents.received_at",
	"retrieval.index_id", "retrieval.build_version", "retrieval.query", "retrieval.top_k",
	"retrieval.chunks.from", "retrieval.chunks.id", "retrieval.chunks.score", "retrieval.chunks.content",
	"memory.store_id", "memory.operation", "memory.entries.from", "memory.entries.id", "memory.entries.written_at", "memory.entries.content",
}

// withQuotedCount puts a plain number into quotes: an integer has one spelling.
func withQuotedCount(conf *confmap.Conf) error {
	n, isInteger := conf.Get("retrieval" + confmap.KeyDelimiter + "top_k").(int)
	if !isInteger {
		return nil
	}
	return conf.Merge(confmap.NewFromStringMap(map[string]any{"retrieval": map[string]any{"top_k": strconv.Itoa(n)}}))
}

func checkQuoted(path string, v any) error {
	switch v.(type) {
	case nil, string, map[string]any:
		return nil
	default:
		return fmt.Errorf("%s: YAML reads the value as a date, a number or a bool; put it in quotes", path)
	}
}

// Validate checks a rule. Its errors name the place inside the rule, such as
// as_of.result.
func (r *SourceRule) Validate() error {
	_, err := r.compile()
	return err
}

// compiledRule is a rule that has been checked and parsed.
type compiledRule struct {
	match               SourceMatch
	system              string
	kind                record.SourceKind
	toolVersion         compiledValue
	recordRefs          []compiledValue
	sourceRecordVersion compiledValue
	asOf                compiledValue
	boundary            Boundary
	contentLocation     string
	listed
	// name stands in the redaction profile of reads that the rule matches.
	name      string
	keying    keying
	retention compiledRetention
}

// noRule is the rule of what no rule matches.
var noRule = compiledRule{retention: compiledRetention{content: record.DigestOnly}}

// profile returns the redaction profile of a read.
func (r *compiledRule) profile(base string) string {
	if r.name == "" {
		return base
	}
	return base + "/" + r.name
}

// CheckConfig checks what no section can check alone: no two keys have one id,
// and no two rules one name.
func CheckConfig(d *DigestConfig, sources []SourceRule) error {
	errs := []error{checkKeyIDs(d, sources)}
	first := map[string]int{}
	for i := range sources {
		name := sources[i].Name
		if j, found := first[name]; found && name != "" {
			errs = append(errs, fmt.Errorf("sources[%d].name is that of sources[%d]; give each rule a name of its own", i, j))
			continue
		}
		first[name] = i
	}
	return errors.Join(errs...)
}

func compileSources(rules []SourceRule) ([]compiledRule, error) {
	var out []compiledRule
	var errs []error
	for i := range rules {
		c, err := rules[i].compile()
		if err != nil {
			for _, e := range unjoin(err) {
				errs = append(errs, fmt.Errorf("sources[%d].%w", i, e))
			}
			continue
		}
		if c.name == "" {
			c.name = fmt.Sprintf("sources[%d]", i)
		}
		if c.keying, err = rules[i].Digest.load(); err != nil {
			errs = append(errs, fmt.Errorf("sources[%d].digest.%w", i, err))
		}
		out = append(out, *c)
	}
	return out, errors.Join(errs...)
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func (r *SourceRule) compile() (*compiledRule, error) {
	var v values
	fail, shaped, value := v.fail, v.shaped, v.value

	if r.Match.Tool == "" && r.Match.Index == "" && r.Match.Scope == "" {
		fail("match: no criterion; give tool, index or scope, such as tool: \"*\"")
	}
	if r.Kind != "" && sourceKind(string(r.Kind)) == "" {
		fail("kind: unknown kind; use one of %s", strings.Join(kindNames(), ", "))
	}
	shaped("system", r.System, identifierText, identifier)
	shaped("boundary.data_boundary_ref", r.Boundary.DataBoundaryRef, identifierText, identifier)
	shaped("boundary.purpose", r.Boundary.Purpose, labelText, label)
	if (r.Boundary.DataBoundaryRef == "") != (r.Boundary.Purpose == "") {
		fail("boundary: set both data_boundary_ref and purpose, or none")
	}
	shaped("content_location", r.ContentLocation, labelText, label)
	shaped("name", r.Name, "single word of letters, digits and _.:/- (at most 64)", token)
	for _, err := range r.Digest.check() {
		fail("digest.%w", err)
	}
	retention, retentionErrs := r.Retention.compile()
	v.errs = append(v.errs, retentionErrs...)
	c := &compiledRule{
		name:                r.Name,
		retention:           retention,
		match:               r.Match,
		system:              r.System,
		kind:                r.Kind,
		toolVersion:         value("tool_version", r.ToolVersion, identifierText, identifier),
		sourceRecordVersion: value("source_record_version", r.SourceRecordVersion, identifierText, identifier),
		asOf:                value("as_of", r.AsOf, timeKind, timeText),
		boundary:            r.Boundary,
		contentLocation:     r.ContentLocation,
		listed:              listed{documents: v.documents(r.Documents), retrieval: v.retrieval(r.Retrieval), memory: v.memory(r.Memory)},
	}
	for i, ref := range r.RecordRefs {
		path := fmt.Sprintf("record_refs[%d]", i)
		if ref == (Value{}) {
			fail("%s: empty", path)
		}
		c.recordRefs = append(c.recordRefs, value(path, ref, identifierText, identifier))
	}
	return c, errors.Join(v.errs...)
}

const (
	timeKind       = "RFC 3339 time"
	identifierText = "identifier of letters, digits and ._:/@#+=~- (at most 256), without an e-mail address"
	labelText      = "single printable line of at most 256 bytes"
)

func timeText(s string) string {
	if timeOf(s).IsZero() {
		return ""
	}
	return s
}

func kindNames() []string {
	out := make([]string, 0, len(sourceKinds))
	for _, k := range sourceKinds {
		out = append(out, string(k))
	}
	return out
}
