// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"errors"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// DigestConfig says with which key the digests of an organization are made.
// The zero value makes plain ones.
type DigestConfig struct {
	DigestKey `mapstructure:",squash"`

	// Routes choose another key by an attribute of the telemetry's resource, as
	// the journal's routes choose another scope. The first that matches is taken.
	Routes []DigestRoute `mapstructure:"routes"`

	_ struct{}
}

// DigestRoute is a key and the resource that it is chosen for.
type DigestRoute struct {
	// Attribute is the key of a resource attribute. Required.
	Attribute string `mapstructure:"attribute"`
	// Value is the string that the attribute must equal. Required.
	Value string `mapstructure:"value"`

	DigestKey `mapstructure:",squash"`

	_ struct{}
}

// DigestKey is a key of digests.
type DigestKey struct {
	Key KeySource `mapstructure:"key"`
	// KeyID stands in every digest that the key makes. Another key needs another
	// id.
	KeyID string `mapstructure:"key_id"`
	// RecordRefs says that record refs are digests too. What the organization
	// says holds for its routes and sources: who wants no ref in clear says it
	// once, and another key brings none back.
	RecordRefs bool `mapstructure:"record_refs"`

	_ struct{}
}

// KeySource says where the text of a key is: standard base64 of at least 32
// bytes in one line.
type KeySource struct {
	// File is readable by its owner only.
	File string `mapstructure:"file"`
	// Env is the name of an environment variable. It is opaque because the key
	// itself may be written there by mistake.
	Env configopaque.String `mapstructure:"env"`

	_ struct{}
}

// Validate checks the keys as far as they stand in the configuration.
func (c *DigestConfig) Validate() error {
	errs := c.check()
	seen := map[[2]string]int{}
	for i := range c.Routes {
		match := [2]string{c.Routes[i].Attribute, c.Routes[i].Value}
		if first, found := seen[match]; found {
			errs = append(errs, fmt.Errorf("routes[%d] is never reached: routes[%d] has the same attribute and value; remove one", i, first))
			continue
		}
		seen[match] = i
	}
	return errors.Join(errs...)
}

// Validate checks that the route can match and has a key.
func (r *DigestRoute) Validate() error {
	errs := r.check()
	if r.Attribute == "" {
		errs = append(errs, errors.New("attribute must be set to the key of a resource attribute"))
	}
	if r.Value == "" {
		errs = append(errs, errors.New("value must be set"))
	}
	if r.DigestKey == (DigestKey{}) {
		errs = append(errs, errors.New("key and key_id must be set"))
	}
	return errors.Join(errs...)
}

// check returns what is wrong with a key, if there is one.
func (k *DigestKey) check() (errs []error) {
	if *k == (DigestKey{}) {
		return nil
	}
	switch {
	case (k.Key.File == "") == (k.Key.Env == ""):
		errs = append(errs, errors.New("key: set either file or env"))
	case k.Key.Env != "" && !isEnvironmentName(string(k.Key.Env)):
		errs = append(errs, errors.New("key.env: value is no name of an environment variable; the key itself does not belong here"))
	}
	if !content.ValidKeyID(k.KeyID) {
		errs = append(errs, errors.New("key_id must be 1 to 128 letters, digits and ._-"))
	}
	return errs
}

// isEnvironmentName reports whether a text is a name of POSIX (IEEE Std
// 1003.1-2024, 3.216).
func isEnvironmentName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// checkKeyIDs refuses one id for two keys: nobody could tell which of them
// made a digest.
func checkKeyIDs(d *DigestConfig, sources []SourceRule) error {
	type place struct {
		path string
		from KeySource
	}
	first := map[string]place{}
	var errs []error
	look := func(path string, k *DigestKey) {
		known, found := first[k.KeyID]
		switch {
		case k.KeyID == "":
		case !found:
			first[k.KeyID] = place{path, k.Key}
		case known.from != k.Key:
			errs = append(errs, fmt.Errorf("%s.key_id is that of %s, which has another key; give each key an id of its own", path, known.path))
		}
	}
	look("digest", &d.DigestKey)
	for i := range d.Routes {
		look(fmt.Sprintf("digest.routes[%d]", i), &d.Routes[i].DigestKey)
	}
	for i := range sources {
		look(fmt.Sprintf("sources[%d].digest", i), &sources[i].Digest)
	}
	return errors.Join(errs...)
}

// load reads a key; a section without one gives plain digests. Its errors hold
// nothing of the key, and not the name of the file or variable either.
func (k *DigestKey) load() (keying, error) {
	if *k == (DigestKey{}) {
		return keying{}, nil
	}
	if err := errors.Join(k.check()...); err != nil {
		return keying{}, err
	}
	out := keying{refs: k.RecordRefs}
	var err error
	if k.Key.File != "" {
		if out.key, err = content.ReadKeyFile(k.KeyID, k.Key.File); err != nil {
			return keying{}, fmt.Errorf("key.file: %w", err)
		}
		return out, nil
	}
	text, found := os.LookupEnv(string(k.Key.Env))
	if !found {
		return keying{}, errors.New("key.env: the environment variable is not set")
	}
	if out.key, err = content.ParseKey(k.KeyID, text); err != nil {
		return keying{}, fmt.Errorf("key.env: %w", err)
	}
	return out, nil
}

// keying is how the digests of an item are made.
type keying struct {
	key *content.Key
	// refs says that record refs are digests.
	refs bool
}

// keyings chooses by resource.
type keyings struct {
	organization keying
	routes       []keyedRoute
}

type keyedRoute struct {
	attribute, value string
	keying
}

func (d *DigestConfig) load() (keyings, error) {
	if err := d.Validate(); err != nil {
		return keyings{}, fmt.Errorf("digest.%w", err)
	}
	organization, err := d.DigestKey.load()
	if err != nil {
		return keyings{}, fmt.Errorf("digest.%w", err)
	}
	out := keyings{organization: organization}
	for i := range d.Routes {
		r := &d.Routes[i]
		if err := r.Validate(); err != nil {
			return keyings{}, fmt.Errorf("digest.routes[%d]: %w", i, err)
		}
		route, err := r.load()
		if err != nil {
			return keyings{}, fmt.Errorf("digest.routes[%d].%w", i, err)
		}
		route.refs = route.refs || organization.refs
		out.routes = append(out.routes, keyedRoute{r.Attribute, r.Value, route})
	}
	return out, nil
}

// of returns the keying of what is from a resource: of the first route that
// matches, else of the organization.
func (k *keyings) of(resource pcommon.Map) keying {
	for i := range k.routes {
		r := &k.routes[i]
		if v, ok := resource.Get(r.attribute); ok && v.Type() == pcommon.ValueTypeStr && v.Str() == r.value {
			return r.keying
		}
	}
	return k.organization
}

// Key returns the key with which what a resource itself says is digested; nil
// if that is plain.
func (l *Lifter) Key(resource pcommon.Resource) *content.Key {
	return l.keyings.of(resource.Attributes()).key
}
