// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadata"
)

func TestDefaultsNameTheDefaultJournalAndWriteLineage(t *testing.T) {
	cfg := NewFactory().CreateDefaultConfig()
	assert.Equal(t, &Config{Journal: component.MustNewID("audit_journal"), Lineage: true}, cfg)
	assert.NoError(t, componenttest.CheckConfigStruct(cfg))
}

func TestExporterDoesNotMutateData(t *testing.T) {
	f := NewFactory()
	traces, err := f.CreateTraces(t.Context(), exportertest.NewNopSettings(metadata.Type), f.CreateDefaultConfig())
	require.NoError(t, err)
	assert.False(t, traces.Capabilities().MutatesData)
	logs, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(metadata.Type), f.CreateDefaultConfig())
	require.NoError(t, err)
	assert.False(t, logs.Capabilities().MutatesData)
}

func TestStartWithoutAJournalSaysWhatToWrite(t *testing.T) {
	type plain struct {
		component.StartFunc
		component.ShutdownFunc
	}
	for name, test := range map[string]struct {
		host component.Host
		want string
	}{
		"no extension": {
			componenttest.NewNopHost(),
			"exporters::audit_journal::journal: no extension audit_journal is running: " +
				"configure extensions::audit_journal and list it in service::extensions",
		},
		"an extension that keeps no journal": {
			hostWith(plain{}),
			"exporters::audit_journal::journal: extension audit_journal keeps no journal: " +
				"name an extension of type audit_journal and list it in service::extensions",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFactory()
			set := exportertest.NewNopSettings(metadata.Type)
			set.ID = component.NewID(metadata.Type)
			e, err := f.CreateTraces(t.Context(), set, f.CreateDefaultConfig())
			require.NoError(t, err)
			assert.EqualError(t, e.Start(t.Context(), test.host), test.want)
			assert.NoError(t, e.Shutdown(t.Context()))
			assert.NoError(t, e.Shutdown(t.Context()))
		})
	}
}
