// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"runtime"
	"sync"

	"github.com/readtrail/readtrail/journal"
)

// signers sign entries in parallel: hashing is serial, signing need not be. Group
// signatures are not for them: there is one for many entries, which is made where
// the group is written, since nothing could go on meanwhile.
type signers struct {
	// grouped says that there are group signatures.
	grouped bool
	jobs    chan job
	workers sync.WaitGroup
}

// job is something that one worker does for a group.
type job struct {
	group *group
	do    func() error
}

// chunk is how many entries are handed to a worker at once.
const chunk = 32

// newSigners starts as many workers as there are processors. The queue holds
// two groups, so that the writer does not wait for signatures.
func newSigners(grouped bool) *signers {
	p := &signers{grouped: grouped, jobs: make(chan job, 2*maxGroupEntries/chunk+2)}
	for range runtime.GOMAXPROCS(0) {
		p.workers.Go(func() {
			for j := range p.jobs {
				j.group.signing.done(j.do())
			}
		})
	}
	return p
}

// handOver has the entries signed that were added to a group since the last time,
// unless one signature is for many of them.
func (p *signers) handOver(g *group) {
	if p.grouped {
		return
	}
	for from := g.signing.handed; from < len(g.entries); from = g.signing.handed {
		entries := g.entries[from:min(from+chunk, len(g.entries))]
		g.signing.handed += len(entries)
		p.start(g, func() error { return signEach(entries) })
	}
}

// signRest signs the entries of a group that no worker was given. One group
// signature covers neighbors of one key.
func (g *group) signRest() error {
	rest := g.entries[g.signing.handed:]
	for begin, end := 0, 0; end < len(rest); begin = end {
		first := rest[begin]
		for end < len(rest) && rest[end].signedWith(first) {
			end++
		}
		sign := signEach
		if first.sealed.Grouped() {
			sign = signTogether
		}
		if err := sign(rest[begin:end]); err != nil {
			return err
		}
	}
	return nil
}

func (p *signers) start(g *group, do func() error) {
	g.signing.begun()
	p.jobs <- job{g, do}
}

func (p *signers) stop() {
	close(p.jobs)
	p.workers.Wait()
}

func signEach(entries []*entry) (err error) {
	for _, e := range entries {
		if e.line, err = e.sealed.Sign(e.signer); err != nil {
			return err
		}
	}
	return nil
}

// signTogether signs entries of one key with one signature.
func signTogether(entries []*entry) error {
	sealed := make([]*journal.Unsigned, len(entries))
	for i, e := range entries {
		sealed[i] = &e.sealed
	}
	signed, err := journal.SignGroup(sealed, entries[0].signer)
	if err != nil {
		return err
	}
	for i, e := range entries {
		e.line = signed.Line(i)
	}
	return nil
}

// signing is how far the signatures of a group are.
type signing struct {
	// handed counts the entries that were given to workers.
	handed  int
	pending sync.WaitGroup
	mu      sync.Mutex
	err     error
}

func (s *signing) begun() { s.pending.Add(1) }

// done notes that a job is done or failed.
func (s *signing) done(err error) {
	if err != nil {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	s.pending.Done()
}

// wait waits for all jobs and says whether one failed.
func (s *signing) wait() error {
	s.pending.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
