// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package load measures what a span costs on its way from OTLP/gRPC to the
// durable journal, against what it costs the same collector to write it with
// contrib's file exporter, as JSON, unsigned and without a sync. All collectors
// run at the same time and get their requests in turn, so that a busy machine
// hits each of them; what counts is the CPU that their processes use.
// docs/performance.md says how to read the figures.
package load

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"os/exec"
	"path/filepath"
	"time"
)

// Options say what to measure and how long.
type Options struct {
	// Collector and CLI are the built binaries.
	Collector, CLI string
	// Dir is an empty directory on the disk that journals are kept on. What is
	// written there is left.
	Dir string
	// Contents are what is sent, each to collectors of its own.
	Contents []Content
	// Contenders are measured against the baseline, contrib's file exporter.
	Contenders []Contender
	// Rounds is how often each contender has its turn, one more to warm up apart,
	// and Requests what it is sent each time over Connections connections.
	Rounds, Requests, Connections int
	// Processors is GOMAXPROCS of the collectors.
	Processors int
	// Settle is how long the collectors run on when all is sent. A figure counts
	// what the collector does before its next turn too, and this is for the last.
	Settle time.Duration
}

// load is a measurement that is going on.
type load struct {
	Options
	// fields are the contenders that get the same content.
	fields []*field
	// signing is what a bare signature took in each round.
	signing []time.Duration
}

// field is the baseline and those that are measured against it.
type field struct {
	content Content
	sender  *sender
	running []*running
}

// Run measures, and demands that every span that was accepted is written and
// that the journals verify.
func Run(ctx context.Context, o Options) (*Report, error) {
	l := &load{Options: o}
	if out, err := exec.CommandContext(ctx, o.CLI, "keys", "new", "--out", l.keyDir()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a key: %w\n%s", err, out)
	}
	defer l.kill()
	for _, content := range o.Contents {
		if err := l.start(ctx, content); err != nil {
			return nil, err
		}
	}
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	var errs []error
	for r := range l.all() {
		errs = append(errs, r.note())
	}
	for r := range l.all() {
		errs = append(errs, r.stop(ctx, l))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return l.report()
}

// start starts the collectors that get a content.
func (l *load) start(ctx context.Context, content Content) error {
	s, err := newSender(content, l.Connections)
	if err != nil {
		return err
	}
	f := &field{content: content, sender: s}
	l.fields = append(l.fields, f)
	for _, c := range append([]Contender{file()}, l.Contenders...) {
		r, err := l.startOne(ctx, f, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		f.running = append(f.running, r)
	}
	return nil
}

// run sends everybody the requests of every round.
func (l *load) run(ctx context.Context) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	for round := range l.Rounds + 1 {
		signing, err := bareSignature(key)
		if err != nil {
			return err
		}
		l.signing = append(l.signing, signing)
		for _, f := range l.fields {
			for i := range f.running { // nobody is always first
				r := f.running[(round+i)%len(f.running)]
				if err := r.round(ctx, l.Requests); err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
			}
		}
	}
	select {
	case <-time.After(l.Settle):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// all are the contenders that run.
func (l *load) all() iter.Seq[*running] {
	return func(yield func(*running) bool) {
		for _, f := range l.fields {
			for _, r := range f.running {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// kill ends the collectors that still run.
func (l *load) kill() {
	for r := range l.all() {
		r.collector.Kill()
	}
}

func (l *load) keyDir() string       { return filepath.Join(l.Dir, "keys") }
func (l *load) keyFile() string      { return filepath.Join(l.keyDir(), "signing-key.pem") }
func (l *load) registryFile() string { return filepath.Join(l.keyDir(), "keys.json") }
