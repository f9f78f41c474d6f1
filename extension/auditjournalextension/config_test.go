// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/durable"
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

const days = Days(24 * time.Hour)

func TestConfigIsReadFromYAML(t *testing.T) {
	for name, want := range map[string]*Config{
		"": {
			Directory:   "/var/lib/readtrail/journal",
			SigningKey:  SigningKeyConfig{File: "/etc/readtrail/signing-key.pem"},
			CollectorID: "collector-eu-1",
			Scope:       ScopeConfig{OrganizationRef: "default", Environment: "default", RetentionClass: "default"},
			Segment:     SegmentConfig{MaxBytes: 64 << 20, MaxAge: 24 * time.Hour},
			DedupWindow: 24 * time.Hour,
			Checkpoints: createDefaultConfig().(*Config).Checkpoints,
			Archive:     createDefaultConfig().(*Config).Archive,
			Signatures:  SignaturesEntry,
		},
		"all_settings": {
			Directory:   "/var/lib/readtrail/journal",
			SigningKey:  SigningKeyConfig{File: "/etc/readtrail/signing-key.pem"},
			CollectorID: "collector-eu-1",
			Scope: ScopeConfig{
				OrganizationRef: "bank_eu", Environment: "production", RetentionClass: "kyc_10y", Region: "eu-central",
				Routes: []RouteConfig{
					{Attribute: "service.namespace", Value: "treasury", RetentionClass: "treasury_7y"},
					{
						Attribute: "deployment.environment.name", Value: "staging", OrganizationRef: "bank_eu_staging",
						Environment: "staging", RetentionClass: "days_30", Region: "eu-west",
					},
				},
			},
			Segment:     SegmentConfig{MaxBytes: 16 << 20, MaxAge: time.Hour},
			Actions:     true,
			DedupWindow: 48 * time.Hour,
			Checkpoints: createDefaultConfig().(*Config).Checkpoints,
			Archive: configoptional.Some(ArchiveConfig{
				Bucket: BucketConfig{
					Name: "evidence-eu", Prefix: "readtrail/production", Endpoint: "https://s3.example.com", Region: "eu-central-1",
					PathStyle: true, Mode: LockMode(archive.Governance), LegalHold: true, Timeout: 10 * time.Second,
				},
				Retain:   map[string]Days{"kyc_10y": 3660 * days, "treasury_7y": 2562 * days, "days_30": 30 * days},
				Interval: 5 * time.Minute, UploadTimeout: 30 * time.Minute,
			}),
			Signatures: SignaturesGroup,
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
	for name, want := range map[string][]string{
		"bad_empty": {
			"directory must be set: the journals are written below it; " +
				"collector_id must be set: it names this collector in every entry",
			"signing_key: one of file, env and pkcs11 must be set: make a key with `readtrail keys new --out DIR`",
		},
		"bad_scope": {
			"collector_id contains U+000A, which is not printable",
			"scope: organization_ref must not be empty; " +
				"retention_class must not be empty; " +
				"environment contains U+0009, which is not printable",
		},
		"bad_route": {
			"scope::routes::2 is never reached: scope::routes::1 has the same attribute and value; remove one",
			"scope::routes::0: attribute must be set to the key of a resource attribute; " +
				"value must be set",
			"scope::routes::1: sets no member of the scope: set organization_ref, environment, retention_class or region, or remove the route",
		},
		"bad_same_journal": {
			"scope and scope::routes::0 both write the journal default/default with different environment or region: " +
				"a journal has one scope; give one of them its own organization_ref or retention_class; " +
				"scope::routes::1 and scope::routes::2 both write the journal default/days_30 with different environment or region: " +
				"a journal has one scope; give one of them its own organization_ref or retention_class",
		},
		"bad_signatures": {
			`signatures: is "batch": write entry (a signature for every entry) or group (one for all entries that are synced together)`,
		},
		"bad_bounds": {
			"dedup_window is 5ns, less than 1s: write a number and its unit, such as 24h",
			"segment: max_bytes must be positive; " +
				"max_age is 86.4µs, less than 1s: write a number and its unit, such as 24h",
		},
		"bad_archive": {
			"archive::retain has no entry for the retention class kyc_10y of scope: say how long its objects are locked",
			"archive: bucket is not the name of an S3 bucket: 3 to 63 lower-case letters, digits, dots and hyphens; " +
				"prefix has an element that is empty, begins with a dot, or has other characters than A-Z a-z 0-9 ! - _ . ' ( ) %; " +
				"endpoint is not a URL that begins with https:// or http://; " +
				"timeout is 0s, less than 1s: write a number and its unit, such as 24h; " +
				"retain::other is 3.66µs, not one day to 100 years: write days, such as 3660d; " +
				"interval is 5ns, less than 1s: write a number and its unit, such as 24h; " +
				"upload_timeout is 0s, less than 1s: write a number and its unit, such as 24h",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			assert.EqualError(t, err, strings.Join(want, "\n"))
		})
	}
}

func TestRetentionThatNobodyMeansIsRefusedWithItsPath(t *testing.T) {
	_, err := load(t, "bad_archive_mode")
	require.ErrorContains(t, err, "'mode' is neither COMPLIANCE nor GOVERNANCE")
	_, err = load(t, "bad_archive_days")
	require.ErrorContains(t, err, "'retain[default]' is neither a number of days, such as 3660d, nor a duration")
}

func TestUnknownKeyIsRefusedWithItsPath(t *testing.T) {
	_, err := load(t, "bad_unknown_key")
	require.ErrorContains(t, err, "'signing_key' has invalid keys: pem")
	assert.NotContains(t, err.Error(), "PRIVATE KEY")
}

func TestNameThatCannotBeADirectoryIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ value, want string }{
		"too long":  {strings.Repeat("a", durable.MaxName+1), "organization_ref has 81 bytes, more than 80"},
		"not UTF-8": {"bank\xff", "organization_ref is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			cfg.Scope.OrganizationRef = test.value
			assert.ErrorContains(t, confmap.Validate(cfg), "scope: "+test.want)
		})
	}
}

func TestRoutingValueThatCannotMatchIsRefused(t *testing.T) {
	cfg := &RouteConfig{Attribute: "service.name", Value: strings.Repeat("a", 257), Region: "eu"}
	assert.EqualError(t, cfg.Validate(), "value has 257 bytes, more than 256: it can never match")
}
