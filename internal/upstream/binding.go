// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

// AnyClient is the subject of a binding for every client that the server let in.
const AnyClient = "*"

// Binding lets a client write for an organization (contract 7). A client that writes
// for several has one for each.
type Binding struct {
	// Subject is who authenticated: the authenticator's subject, or the subject of
	// the client's certificate; AnyClient for all that got in. Required.
	Subject string `mapstructure:"subject"`

	// OrganizationRef is whom the client writes for. Required.
	OrganizationRef string `mapstructure:"organization_ref"`

	// RetentionClass is the only class that the client writes to. Without it the
	// client may choose any class of the organization.
	RetentionClass string `mapstructure:"retention_class"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Bindings say who writes for whom. Nil binds nobody.
type Bindings []Binding

// Check returns what is wrong with each binding as it is configured, and which one says
// what another one said already. The errors name places in a list "clients".
func (b Bindings) Check() []error {
	var errs []error
	if b != nil && len(b) == 0 {
		errs = append(errs, errors.New("clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out"))
	}
	seen := map[Binding]int{}
	for i, binding := range b {
		for _, err := range binding.check() {
			errs = append(errs, fmt.Errorf("clients::%d::%w", i, err))
		}
		if first, found := seen[binding]; found {
			errs = append(errs, fmt.Errorf("clients::%d is the same as clients::%d: remove one", i, first))
		} else {
			seen[binding] = i
		}
	}
	return errs
}

// check returns why the binding can match no client or names no organization.
func (b *Binding) check() []error {
	var errs []error
	if b.Subject == "" {
		errs = append(errs, errors.New(`subject must be set: the authenticator's subject or the certificate's, or "*" for every client`))
	} else if err := durable.CheckName(b.Subject, MaxSubject); err != nil {
		errs = append(errs, fmt.Errorf("subject %w", err))
	} else if b.Subject != AnyClient && !record.ValidGivenID(b.Subject) && !mayBeCertificates(b.Subject) {
		errs = append(errs, errors.New("subject is one that no client has: an authenticator's is taken only if it has no other bytes than letters, digits and ._:/@#+=- and begins with one of the first two; "+
			"have the provider tell another, or bind a certificate"))
	}
	if b.OrganizationRef == "" {
		errs = append(errs, errors.New("organization_ref must be set"))
	}
	for _, name := range []struct{ key, value string }{{"organization_ref", b.OrganizationRef}, {"retention_class", b.RetentionClass}} {
		if err := durable.CheckName(name.value, durable.MaxName); err != nil {
			errs = append(errs, fmt.Errorf("%s %w", name.key, err))
		}
	}
	return errs
}

// mayBeCertificates reports whether a subject has the form of one that stands for a
// certificate: a distinguished name, a URI or a digest.
func mayBeCertificates(subject string) bool {
	return strings.Contains(subject, "=") || strings.Contains(subject, "://") || strings.HasPrefix(subject, "sha256:")
}

// IsFor reports whether the binding is one of a client. One that nobody knows has
// those for every client only.
func (b *Binding) IsFor(client Client) bool {
	return b.Subject == AnyClient || client.Subject != "" && b.Subject == client.Subject
}

// Covers reports whether who has the binding may write to a scope.
func (b *Binding) Covers(scope record.Scope) bool {
	return b.OrganizationRef == scope.OrganizationRef && (b.RetentionClass == "" || b.RetentionClass == scope.RetentionClass)
}

// Of returns the bindings of a client, those for every client among them.
func (b Bindings) Of(client Client) Bindings {
	var own Bindings
	for i := range b {
		if b[i].IsFor(client) {
			own = append(own, b[i])
		}
	}
	return own
}

// Cover reports whether one of the bindings covers a scope.
func (b Bindings) Cover(scope record.Scope) bool {
	for i := range b {
		if b[i].Covers(scope) {
			return true
		}
	}
	return false
}
