// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

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

// upstreamContextSource says how far to trust the context that came with the
// request (requirement D5): who authenticated it, or that nobody did. Some
// authenticators, such as bearertokenauth, tell nothing of a client that they
// let in; then only the configuration knows that one stands before us.
func upstreamContextSource(ctx context.Context, configured string) string {
	auth := client.FromContext(ctx).Auth
	switch {
	case auth == nil && configured != "":
		return authenticated + configured
	case auth == nil:
		return record.UnverifiedInput
	}
	for _, name := range subjectAttributes {
		if subject, ok := auth.GetAttribute(name).(string); ok && record.ValidGivenID(subject) {
			return authenticated + subject
		}
	}
	return authenticated + authenticator(auth)
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
