// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

type hostWith map[component.ID]component.Component

func (h hostWith) GetExtensions() map[component.ID]component.Component { return h }

type otherExtension struct {
	component.StartFunc
	component.ShutdownFunc
}

type keeperExtension struct{ otherExtension }

func (keeperExtension) Put(context.Context, string, string, []carrier.Copy) error { return nil }

func TestARuleWhoseStoreIsNotThereDoesNotStart(t *testing.T) {
	eu := component.MustNewIDWithName("evidence_store", "eu")
	config := createDefaultConfig().(*Config)
	config.Sources = []genai.SourceRule{
		{Match: genai.SourceMatch{Tool: "a"}},
		{Match: genai.SourceMatch{Tool: "b"}, Retention: genai.Retention{
			Content: record.EvidenceCopy, EvidenceStore: eu, Classification: "secret", AccessPolicyRef: "pol_1",
		}},
	}
	start := func(host component.Host) error {
		set := processortest.NewNopSettings(metadata.Type)
		set.ID = component.MustNewID("read_record")
		traces, err := createTraces(t.Context(), set, config, consumertest.NewNop())
		assert.NoError(t, err)
		return traces.Start(t.Context(), host)
	}
	assert.EqualError(t, start(hostWith{component.MustNewID("evidence_store"): keeperExtension{}}),
		"processors::read_record::sources::1::retention::evidence_store: no extension evidence_store/eu is running: "+
			"configure extensions::evidence_store/eu and list it in service::extensions")
	assert.EqualError(t, start(hostWith{eu: otherExtension{}}),
		"processors::read_record::sources::1::retention::evidence_store: extension evidence_store/eu keeps no copies: name one of type evidence_store")
	assert.NoError(t, start(hostWith{eu: keeperExtension{}}))
	config.Records = false // makes no copies
	assert.NoError(t, start(hostWith{}))
}
