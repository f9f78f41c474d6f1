// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import "net/http"

// unnamed takes from a request the name by which the client called the server, before
// anybody looks: the instrumentation of the HTTP server would make it an attribute of
// its metrics, a series for each name that somebody thinks of. Nothing here depends on
// the name.
func unnamed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = ""
		next.ServeHTTP(w, r)
	})
}
