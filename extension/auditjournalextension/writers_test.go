// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
)

func observed(t *testing.T, scope ScopeConfig) (*journals, *observer.ObservedLogs) {
	t.Helper()
	cfg, _ := configFor(t, t.TempDir())
	cfg.Scope, cfg.Actions = scope, true
	core, logs := observer.New(zap.InfoLevel)
	set := extensiontest.NewNopSettings(metadata.Type)
	set.ID, set.Logger = component.NewID(metadata.Type), zap.New(core)
	ext, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	return ext.(*journals), logs
}

var (
	exporter = component.MustNewID("audit_journal")
	another  = component.MustNewIDWithName("audit_journal", "eu")
)

func TestWhoeverMayWriteForEveryOrganizationIsWarnedOfOnce(t *testing.T) {
	j, logs := observed(t, *bank())
	for range 2 { // an exporter starts once for each signal
		require.NoError(t, j.Attach(exporter, false))
	}
	require.NoError(t, j.Attach(another, false))
	require.Equal(t, 2, logs.Len())
	assert.Equal(t, "Every client may write for every organization: set exporters::audit_journal::clients to say who writes for whom", logs.All()[0].Message)
	assert.Equal(t, map[string]any{"organizations": int64(2)}, logs.All()[0].ContextMap())
	assert.Contains(t, logs.All()[1].Message, "exporters::audit_journal/eu::clients")

	j, logs = observed(t, *bank())
	require.NoError(t, j.Attach(exporter, true))
	assert.Zero(t, logs.Len(), "clients are bound")

	oneOrganization := *bank()
	oneOrganization.Routes = oneOrganization.Routes[:1]
	j, logs = observed(t, oneOrganization)
	require.NoError(t, j.Attach(exporter, false))
	assert.Zero(t, logs.Len(), "there is nothing to choose")
}

func TestNoExporterIsAWayAroundTheClientsOfAnother(t *testing.T) {
	const want = `exporters::audit_journal/eu::clients must be set, since exporters::audit_journal has clients and writes to the same journals of audit_journal: ` +
		`list who writes through this exporter for whom; subject "*" is every client of its receivers`
	j, _ := observed(t, *bank())
	require.NoError(t, j.Attach(exporter, true))
	require.NoError(t, j.Attach(exporter, true))
	require.EqualError(t, j.Attach(another, false), want)
	require.NoError(t, j.Attach(another, true))

	j, _ = observed(t, *bank())
	require.NoError(t, j.Attach(another, false))
	require.EqualError(t, j.Attach(exporter, true), want, "in either order")
}

func TestEachScopeIsToldOnce(t *testing.T) {
	j, _ := observed(t, *bank())
	var names []string
	for _, scope := range j.Scopes() {
		names = append(names, scope.OrganizationRef+"/"+scope.RetentionClass)
	}
	assert.Equal(t, []string{"bank/kyc_10y", "bank/treasury_7y", "other/kyc_10y"}, names)
}
