// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"time"

	"github.com/readtrail/readtrail/internal/segment"
)

// outcome is how a group went.
type outcome struct {
	group *group
	took  time.Duration
	err   error
}

// committer writes one group after the other. It has the segment writer while it
// has a group, and acknowledges before it returns the outcome, so that nobody
// waits for the writer's next step.
type committer struct {
	groups   chan *group
	outcomes chan outcome
}

func (l *Ledger) newCommitter(w *writer) *committer {
	c := &committer{groups: make(chan *group), outcomes: make(chan outcome, 1)}
	go func() {
		defer close(c.outcomes)
		for g := range c.groups {
			begun := time.Now()
			err := l.commit(w.segments, g)
			if err == nil {
				for _, r := range g.ends {
					l.finish(r, nil)
				}
			}
			c.outcomes <- outcome{group: g, took: time.Since(begun), err: err}
		}
	}()
	return c
}

// commit makes a group durable. A crash before it returns may leave any part of
// the group and nothing else; a crash after it leaves all of it. The observer is
// told before anybody else. A group without entries holds requests whose records were all there already: they had to wait
// for the groups before.
func (l *Ledger) commit(segments *segment.Writer, g *group) error {
	lines, err := g.lines()
	if err != nil || len(lines) == 0 {
		return err
	}
	at, err := segments.Append(segment.Group{
		First: g.entries[0].receipt.Sequence,
		At:    g.entries[0].recordedAt,
		Lines: lines,
		Hold:  g.hold,
	})
	if err != nil {
		return err
	}
	g.place(at)
	l.learnExecutions(g)
	l.options.Observer.durable(g)
	return nil
}
