// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadata"
	"github.com/readtrail/readtrail/internal/upstream"
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
		"": {Journal: component.MustNewID("audit_journal"), Lineage: true},
		"all_settings": {
			Journal: component.MustNewIDWithName("audit_journal", "eu"), Lineage: false,
			Clients: upstream.Bindings{
				{Subject: "agents-eu", OrganizationRef: "bank_eu", RetentionClass: "kyc_10y"},
				{Subject: "CN=agents,O=Bank", OrganizationRef: "bank_us"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, err := load(t, name)
			require.NoError(t, err)
			assert.Equal(t, want, cfg)
		})
	}
}

func TestConfigThatCannotWorkIsRefused(t *testing.T) {
	for name, want := range map[string]string{
		"bad_journal": "'journal' id must not be empty",
		"bad_queue":   "'auditjournalexporter.Config' has invalid keys: sending_queue",
		"bad_retry":   "'auditjournalexporter.Config' has invalid keys: retry_on_failure",
		"bad_clients": `clients::1::subject must be set: the authenticator's subject or the certificate's, or "*" for every client; ` +
			"clients::1::organization_ref contains U+0009, which is not printable; clients::2 is the same as clients::0: remove one",
		"no_clients":            "clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out",
		"clients_commented_out": "clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out",
		"bad_client_key":        "'clients[0]' has invalid keys: event_types",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			assert.ErrorContains(t, err, want)
		})
	}
}

func TestConfigWithoutJournalIsRefused(t *testing.T) {
	assert.EqualError(t, confmap.Validate(&Config{}), "journal must name an audit_journal extension")
}
