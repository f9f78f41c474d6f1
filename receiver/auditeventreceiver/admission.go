// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// admission bounds what requests hold: bytes while their bodies come, so that slow
// clients hold no more than they sent, and a place while they are worked on. Who finds
// no room is told when to come back. Work takes many times the memory of a body, so
// that large bodies are worked on two at a time, in the order in which they came.
type admission struct {
	places     int64
	waiting    int64
	bytes      int64
	retryAfter time.Duration
	patience   time.Duration
	maxBody    int64
	work       *semaphore.Weighted

	placesTaken atomic.Int64
	waitsTaken  atomic.Int64
	waitBytes   atomic.Int64
	bytesTaken  atomic.Int64
	instruments instruments
}

// firstBytes is what a body is counted as before its first byte is read, so that
// the number of bodies that are awaited is bounded too.
const firstBytes = 4 << 10

func newAdmission(config *Config, i instruments) *admission {
	return &admission{
		places: int64(config.Limits.ConcurrentRequests), waiting: int64(config.Limits.WaitingRequests),
		bytes:      config.Limits.BytesInFlight,
		retryAfter: config.Limits.RetryAfter, patience: config.Limits.JournalTimeout, maxBody: config.HTTP.MaxRequestBodySize,
		work: semaphore.NewWeighted(largeBodies * config.HTTP.MaxRequestBodySize), instruments: i,
	}
}

// largeBodies is how many bodies of the largest size are worked on at the same time.
const largeBodies = 2

// enter takes a place for a body of n bytes until done is called.
func (a *admission) enter(ctx context.Context, n int) (done func(), p *problem) {
	busy := func() *problem {
		return newProblem(codeBusy, "as many requests are under way as are taken at the same time; send this one again later").after(a.retryAfter)
	}
	if a.placesTaken.Add(1) > a.places {
		a.placesTaken.Add(-1)
		return nil, busy()
	}
	a.instruments.requestsInFlight(1)
	leave := func() {
		a.placesTaken.Add(-1)
		a.instruments.requestsInFlight(-1)
	}
	if !a.work.TryAcquire(int64(n)) {
		ctx, cancel := context.WithTimeout(ctx, a.patience)
		defer cancel()
		if a.work.Acquire(ctx, int64(n)) != nil {
			leave()
			return nil, busy()
		}
	}
	return func() {
		a.work.Release(int64(n))
		leave()
	}, nil
}

// wait takes a place, for a body of n bytes, among those that wait for entries, until
// done is called, and reports whether there was one. They hold what work takes
// meanwhile, so they have no more of it than one of the large bodies: the other is
// left for those who wait for nothing.
func (a *admission) wait(n int) (done func(), ok bool) {
	done = func() {
		a.waitsTaken.Add(-1)
		a.waitBytes.Add(-int64(n))
		a.instruments.waiting(-1)
	}
	a.instruments.waiting(1)
	waits, bytes := a.waitsTaken.Add(1), a.waitBytes.Add(int64(n))
	if waits > a.waiting || bytes > a.maxBody {
		done()
		return nil, false
	}
	return done, true
}

// take counts n more bytes if there is room for them.
func (a *admission) take(n int64) bool {
	if a.bytesTaken.Add(n) > a.bytes {
		a.bytesTaken.Add(-n)
		return false
	}
	a.instruments.bytesInFlight(n)
	return true
}

func (a *admission) give(n int64) {
	a.bytesTaken.Add(-n)
	a.instruments.bytesInFlight(-n)
}

// read takes a body. What it is counted as grows as it comes: a length that a client
// only announces holds nothing. release must be called, also after a problem.
func (a *admission) read(body io.Reader, announced int64) (read []byte, release func(), p *problem) {
	var taken int64
	release = func() { a.give(taken) }
	grow := func(n int64) bool {
		ok := a.take(n)
		if ok {
			taken += n
		}
		return ok
	}
	busy := func() *problem {
		return newProblem(codeBusy, "as many bytes are under way as are taken at the same time; send this request again later").after(a.retryAfter)
	}
	if announced > a.maxBody {
		return nil, release, tooLarge()
	}
	held := int64(firstBytes)
	if !grow(held) {
		return nil, release, busy()
	}
	size := held
	if announced >= 0 && announced < size {
		size = announced + 1 // in which the end is seen too
	}
	buffer := make([]byte, 0, size)
	for {
		n, err := body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return buffer, release, nil
		}
		if err != nil {
			return nil, release, readProblem(err)
		}
		if len(buffer) < cap(buffer) {
			continue
		}
		larger := min(2*max(int64(cap(buffer)), firstBytes/2), a.maxBody+1)
		if larger <= int64(cap(buffer)) {
			return nil, release, tooLarge()
		}
		if !grow(larger) {
			return nil, release, busy()
		}
		buffer = append(make([]byte, 0, larger), buffer...)
		a.give(held)
		taken -= held
		held = larger
	}
}

func tooLarge() *problem {
	return newProblem(codeTooLarge, "the body, decompressed, has more bytes than are taken; send fewer records at once")
}

// readProblem says why a body did not come. What the error says is not repeated.
func readProblem(err error) *problem {
	var tooMany *http.MaxBytesError
	switch {
	case errors.As(err, &tooMany):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(codeTimeout, "the body did not come in the time that is given")
	}
	return newProblem(codeMalformed, "the body ended early or is not what its Content-Encoding says")
}
