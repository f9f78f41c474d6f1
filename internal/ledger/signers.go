// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"runtime"
	"sync"

	"github.com/readtrail/readtrail/journal"
)

// signers sign entries in parallel: hashing is serial, signing need not be.
type signers struct {
	signer  journal.Signer
	jobs    chan job
	workers sync.WaitGroup
}

type job struct {
	entry *entry
	group *group
}

// newSigners starts as many workers as there are processors. The queue holds
// two groups, so that the writer does not wait for signatures.
func newSigners(s journal.Signer) *signers {
	p := &signers{signer: s, jobs: make(chan job, 2*maxGroupEntries)}
	for range runtime.GOMAXPROCS(0) {
		p.workers.Go(func() {
			for j := range p.jobs {
				j.group.signed(p.sign(j.entry))
			}
		})
	}
	return p
}

func (p *signers) sign(e *entry) (err error) {
	e.line, err = e.sealed.Sign(p.signer)
	return err
}

// start has an entry of a group signed.
func (p *signers) start(e *entry, g *group) {
	g.signing.Add(1)
	p.jobs <- job{e, g}
}

func (p *signers) stop() {
	close(p.jobs)
	p.workers.Wait()
}
