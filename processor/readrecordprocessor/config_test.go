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
		"":        {Mode: ModeStrict, Records: true},
		"tracing": {Mode: ModeStrict, Records: false},
		"all_settings": {
			Mode:    ModeKnown,
			Records: true,
			Keep: []KeepConfig{
				{Key: "app.tenant", Shape: "identifier"},
				{Key: "app.build.*", Shape: "version"},
				{SpanName: "nightly review"},
			},
			Sources: []genai.SourceRule{{
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
		"bad_key": {"'readrecordprocessor.Config' has invalid keys: record"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			require.Error(t, err)
			for _, line := range want {
				assert.ErrorContains(t, err, line)
			}
		})
	}
}
