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
	// Contenders are measured against Baseline.
	Baseline   Contender
	Contenders []Contender
	// Content makes the results of the tool calls.
	Content Content
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
	sender *sender
	// signing is what a bare signature took in each round.
	signing []time.Duration
}

// Run measures, and demands that every span that was accepted is written and
// that the journals verify.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	l := &load{Options: o}
	if l.sender, err = newSender(o.Content, o.Connections); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, o.CLI, "keys", "new", "--out", l.keyDir()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a key: %w\n%s", err, out)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	var all []*running
	defer func() {
		for _, r := range all {
			r.collector.Kill()
		}
	}()
	for _, c := range append([]Contender{o.Baseline}, o.Contenders...) {
		r, err := l.start(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for round := range o.Rounds + 1 {
		signing, err := bareSignature(key)
		if err != nil {
			return nil, err
		}
		l.signing = append(l.signing, signing)
		for i := range all { // nobody is always first
			if err := all[(round+i)%len(all)].round(ctx, l); err != nil {
				return nil, err
			}
		}
	}
	select {
	case <-time.After(o.Settle):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var errs []error
	for _, r := range all {
		errs = append(errs, r.note())
	}
	for _, r := range all {
		errs = append(errs, r.stop(ctx, l))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return l.report(all)
}

func (l *load) keyDir() string       { return filepath.Join(l.Dir, "keys") }
func (l *load) keyFile() string      { return filepath.Join(l.keyDir(), "signing-key.pem") }
func (l *load) registryFile() string { return filepath.Join(l.keyDir(), "keys.json") }
