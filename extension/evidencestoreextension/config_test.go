// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/readtrail/readtrail/extension/evidencestoreextension/internal/metadata"
)

const (
	first  = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
	second = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"
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
		"": {
			Directory:  "/var/lib/readtrail/evidence",
			Recipients: []RecipientsConfig{{RetentionClass: "default", Set: "all", Keys: []string{first}}},
		},
		"all_settings": {
			Directory: "/var/lib/readtrail/evidence",
			Recipients: []RecipientsConfig{
				{RetentionClass: "kyc_10y", Set: "2026", Keys: []string{first, second}},
				{RetentionClass: "kyc_10y", Set: "2027", From: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Keys: []string{second}},
				{
					OrganizationRef: "bank_us", RetentionClass: "kyc_10y", Set: "us", From: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC),
					File: "/etc/readtrail/bank-us.recipients.txt",
				},
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

func TestConfigThatCannotWorkIsRefusedWithItsPath(t *testing.T) {
	for name, want := range map[string][]string{
		"bad_empty": {
			"directory must be set: the copies are written below it",
			"recipients must name who can read the copies: make an identity with `readtrail evidence identity FILE` and give its public key",
		},
		"bad_section": {
			"recipients::0: retention_class must be set",
			"set must be set",
			"keys or file must be set: make an identity with `readtrail evidence identity FILE` and give its public key",
			"recipients::1: retention_class contains U+0009, which is not printable",
			"keys and file exclude each other: name the public keys in one place",
		},
		"bad_secret": {
			"'' recipients::0::keys::1 is a secret key (AGE-SECRET-KEY-...), with which this machine could read every copy: " +
				"give the public key, which begins with age1; the secret one was exposed here, so make a new identity with " +
				"`readtrail evidence identity FILE`",
		},
		"bad_sets": {
			`recipients::0 and recipients::1 are both the set "a" of the retention class "kyc": a set has one list of keys; give one of them another name`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			assert.EqualError(t, err, strings.Join(want, "\n"))
		})
	}
}

func TestAnErrorNeverRepeatsASecretKey(t *testing.T) {
	const secret = "AGE-SECRET-KEY-1GFPYYSJZ"
	for _, name := range []string{"bad_secret", "bad_unknown_key"} {
		_, err := load(t, name)
		require.ErrorContains(t, err, "is a secret key")
		assert.NotContains(t, err.Error(), "1GFPYYSJZ")
	}
	for _, name := range []string{"organization_ref", "retention_class", "set", "from", "keys", "file", "identity"} {
		conf := confmap.NewFromStringMap(map[string]any{"directory": "d", "recipients": []any{map[string]any{name: strings.ToLower(secret)}}})
		err := conf.Unmarshal(NewFactory().CreateDefaultConfig())
		require.ErrorContains(t, err, "recipients::0::"+name+" is a secret key")
		assert.NotContains(t, strings.ToUpper(err.Error()), "1GFPYYSJZ")
	}
	for place, misplaced := range map[string]map[string]any{
		"directory ":               {"directory": secret},
		"recipients ":              {"recipients": secret},
		"a name below recipients ": {"recipients": map[string]any{secret: nil}},
	} {
		err := confmap.NewFromStringMap(misplaced).Unmarshal(NewFactory().CreateDefaultConfig())
		require.ErrorContains(t, err, place+"is a secret key")
		assert.NotContains(t, err.Error(), "1GFPYYSJZ")
	}
}

func TestATimeThatIsNoneIsRefusedWithItsPath(t *testing.T) {
	_, err := load(t, "bad_time")
	require.ErrorContains(t, err, "'recipients[0].from'")
}
