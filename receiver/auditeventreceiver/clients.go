// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"fmt"

	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/upstream"
	"github.com/readtrail/readtrail/record"
)

// ClientConfig lets an authenticated client write for an organization. A client
// that writes for several has an entry for each, the usual one first.
type ClientConfig struct {
	// Binding says who the client is and for whom it writes.
	Binding upstream.Binding `mapstructure:",squash"`

	// EventTypes are those of the records that the client may write, such as
	// approval.decided. Without any it may write all.
	EventTypes []string `mapstructure:"event_types"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// The headers by which a client chooses among the scopes that it may write to.
const (
	organizationHeader   = "Readtrail-Organization"
	retentionClassHeader = "Readtrail-Retention-Class"
)

// Validate checks what the client may write; Config checks its binding.
func (c *ClientConfig) Validate() error { return c.checkEventTypes() }

// Unmarshal keeps a list of clients without any apart from no list: to leave it out is
// to let everybody write, which a list whose entries are commented out must not do.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c); err != nil {
		return err
	}
	if conf.IsSet("clients") && c.Clients == nil {
		c.Clients = []ClientConfig{}
	}
	return nil
}

// bindings are those of all clients, nil if none are configured.
func (c *Config) bindings() upstream.Bindings {
	if c.Clients == nil {
		return nil
	}
	out := make(upstream.Bindings, len(c.Clients))
	for i := range c.Clients {
		out[i] = c.Clients[i].Binding
	}
	return out
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
	for i := range b.clients {
		c := &b.clients[i].Binding
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
	for i := range b.clients {
		c := &b.clients[i].Binding
		switch {
		case !c.IsFor(client):
		case c.RetentionClass == "":
			add(c.OrganizationRef, class) // any class of the organization, by default the base scope's
		default:
			add(c.OrganizationRef, c.RetentionClass)
		}
	}
	return keepNamed(scopes, organization, class)
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
