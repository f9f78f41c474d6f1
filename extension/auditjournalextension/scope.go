// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

// ScopeConfig is the scope of every record that no route takes.
type ScopeConfig struct {
	// OrganizationRef names the organization that the records belong to.
	OrganizationRef string `mapstructure:"organization_ref"`

	// Environment names the environment, such as production.
	Environment string `mapstructure:"environment"`

	// RetentionClass names how long the records are kept.
	RetentionClass string `mapstructure:"retention_class"`

	// Region is where the records are kept. Optional.
	Region string `mapstructure:"region"`

	// Routes choose another scope by an attribute of the telemetry's resource.
	// The first one that matches is taken.
	Routes []RouteConfig `mapstructure:"routes"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// RouteConfig is a scope and the resource that it is chosen for. A member that
// is not set is that of the scope above it.
type RouteConfig struct {
	// Attribute is the key of a resource attribute. Required.
	Attribute string `mapstructure:"attribute"`

	// Value is the string that the attribute must equal. Required.
	Value string `mapstructure:"value"`

	// OrganizationRef replaces that of the scope.
	OrganizationRef string `mapstructure:"organization_ref"`

	// Environment replaces that of the scope.
	Environment string `mapstructure:"environment"`

	// RetentionClass replaces that of the scope.
	RetentionClass string `mapstructure:"retention_class"`

	// Region replaces that of the scope.
	Region string `mapstructure:"region"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Validate checks the base scope.
func (c *ScopeConfig) Validate() error {
	var errs []error
	for _, m := range []struct{ key, value string }{
		{"organization_ref", c.OrganizationRef},
		{"environment", c.Environment},
		{"retention_class", c.RetentionClass},
	} {
		if m.value == "" {
			errs = append(errs, fmt.Errorf("%s must not be empty", m.key))
		}
	}
	errs = append(errs, checkScope(c.base()))
	return inOneLine(errs...)
}

// Validate checks that the route can match and what it names.
func (c *RouteConfig) Validate() error {
	var errs []error
	if c.Attribute == "" {
		errs = append(errs, errors.New("attribute must be set to the key of a resource attribute"))
	}
	if c.Value == "" {
		errs = append(errs, errors.New("value must be set"))
	} else if len(c.Value) > carrier.MaxResourceValue {
		errs = append(errs, fmt.Errorf("value has %d bytes, more than %d: it can never match", len(c.Value), carrier.MaxResourceValue))
	}
	if c.over(record.Scope{}) == (record.Scope{}) {
		errs = append(errs, errors.New("sets no member of the scope: set organization_ref, environment, retention_class or region, or remove the route"))
	}
	errs = append(errs, checkScope(c.over(record.Scope{})))
	return inOneLine(errs...)
}

func (c *ScopeConfig) base() record.Scope {
	return record.Scope{
		OrganizationRef: c.OrganizationRef,
		Environment:     c.Environment,
		RetentionClass:  c.RetentionClass,
		Region:          c.Region,
	}
}

// over lays the route over the base scope.
func (c *RouteConfig) over(base record.Scope) record.Scope {
	replace := func(member *string, value string) {
		if value != "" {
			*member = value
		}
	}
	replace(&base.OrganizationRef, c.OrganizationRef)
	replace(&base.Environment, c.Environment)
	replace(&base.RetentionClass, c.RetentionClass)
	replace(&base.Region, c.Region)
	return base
}

// checkRoutes refuses a route that is never reached and two scopes of one
// journal: a journal has one scope, since its directory names only two of its
// members. Both errors name the two places.
func (c *ScopeConfig) checkRoutes() error {
	var errs []error
	type place struct {
		path  string
		scope record.Scope
	}
	scopes := map[journalName]place{nameOf(c.base(), reads): {"scope", c.base()}}
	matches := map[[2]string]int{}
	for i := range c.Routes {
		route := &c.Routes[i]
		here := place{fmt.Sprintf("scope::routes::%d", i), route.over(c.base())}
		match := [2]string{route.Attribute, route.Value}
		if first, found := matches[match]; found {
			errs = append(errs, fmt.Errorf("%s is never reached: scope::routes::%d has the same attribute and value; remove one", here.path, first))
		} else {
			matches[match] = i
		}
		name := nameOf(here.scope, reads)
		if first, found := scopes[name]; !found {
			scopes[name] = here
		} else if first.scope != here.scope {
			errs = append(errs, fmt.Errorf("%s and %s both write the journal %s with different environment or region: "+
				"a journal has one scope; give one of them its own organization_ref or retention_class", first.path, here.path, name))
		}
	}
	return inOneLine(errs...)
}

func checkScope(s record.Scope) error {
	return inOneLine(
		checkName("organization_ref", s.OrganizationRef, durable.MaxName),
		checkName("environment", s.Environment, durable.MaxName),
		checkName("retention_class", s.RetentionClass, durable.MaxName),
		checkName("region", s.Region, durable.MaxName),
	)
}

// checkName refuses what cannot stand legibly in an entry or a path.
func checkName(key, value string, limit int) error {
	if err := durable.CheckName(value, limit); err != nil {
		return fmt.Errorf("%s %w", key, err)
	}
	return nil
}
