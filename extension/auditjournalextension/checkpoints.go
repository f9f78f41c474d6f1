// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// outside are the places outside that all journals share.
type outside struct {
	attesters []checkpoint.Attester
	sinks     []checkpoint.Sink
	clients   []*http.Client
	// archive is nil without one.
	archive *archive.Archive
}

// close gives back idle connections.
func (o *outside) close() {
	if o == nil {
		return
	}
	for _, c := range o.clients {
		c.CloseIdleConnections()
	}
}

// openOutside makes the clients of all sinks. Nothing is sent yet.
func (j *journals) openOutside(ctx context.Context, host component.Host) (*outside, error) {
	o := &outside{}
	if j.config.Archive.HasValue() {
		opened, err := openArchive(ctx, j.config.Archive.Get())
		if err != nil {
			return nil, err
		}
		o.archive = opened
	}
	if !j.config.Checkpoints.HasValue() {
		return o, nil
	}
	sinks := &j.config.Checkpoints.Get().Sinks
	for _, name := range slices.Sorted(maps.Keys(sinks.Witness)) {
		c := sinks.Witness[name]
		client, err := j.client(ctx, host, &c.ClientConfig, o)
		if err != nil {
			return nil, fmt.Errorf("checkpoints::sinks::%s::%s: %w", kindWitness, name, err)
		}
		key, err := journal.ParseWitness(c.Key)
		if err != nil {
			return nil, fmt.Errorf("checkpoints::sinks::%s::%s::key: %w", kindWitness, name, err)
		}
		o.attesters = append(o.attesters, checkpoint.NewWitness(sinkName(kindWitness, name), c.ClientConfig.Endpoint, client, key))
	}
	for _, name := range slices.Sorted(maps.Keys(sinks.Timestamp)) {
		c := sinks.Timestamp[name]
		client, err := j.client(ctx, host, &c.ClientConfig, o)
		if err != nil {
			return nil, fmt.Errorf("checkpoints::sinks::%s::%s: %w", kindTimestamp, name, err)
		}
		roots, err := readRoots(c.RootsFile)
		if err != nil {
			return nil, fmt.Errorf("checkpoints::sinks::%s::%s::roots_file: %w", kindTimestamp, name, err)
		}
		o.attesters = append(o.attesters, checkpoint.NewAuthority(sinkName(kindTimestamp, name), c.ClientConfig.Endpoint, client, roots))
	}
	for _, name := range slices.Sorted(maps.Keys(sinks.Directory)) {
		o.sinks = append(o.sinks, checkpoint.NewDirectory(sinkName(kindDirectory, name), sinks.Directory[name].Path, j.fs))
	}
	for _, name := range slices.Sorted(maps.Keys(sinks.S3)) {
		sink, err := newS3Sink(ctx, sinkName(kindS3, name), sinks.S3[name])
		if err != nil {
			return nil, fmt.Errorf("checkpoints::sinks::%s::%s: %w", kindS3, name, err)
		}
		o.sinks = append(o.sinks, sink)
	}
	return o, nil
}

// client makes an HTTP client and keeps it for close.
func (j *journals) client(ctx context.Context, host component.Host, c *confighttp.ClientConfig, o *outside) (*http.Client, error) {
	client, err := c.ToClient(ctx, host.GetExtensions(), j.settings)
	if err == nil {
		o.clients = append(o.clients, client)
	}
	return client, err
}

func readRoots(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return roots, nil
}

// newKeeper returns the keeper of a journal's checkpoints, nil if there are none.
func (j *journals) newKeeper(name journalName, o *outside, signer journal.Signer, outgoing []journal.Signer, i *instruments) (*checkpoint.Keeper, error) {
	if !j.config.Checkpoints.HasValue() {
		return nil, nil
	}
	config := j.config.Checkpoints.Get()
	keys := make([]ed25519.PublicKey, len(outgoing))
	for k, s := range outgoing {
		keys[k] = s.PublicKey()
	}
	return checkpoint.New(checkpoint.Options{
		Dir: name.directory(j.config.Directory), FS: j.fs,
		Signer: signer, Outgoing: keys,
		Entries: uint64(config.Entries), Interval: config.Interval, Timeout: config.Timeout,
		Attesters: o.attesters, Sinks: append(slices.Clone(o.sinks), o.archiveSink(name)...),
		Observer: j.checkpointObserver(name, i),
	})
}

// attested has the keeper judge what places outside hold of a journal.
func attested(keeper *checkpoint.Keeper) func(context.Context, string, uint64) (*journal.SignedCheckpoint, error) {
	return func(ctx context.Context, journalID string, size uint64) (*journal.SignedCheckpoint, error) {
		held, err := keeper.Attested(ctx, journalID, size)
		if errors.Is(err, checkpoint.ErrConflict) {
			err = fmt.Errorf("%w: %w", ledger.ErrContradicted, err)
		}
		return held, err
	}
}

// checkpointObserver turns what a keeper tells into metrics, status and log lines.
func (j *journals) checkpointObserver(name journalName, i *instruments) checkpoint.Observer {
	logger := j.logger.With(zap.Stringer("journal", name))
	var mu sync.Mutex
	var trouble repetition
	stuck := false
	said := map[string]*repetition{}
	return checkpoint.Observer{
		Signed: i.checkpointed,
		Place: func(sink string, size uint64, err error) {
			i.sinkTook(sink, size, err)
			j.health.setSink(name, sink, err)
			mu.Lock()
			defer mu.Unlock()
			before := said[sink]
			switch {
			case err == nil && before != nil:
				delete(said, sink)
				logger.Info("Checkpoint sink works again", zap.String("sink", sink), zap.Uint64("size", size))
			case err != nil && before == nil:
				before = &repetition{}
				said[sink] = before
				fallthrough
			case err != nil:
				if !before.again(err, time.Now()) {
					logger.Error("Checkpoint did not reach a sink", zap.String("sink", sink), zap.Uint64("size", size),
						zap.String("reason", string(checkpoint.ReasonOf(err))), zap.Error(err))
				}
			}
		},
		Failed: func(err error) {
			i.checkpointFailed()
			mu.Lock()
			defer mu.Unlock()
			if !trouble.again(err, time.Now()) {
				logger.Warn("Checkpoints have trouble", zap.Error(err))
			}
		},
		State: func(err error) {
			i.checkpointsStuck(err != nil)
			j.health.setCheckpoints(name, err)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && stuck {
				trouble = repetition{}
				logger.Info("Checkpoints are made again")
			}
			stuck = err != nil
		},
	}
}

// Rotate has the journal and its later checkpoints signed by another key.
func (o *openJournal) Rotate(ctx context.Context, to journal.Signer) error {
	err := o.Ledger.Rotate(ctx, to)
	if err == nil {
		o.keeper.SetSigner(to)
	}
	return err
}

// Close closes the journal and makes its last checkpoint.
func (o *openJournal) Close(ctx context.Context) error {
	err := o.Ledger.Close(ctx)
	return errors.Join(err, o.keeper.Close(ctx))
}
