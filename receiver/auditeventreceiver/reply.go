// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/readtrail/readtrail/record"
)

// reply is the answer to a request.
type reply struct {
	status int
	media  string
	body   []byte
	// retryAfter is how long the client is told to wait, 0 if waiting does not help.
	retryAfter time.Duration
	// code is that of the problem, "" if there is none.
	code string
	// written are the records that the client has a receipt for, for metrics.
	written []written
}

// written counts records of one kind.
type written struct {
	kind   record.Kind
	repeat bool
}

// write sends the reply in one piece. That it does not arrive is for the client to
// find out: it sends the same again and gets the same receipts.
func (r *reply) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", r.media)
	h.Set("Content-Length", strconv.Itoa(len(r.body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.retryAfter > 0 {
		seconds := (r.retryAfter + time.Second - 1) / time.Second
		h.Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}
