// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

func load(t *testing.T, name string) (component.Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf("testdata/config.yaml")
	require.NoError(t, err)
	sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := NewFactory().CreateDefaultConfig()
	if err := sub.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestConfigIsReadFromYAML(t *testing.T) {
	for name, want := range map[string]*Config{
		"":        {Mode: strip.Strict, Records: true},
		"tracing": {Mode: strip.Strict, Records: false},
		"all_settings": {
			Mode:          strip.Known,
			Records:       true,
			Authenticator: "bearertokenauth",
			Keep: []KeepConfig{
				{Key: "app.tenant", Shape: "identifier"},
				{Key: "app.build.*", Shape: "version"},
				{SpanName: "nightly review"},
			},
			Digest: genai.DigestConfig{
				DigestKey: genai.DigestKey{Key: genai.KeySource{File: "/etc/readtrail/digest.key"}, KeyID: "bank-2026"},
				Routes: []genai.DigestRoute{{
					Attribute: "service.namespace", Value: "treasury",
					DigestKey: genai.DigestKey{Key: genai.KeySource{Env: "TREASURY_DIGEST_KEY"}, KeyID: "treasury-2026", RecordRefs: true},
				}},
			},
			Sources: []genai.SourceRule{{
				Name:   "crm",
				Digest: genai.DigestKey{Key: genai.KeySource{File: "/etc/readtrail/crm.key"}, KeyID: "crm-2026", RecordRefs: true},
				Retention: genai.Retention{
					Content: record.Fields, EvidenceStore: component.MustNewIDWithName("evidence_store", "eu"),
					Fields:         []genai.FieldPath{{Arguments: "$.customer_id"}, {Result: "$.risk.class"}},
					Classification: "confidential", AccessPolicyRef: "pol_crm",
				},
				Match:               genai.SourceMatch{Tool: "crm.*"},
				System:              "crm-eu",
				Kind:                record.SourceAPI,
				ToolVersion:         genai.Literal("2026-09-30"),
				RecordRefs:          []genai.Value{{Arguments: "$.customer_id"}},
				SourceRecordVersion: genai.Value{Result: "$.version"},
				AsOf:                genai.Value{Result: "$.as_of"},
				Boundary:            genai.Boundary{DataBoundaryRef: "boundary_eu_kyc", Purpose: "kyc-periodic-review"},
				ContentLocation:     "crm-eu record history",
			}, {
				Match:  genai.SourceMatch{Tool: "dms.fetch"},
				System: "dms-eu",
				Documents: &genai.DocumentsRule{
					From:            genai.Value{Result: "$.files"},
					DocumentID:      genai.Value{Result: "$.id"},
					ChecksumSHA256:  genai.Value{Result: "$.sha256"},
					ObjectVersionID: genai.Value{Result: "$.version"},
					ReceivedAt:      genai.Value{Result: "$.received_at"},
				},
			}, {
				Match:     genai.SourceMatch{Tool: "dms.list"},
				Documents: &genai.DocumentsRule{DocumentID: genai.Value{Result: "$.ids[*]"}, WithContent: new(bool)},
			}, {
				Match: genai.SourceMatch{Tool: "policy_search"},
				Retrieval: &genai.RetrievalRule{
					IndexID:      genai.Literal("policy-manual"),
					BuildVersion: genai.Value{Result: "$.index.build"},
					Query:        genai.Value{Arguments: "$.query"},
					TopK:         genai.Literal("5"),
					Chunks: &genai.ChunkRule{
						From: genai.Value{Result: "$.hits"}, ID: genai.Value{Result: "$.chunk"}, Score: genai.Value{Result: "$.score"}, Content: genai.Value{Result: "$.text"},
					},
				},
			}, {
				Match: genai.SourceMatch{Tool: "memory_*"},
				Memory: &genai.MemoryRule{
					StoreID: genai.Literal("prefs"), Operation: genai.Literal("search_memory"),
					Entries: &genai.EntryRule{
						From: genai.Value{Result: "$.notes"}, ID: genai.Value{Result: "$.id"}, WrittenAt: genai.Value{Result: "$.saved"}, Content: genai.Value{Result: "$.note"},
					},
				},
			}, {
				Match: genai.SourceMatch{Index: "policy-manual"},
				Retention: genai.Retention{
					Content: record.EvidenceCopy, EvidenceStore: component.MustNewID("evidence_store"),
					Classification: "internal", AccessPolicyRef: "pol_policies",
				},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := load(t, name)
			require.NoError(t, err)
			assert.Equal(t, want, cfg)
		})
	}
}

func TestConfigThatCannotWorkIsRefusedWithItsPath(t *testing.T) {
	shapes := "shape must be one of " + strings.Join(content.ShapeNames(), ", ")
	for name, want := range map[string][]string{
		"bad_mode": {"'mode' mode must be strict or known"},
		"bad_keep": {
			"keep::0: set either key or span_name",
			"keep::1: set either key or span_name",
			"keep::2: " + shapes,
			"keep::3: " + shapes,
			`keep::4: key "gen_ai.input.messages" is known to hold content and can't be kept`,
			`keep::5: key "http.request.header.authorization" is the name of a credential and can't be kept`,
			"keep::6: shape belongs to a key; a span_name has none",
		},
		"bad_source": {
			"sources::0: kind: unknown kind",
			"sources::1: match: no criterion",
			"sources::2: as_of.result: ",
			"documents.document_id: missing",
			"documents.from: not a place; give {arguments: PATH} or {result: PATH}",
			"documents.checksum_sha256: value is no SHA-256",
			"sources::4: retrieval.top_k: value is no integer from 1",
			"retrieval.chunks.from: missing",
			"sources::5: memory.entries.from: the path has a ..",
			"memory.entries.written_at.result: ",
		},
		"bad_digest": {
			"digest: key: set either file or env",
			"key_id must be 1 to 128 letters, digits and ._-",
			"routes[3] is never reached",
			"digest::routes::0: key and key_id must be set",
			"digest::routes::1: key.env: value is no name of an environment variable",
			"attribute must be set to the key of a resource attribute",
		},
		"bad_source_digest": {
			"sources::0: name: value is no single word",
			"digest.key: set either file or env",
			"retention.evidence_store must be set",
			"retention.fields[0]: set either arguments or result",
			"retention.fields[1].result: ",
		},
		"bad_store": {"'sources[0]'", "'retention.evidence_store'"},
		"bad_ids": {
			"sources[0].digest.key_id is that of digest, which has another key",
			"sources[1].name is that of sources[0]",
		},
		"bad_key": {"'readrecordprocessor.Config' has invalid keys: record"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			require.Error(t, err)
			for _, line := range want {
				assert.ErrorContains(t, err, line)
			}
			assert.NotContains(t, err.Error(), "MDEyMzQ1", "a key that was written in a wrong place")
		})
	}
}
