// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/theory/jsonpath"
	collector "go.opentelemetry.io/collector/component"

	"github.com/readtrail/readtrail/record"
)

// Retention says what is kept of the content of a source (requirement A6).
type Retention struct {
	// Content is digest_only (the default), fields or evidence_copy.
	Content record.ContentStored `mapstructure:"content"`
	// EvidenceStore is the id of the extension that keeps it. Required if
	// content is kept.
	EvidenceStore collector.ID `mapstructure:"evidence_store"`
	// Fields are the values that are kept. Required with fields.
	Fields []FieldPath `mapstructure:"fields"`
	// Classification and AccessPolicyRef are the source's, which hold for what is
	// kept of it. Required if content is kept.
	Classification  string `mapstructure:"classification"`
	AccessPolicyRef string `mapstructure:"access_policy_ref"`

	_ struct{}
}

// FieldPath is an RFC 9535 JSONPath into what was asked or answered. It stands
// in records as it is written.
type FieldPath struct {
	Arguments string `mapstructure:"arguments"`
	Result    string `mapstructure:"result"`

	_ struct{}
}

// compiledRetention is a Retention that has been checked and parsed.
type compiledRetention struct {
	content         record.ContentStored
	store           string
	fields          []compiledField
	classification  string
	accessPolicyRef string
}

type compiledField struct {
	// in is record.FieldInArguments or record.FieldInResult.
	in, text string
	path     *jsonpath.Path
}

// compile checks what an operator chose. Its errors name the place below the
// rule.
func (r *Retention) compile() (compiledRetention, []error) {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("retention."+format, args...)) }
	c := compiledRetention{content: r.Content, classification: r.Classification, accessPolicyRef: r.AccessPolicyRef}
	hasStore := r.EvidenceStore != collector.ID{}
	switch r.Content {
	case "", record.DigestOnly:
		c.content = record.DigestOnly
		if hasStore {
			fail("evidence_store: content is digest_only, of which nothing is kept; remove it or set content")
		}
	case record.Fields, record.EvidenceCopy:
		if !hasStore {
			fail("evidence_store must be set to the id of the extension that keeps the content")
		}
		if r.Classification == "" || r.AccessPolicyRef == "" {
			fail("classification and access_policy_ref must be set if content is kept")
		}
		c.store = r.EvidenceStore.String()
	default:
		fail("content must be %s, %s or %s", record.DigestOnly, record.Fields, record.EvidenceCopy)
		return c, errs // what belongs to it, nobody can say
	}
	if (r.Content == record.Fields) != (len(r.Fields) > 0) {
		fail("fields: give at least one path with content: fields, and none without")
	}
	for _, m := range []struct{ key, value string }{
		{"classification", r.Classification}, {"access_policy_ref", r.AccessPolicyRef},
	} {
		if m.value != "" && label(m.value) == "" {
			fail("%s: value is no %s", m.key, labelText)
		}
	}
	for i := range r.Fields {
		f, err := r.Fields[i].compile()
		if err != nil {
			fail("fields[%d]%w", i, err)
			continue
		}
		c.fields = append(c.fields, f)
	}
	return c, errs
}

// maxFieldPath bounds a path that stands in records, in bytes.
const maxFieldPath = 1 << 10

func (f *FieldPath) compile() (compiledField, error) {
	if (f.Arguments == "") == (f.Result == "") {
		return compiledField{}, errors.New(": set either arguments or result")
	}
	c := compiledField{in: record.FieldInArguments, text: f.Arguments}
	if f.Result != "" {
		c = compiledField{in: record.FieldInResult, text: f.Result}
	}
	if !printable(c.text) || len(c.text) > maxFieldPath {
		return compiledField{}, fmt.Errorf(".%s: path must be one printable line of at most %d bytes", c.in, maxFieldPath)
	}
	var err error
	c.path, err = parsePath("."+c.in, c.text)
	return c, err
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}
