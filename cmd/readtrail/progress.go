// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"
)

const (
	// progressAfter is how long a command works in silence.
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// progress says on a terminal how far a long command has come; elsewhere it
// says nothing.
type progress struct {
	con   *console
	what  string
	next  time.Time
	shown bool
}

// newProgress returns a progress that stays silent for the first second.
func newProgress(con *console, what string) *progress {
	if _, terminal := terminalWidth(con.errFile); !terminal {
		return nil
	}
	return &progress{con: con, what: what, next: time.Now().Add(progressAfter)}
}

// report is called often, with the bytes done and to do.
func (p *progress) report(done, total int64) {
	if p == nil || total <= 0 {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	const mebi = 1 << 20
	fmt.Fprintf(p.con.errs, "\r\x1b[K%s: %d%% of %d MiB", p.what, done*100/total, total/mebi)
}

// clear takes the line away, so that results begin on an empty one.
func (p *progress) clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.con.errs, "\r\x1b[K")
		p.shown = false
	}
}
