// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package upstream says who sent a request, as the collector's authenticators and
// TLS know it (requirement D5), and for whom that client may write (contract 7).
package upstream

import (
	"context"
	"path"
	"reflect"

	"go.opentelemetry.io/collector/client"

	"github.com/readtrail/readtrail/record"
)

const authenticated = "authenticated:"

// subjectAttributes are where authenticators put who the client is, in the
// order of preference. "raw", the token itself, is never read.
var subjectAttributes = []string{"subject", "username", "sub"}

// source says how far to trust the context that came with the request, as
// upstream_context_source of contract 1: who authenticated it, or that nobody did.
// Some authenticators, such as bearertokenauth, tell nothing of a client that they
// let in; then only the configuration knows that one stands before us.
func source(ctx context.Context, configured string) string {
	auth := client.FromContext(ctx).Auth
	switch {
	case auth == nil && configured != "":
		return authenticated + configured
	case auth == nil:
		return record.UnverifiedInput
	}
	if subject := subjectOf(auth); subject != "" {
		return authenticated + subject
	}
	return authenticated + authenticator(auth)
}

// subjectOf returns who the authenticator says the client is, "" if it does not say
// or not in the shape of an id.
func subjectOf(auth client.AuthData) string {
	for _, name := range subjectAttributes {
		if subject, ok := auth.GetAttribute(name).(string); ok && record.ValidGivenID(subject) {
			return subject
		}
	}
	return ""
}

// authenticator names the extension that vouches for a client without a
// subject: the package of its type, such as bearertokenauthextension.
func authenticator(auth client.AuthData) string {
	t := reflect.TypeOf(auth)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if pkg := path.Base(t.PkgPath()); record.ValidGivenID(pkg) {
		return pkg
	}
	return "unknown"
}
