// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"sync/atomic"
	"time"
)

// place is a sink or an attester, and how it is doing. Its fields belong to the
// keeper, apart from busy.
type place struct {
	name string
	// One of the two is there.
	sink     Sink
	attester Attester
	// compared says that what the place held was compared with the journal.
	compared bool
	// conflict is why nothing is sent to the place any more.
	conflict error
	standing
	// busy says that a call was given up on and has not returned: it hangs.
	busy atomic.Bool
}

// standing is what has to be remembered of a place across restarts.
type standing struct {
	// Reason is why the place did not take the last checkpoint; "" if it did.
	Reason Reason `json:"reason,omitzero"`
	// Size is that of the first checkpoint that it missed or took again.
	Size uint64 `json:"size,omitzero"`
	// GapOpen says that the journal has an open gap of the place.
	GapOpen bool `json:"gap_open,omitzero"`
}

// settle notes how a checkpoint went.
func (s *standing) settle(size uint64, err error) {
	switch {
	case err == nil && s.Reason != "":
		*s = standing{Size: size, GapOpen: s.GapOpen}
	case err != nil && s.Reason == "":
		*s = standing{Reason: reasonOf(err), Size: size, GapOpen: s.GapOpen}
	case err != nil && !s.GapOpen:
		s.Reason = reasonOf(err)
	}
}

// unsaid says whether the journal has to be told of a gap that begins or ends.
func (s *standing) unsaid() bool { return (s.Reason != "") != s.GapOpen }

// call runs a call to a place with a hard limit: it returns after that time
// whatever the call does. While a call that was given up on goes on, no other one
// is begun, so that a place that hangs costs one goroutine.
func call[T any](ctx context.Context, p *place, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	var none T
	if !p.busy.CompareAndSwap(false, true) {
		return none, failed(ReasonTimeout, "the call before has not returned yet")
	}
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := make(chan result, 1)
	go func() {
		defer cancel()
		value, err := f(ctx)
		p.busy.Store(false)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		select {
		case r := <-done: // it was just in time
			return r.value, r.err
		default:
			return none, failed(ReasonTimeout, "no answer in %v", limit)
		}
	}
}
