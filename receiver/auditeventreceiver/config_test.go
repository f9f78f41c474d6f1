// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
)

func load(t *testing.T, name string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf("testdata/config.yaml")
	require.NoError(t, err)
	sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	if err := sub.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestTheDefaultsAreBoundedAndLocal(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	assert.Equal(t, createDefaultConfig(), cfg)
	assert.Equal(t, "localhost:4319", cfg.HTTP.NetAddr.Endpoint)
	assert.EqualValues(t, 4<<20, cfg.HTTP.MaxRequestBodySize)
	assert.Equal(t, component.MustNewID("audit_journal"), cfg.Journal)
	assert.Empty(t, cfg.Clients)
	assert.Less(t, cfg.Limits.JournalTimeout+cfg.HTTP.ReadTimeout, cfg.HTTP.WriteTimeout, "an answer must still fit")
}

func TestConfigIsReadFromYAML(t *testing.T) {
	cfg, err := load(t, "all_settings")
	require.NoError(t, err)
	assert.Equal(t, component.MustNewIDWithName("audit_journal", "eu"), cfg.Journal)
	assert.Equal(t, "0.0.0.0:4319", cfg.HTTP.NetAddr.Endpoint)
	assert.Equal(t, "/etc/readtrail/clients-ca.pem", cfg.HTTP.TLS.Get().ClientCAFile)
	assert.Equal(t, "oidc", cfg.HTTP.Auth.Get().Config.AuthenticatorID.String())
	assert.Equal(t, []string{"", "gzip", "zstd"}, cfg.HTTP.CompressionAlgorithms)
	assert.Equal(t, 5*time.Second, cfg.HTTP.ReadTimeout)
	assert.Equal(t, []ClientConfig{
		{Binding: upstream.Binding{Subject: "executor-7", OrganizationRef: "bank_eu", RetentionClass: "actions_10y"}},
		{Binding: upstream.Binding{Subject: "executor-7", OrganizationRef: "bank_us"}},
		{Binding: upstream.Binding{Subject: "CN=approvals,O=Bank", OrganizationRef: "bank_eu"}},
	}, cfg.Clients)
	assert.Equal(t, LimitsConfig{
		ConcurrentRequests: 64, WaitingRequests: 16, BytesInFlight: 16 << 20, RecordsPerRequest: 100, JournalTimeout: 10 * time.Second, RetryAfter: 2 * time.Second,
	}, cfg.Limits)
	assert.Equal(t, AuditConfig{
		KeysFile: "/etc/readtrail/producers.json", CertificatesFile: "/etc/readtrail/producers.pem", RootsFile: "/etc/readtrail/issuers.pem",
		Unsigned: "refuse", Unverified: "accept", ClockTolerance: 5 * time.Second,
	}, cfg.Audit)
	assert.Equal(t, []any{"enforce", 5 * time.Second, "refuse"}, []any{cfg.FieldProvenance, cfg.ProvenanceWait, cfg.Claims})
}

func TestAuditEventsAreComposedOnlyIfWanted(t *testing.T) {
	cfg, err := load(t, "assembly")
	require.NoError(t, err)
	assert.Equal(t, AssemblyConfig{Enabled: true, Deadline: 5 * time.Minute, Lookback: 24 * time.Hour, MaxPending: 500}, cfg.Assembly)
	assert.Equal(t, AssemblyConfig{Deadline: 10 * time.Minute, Lookback: 168 * time.Hour, MaxPending: 10_000}, createDefaultConfig().(*Config).Assembly)
}

func TestConfigThatCannotWorkIsRefused(t *testing.T) {
	for name, want := range map[string][]string{
		"bad_assembly": {
			"assembly: deadline is 5ns, less than 1s: write a number and its unit, such as 10m; " +
				"lookback is 1ns, less than deadline: after a restart some actions would never get an audit event; max_pending must be positive",
		},
		"bad_journal": {"'journal' id must not be empty"},
		"bad_key":     {"'auditeventreceiver.Config' has invalid keys: endpoint"},
		"bad_http": {
			"http::endpoint must be set, such as localhost:4319; http::max_request_body_size must be positive; " +
				`http::compression_algorithms::1 is "snappy": only gzip, zstd, zlib, deflate and the empty one for none can be read within limits; ` +
				"http::read_timeout must be positive: a slow client would hold what it has for ever",
		},
		"bad_clients": {
			`clients::1::subject must be set: the authenticator's subject or the certificate's, or "*" for every client; ` +
				"clients::1::organization_ref contains U+0009, which is not printable; clients::2 is the same as clients::0: remove one",
		},
		"no_clients":            {"clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out"},
		"clients_commented_out": {"clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out"},
		"bad_audit": {
			`audit: unsigned is "pending": write accept or refuse; unverified is "maybe": write pending, accept or refuse; clock_tolerance is 2h0m0s: write a duration with its unit, from 1ms to 1h, or 0s`,
		},
		"bad_provenance": {
			`field_provenance is "yes": write enforce or report; claims is "drop": write mark or refuse; ` +
				"provenance_wait of 40s and limits::journal_timeout of 30s leave no time to answer within http::write_timeout of 1m0s",
		},
		"without_units": {
			"provenance_wait is 3ns, less than 1ms: write a number and its unit, such as 10s; 0s waits for nothing",
			"http::read_timeout is 15ns, less than 1ms: write a number and its unit, such as 15s",
			"limits: waiting_requests is 256, more than half of concurrent_requests of 100: set it to at most 50, so that others are served while these wait",
			"audit: clock_tolerance is 5ns: write a duration with its unit, from 1ms to 1h, or 0s",
		},
		"bad_limits": {
			"provenance_wait must not be negative; 0s waits for nothing",
			"limits: concurrent_requests must be positive; waiting_requests must be positive; bytes_in_flight must be positive; records_per_request must be positive; " +
				"journal_timeout is 5ns, less than 1s: write a number and its unit, such as 5s; retry_after is 0s, less than 1s: write a number and its unit, such as 5s",
			"http::max_request_body_size is 4194304, more than half of limits::bytes_in_flight of -1: such a body would never be accepted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			for _, text := range want {
				assert.ErrorContains(t, err, text)
			}
		})
	}
}

func TestConfigWithoutJournalIsRefused(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Journal = component.ID{}
	assert.EqualError(t, confmap.Validate(cfg), "journal must name an audit_journal extension")
}
