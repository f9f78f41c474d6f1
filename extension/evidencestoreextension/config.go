// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

// Config says where copies are kept and who can read them.
type Config struct {
	// Directory holds the objects. It is created if it does not exist. Required.
	Directory string `mapstructure:"directory"`

	// Recipients say who can read the copies of which retention class, from when
	// on. Required.
	Recipients []RecipientsConfig `mapstructure:"recipients"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// RecipientsConfig is one set: a list of public keys that can read what is
// stored for a retention class while the set is in force.
type RecipientsConfig struct {
	// OrganizationRef is whose copies the set is for; empty for those of every
	// organization that has no set of its own.
	OrganizationRef string `mapstructure:"organization_ref"`

	// RetentionClass is that of the journal's scope. Required.
	RetentionClass string `mapstructure:"retention_class"`

	// Set is the name of the set. Its keys can't be changed once it was used.
	// Required.
	Set string `mapstructure:"set"`

	// From is when the set comes into force: RFC 3339, or a YAML date for the
	// beginning of that day in UTC. Without it, it always is.
	From time.Time `mapstructure:"from"`

	// Keys are public keys of age identities (age1...).
	Keys []string `mapstructure:"keys"`

	// File is a file with public keys, one a line, in place of Keys. It is read
	// at start.
	File string `mapstructure:"file"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Unmarshal refuses a secret key wherever it was written by mistake, before
// anything can repeat it: an error of the decoder, of the file system, or the name
// of a directory.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := refuseSecret("", conf.ToStringMap()); err != nil {
		return err
	}
	return conf.Unmarshal(c)
}

// refuseSecret names the place of a secret key below a path.
func refuseSecret(path string, v any) error {
	below := func(name string) string {
		return strings.TrimPrefix(path+confmap.KeyDelimiter+name, confmap.KeyDelimiter)
	}
	switch v := v.(type) {
	case string:
		if err := evidence.RefuseSecret(v); err != nil {
			return fmt.Errorf("%s %w", path, err)
		}
	case []any:
		for i, element := range v {
			if err := refuseSecret(below(strconv.Itoa(i)), element); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := evidence.RefuseSecret(name); err != nil {
				return fmt.Errorf("a name below %s %w", path, err)
			}
			if err := refuseSecret(below(name), v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Validate checks what no nested section can check alone.
func (c *Config) Validate() error {
	var errs []error
	if c.Directory == "" {
		errs = append(errs, errors.New("directory must be set: the copies are written below it"))
	}
	if len(c.Recipients) == 0 {
		errs = append(errs, errors.New("recipients must name who can read the copies: make an identity with "+
			"`readtrail evidence identity FILE` and give its public key"))
	}
	sets := make([]evidence.Set, 0, len(c.Recipients))
	for i := range c.Recipients {
		sets = append(sets, c.Recipients[i].set())
	}
	return errors.Join(append(errs, evidence.CheckSets(sets))...)
}

// Validate checks one set; whether a file can be read shows at start.
func (c *RecipientsConfig) Validate() error {
	var errs []error
	for _, name := range []struct {
		key, value string
		required   bool
	}{
		{"organization_ref", c.OrganizationRef, false},
		{"retention_class", c.RetentionClass, true},
		{"set", c.Set, true},
	} {
		if name.required && name.value == "" {
			errs = append(errs, fmt.Errorf("%s must be set", name.key))
		} else if err := durable.CheckName(name.value, durable.MaxName); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", name.key, err))
		}
	}
	return errors.Join(append(errs, c.checkKeys())...)
}

func (c *RecipientsConfig) checkKeys() error {
	switch {
	case len(c.Keys) > 0 && c.File != "":
		return errors.New("keys and file exclude each other: name the public keys in one place")
	case c.File != "":
		return nil
	case len(c.Keys) == 0:
		return errors.New("keys or file must be set: make an identity with `readtrail evidence identity FILE` and give its public key")
	}
	var errs []error
	for i, key := range c.Keys {
		if err := evidence.CheckRecipient(key); err != nil {
			errs = append(errs, fmt.Errorf("keys::%d %w", i, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if _, err := evidence.NewRecipients(c.Keys); err != nil {
		return fmt.Errorf("keys %w", err)
	}
	return nil
}

// set returns the set without its recipients.
func (c *RecipientsConfig) set() evidence.Set {
	return evidence.Set{Organization: c.OrganizationRef, Class: c.RetentionClass, Name: c.Set, From: c.From}
}
