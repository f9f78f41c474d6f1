// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/record"
)

// ClientConfig lets an authenticated client write for an organization. A client
// that writes for several has an entry for each, the usual one first.
type ClientConfig struct {
	// Subject is who authenticated: the authenticator's subject, or the subject of
	// the client's certificate; anyClient for all that got in. Required.
	Subject string `mapstructure:"subject"`

	// OrganizationRef is whom the client writes for. Required.
	OrganizationRef string `mapstructure:"organization_ref"`

	// RetentionClass is the only class that the client writes to. Without it the
	// client may choose any class of the organization.
	RetentionClass string `mapstructure:"retention_class"`

	// EventTypes are those of the records that the client may write, such as
	// approval.decided. Without any it may write all.
	EventTypes []string `mapstructure:"event_types"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// anyClient is the subject that every client has that the server let in.
const anyClient = "*"

// The headers by which a client chooses among the scopes that it may write to.
const (
	organizationHeader   = "Readtrail-Organization"
	retentionClassHeader = "Readtrail-Retention-Class"
)

// Validate checks that the binding can match a client and names an organization.
func (c *ClientConfig) Validate() error {
	var errs []error
	if c.Subject == "" {
		errs = append(errs, errors.New(`subject must be set: the authenticator's subject or the certificate's, or "*" for every client`))
	} else if err := durable.CheckName(c.Subject, upstream.MaxSubject); err != nil {
		errs = append(errs, fmt.Errorf("subject %w", err))
	}
	if c.OrganizationRef == "" {
		errs = append(errs, errors.New("organization_ref must be set"))
	}
	if err := c.checkEventTypes(); err != nil {
		errs = append(errs, err)
	}
	for _, name := range []struct{ key, value string }{{"organization_ref", c.OrganizationRef}, {"retention_class", c.RetentionClass}} {
		if err := durable.CheckName(name.value, durable.MaxName); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", name.key, err))
		}
	}
	return oneLine(errs...)
}

// checkClients refuses a binding that says what another one said already.
func (c *Config) checkClients() error {
	var errs []error
	seen := map[[3]string]int{}
	for i, client := range c.Clients {
		binding := [...]string{client.Subject, client.OrganizationRef, client.RetentionClass}
		if first, found := seen[binding]; found {
			errs = append(errs, fmt.Errorf("clients::%d is the same as clients::%d: remove one", i, first))
		} else {
			seen[binding] = i
		}
	}
	return oneLine(errs...)
}

// scoper knows the scopes that the journal has. An empty name is that of the base
// scope.
type scoper interface {
	Scope(organization, class string) (record.Scope, bool)
}

// bindings say which scopes a client may write to and read receipts of.
type bindings struct {
	clients []ClientConfig
	journal scoper
}

// check says which binding names a scope that the journal does not have. receiver is
// the path of the receiver in the configuration.
func (b *bindings) check() error {
	for i, c := range b.clients {
		if _, found := b.journal.Scope(c.OrganizationRef, c.RetentionClass); !found {
			class, also := "class "+c.RetentionClass, ""
			if c.RetentionClass == "" {
				class, also = "the class of its base scope", ", or set retention_class to one that it has"
			}
			return fmt.Errorf("clients::%d: the journal has no scope for organization %s and %s: add it to scope::routes of the audit_journal extension%s",
				i, c.OrganizationRef, class, also)
		}
	}
	return nil
}

// scopesOf returns the scopes that a request may touch, the one to write to first:
// those that the client may, or the one that the headers name among them. None means
// that the client may not.
func (b *bindings) scopesOf(client upstream.Client, organization, class string) []record.Scope {
	var scopes []record.Scope
	add := func(organization, class string) {
		if scope, found := b.journal.Scope(organization, class); found {
			scopes = append(scopes, scope)
		}
	}
	if len(b.clients) == 0 {
		add("", "")
		return keepNamed(scopes, organization, class)
	}
	for _, c := range b.clients {
		switch {
		case !c.isFor(client):
		case c.RetentionClass == "":
			add(c.OrganizationRef, class) // any class of the organization, by default the base scope's
		default:
			add(c.OrganizationRef, c.RetentionClass)
		}
	}
	return keepNamed(scopes, organization, class)
}

// isFor reports whether a binding is one of a client.
func (c *ClientConfig) isFor(client upstream.Client) bool {
	return c.Subject == anyClient || client.Subject != "" && c.Subject == client.Subject
}

// keepNamed leaves the scopes that the headers name; an empty header names all.
func keepNamed(scopes []record.Scope, organization, class string) []record.Scope {
	var kept []record.Scope
	for _, s := range scopes {
		if (organization == "" || s.OrganizationRef == organization) && (class == "" || s.RetentionClass == class) {
			kept = append(kept, s)
		}
	}
	return kept
}
