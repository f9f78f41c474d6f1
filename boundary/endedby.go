// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"net"
	"time"
)

// endedBy is the code of an attempt that its caller's clock or its caller ended, "" if
// neither did. cancel is http.Request.Cancel.
//
// http.Client.Timeout gives the context a deadline and closes Request.Cancel at the same
// moment, and the base transport reports whichever it sees first: a cancellation behind
// the deadline is the deadline's, and a timeout (requirement D3).
func endedBy(ctx context.Context, cancel <-chan struct{}, err error) string {
	deadline, limited := ctx.Deadline()
	over := limited && !time.Now().Before(deadline)
	var own net.Error
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return CodeTimeout
	case ctx.Err() != nil:
		return CodeCanceled
	case isClosed(cancel) && over:
		return CodeTimeout
	case isClosed(cancel):
		return CodeCanceled
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &own) && own.Timeout():
		return CodeTimeout
	default:
		return ""
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
