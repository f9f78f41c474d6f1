// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"errors"
	"runtime"
	"sync"

	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

var errUnbridged = errors.New("key is another one than that of the entry before, without a bridge between the two")

// signatures verifies those of intact lines beside the reading of the next ones,
// in as many goroutines as there are processors. A signature that does not hold is
// no work of a crash, which would have left the line without its hash: it is
// damage wherever it stands.
type signatures struct {
	next    []signed
	jobs    chan []signed
	workers sync.WaitGroup
	mu      sync.Mutex
	// damage is the earliest that was found.
	damage *segment.DamageError
}

// signed is an entry whose hash was found right.
type signed struct {
	at        segment.Position
	sequence  uint64
	digest    [sha256.Size]byte
	signature journal.Signature
}

// signedChunk is how many entries one goroutine takes at once: neighbors may share
// a signature.
const signedChunk = 256

// verify has a signature verified, some time before wait returns.
func (p *signatures) verify(s signed) {
	if p.next = append(p.next, s); len(p.next) == signedChunk {
		p.handOver()
	}
}

func (p *signatures) handOver() {
	if p.jobs == nil {
		p.jobs = make(chan []signed, runtime.GOMAXPROCS(0))
		for range runtime.GOMAXPROCS(0) {
			p.workers.Go(func() {
				for chunk := range p.jobs {
					p.verifyAll(chunk)
				}
			})
		}
	}
	p.jobs <- p.next
	p.next = make([]signed, 0, signedChunk)
}

func (p *signatures) verifyAll(chunk []signed) {
	var v journal.OwnKeyVerifier
	for i := range chunk {
		if err := v.Verify(&chunk[i].signature, chunk[i].digest); err != nil {
			p.fail(chunk[i].at, chunk[i].sequence, err)
			return
		}
	}
}

// fail notes damage, unless some before it is known.
func (p *signatures) fail(at segment.Position, sequence uint64, reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.damage == nil || sequence < p.damage.Sequence {
		p.damage = &segment.DamageError{Segment: segment.Name(at.Segment), Offset: at.Offset, Sequence: sequence, Reason: reason}
	}
}

// wait returns what is wrong with the signatures so far, and ends the goroutines.
func (p *signatures) wait() error {
	if p.jobs == nil {
		p.verifyAll(p.next) // too few to share
	} else {
		p.jobs <- p.next
		close(p.jobs)
		p.workers.Wait()
	}
	p.next, p.jobs = nil, nil
	if p.damage != nil {
		return p.damage
	}
	return nil
}
