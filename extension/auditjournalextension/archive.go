// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/record"
)

// archiver keeps the sealed segments of the journals in the archive. It runs
// beside the journals and holds none of them up, whatever becomes of the bucket.
type archiver struct {
	owner   *journals
	archive *archive.Archive
	of      map[journalName]*archivedJournal

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// archivedJournal is what the archiver knows of one journal.
type archivedJournal struct {
	archive.Journal
	opened *openJournal
	logger *zap.Logger
	said   repetition
	// swept says that the tiles were looked at since something was stored.
	swept bool

	// mu guards what follows: metrics are told while a round is under way.
	mu sync.Mutex
	// oldest is the segment that has waited longest, and since when it is known to.
	oldest uint64
	since  time.Time
}

// openArchive makes the client of the archive. Nothing is sent yet, so that only a
// configuration that cannot work is an error.
func openArchive(ctx context.Context, c *ArchiveConfig) (*archive.Archive, error) {
	settings := c.Bucket.settings()
	settings.UploadTimeout = c.UploadTimeout
	bucket, err := archive.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	return archive.New(bucket, c.policy())
}

// newS3Sink makes a bucket a sink of checkpoints. Nothing is sent yet.
func newS3Sink(ctx context.Context, name string, c S3SinkConfig) (checkpoint.Sink, error) {
	bucket, err := archive.Open(ctx, c.Bucket.settings())
	if err != nil {
		return nil, err
	}
	return archive.NewCheckpointSink(name, bucket, archive.Mode(c.Bucket.Mode), time.Duration(c.Retain), c.Bucket.LegalHold)
}

// archiveSink is the sink that puts the checkpoints of a journal beside its
// archived segments, if there is an archive.
func (o *outside) archiveSink(name journalName) []checkpoint.Sink {
	if o.archive == nil {
		return nil
	}
	return []checkpoint.Sink{o.archive.CheckpointSink("archive", name.archived())}
}

// archived is where the journal is in an archive, but for its id.
func (n journalName) archived() archive.Place {
	return archive.Place{Organization: n.organization, RetentionClass: n.retention, Kind: n.kind}
}

// startArchiver begins to archive the journals.
func startArchiver(ctx context.Context, owner *journals, to *archive.Archive, open map[journalName]*openJournal) *archiver {
	a := &archiver{owner: owner, archive: to, of: map[journalName]*archivedJournal{}}
	for name, opened := range open {
		place := name.archived()
		place.JournalID = opened.JournalID()
		a.of[name] = &archivedJournal{
			Journal: archive.Journal{Place: place, Dir: name.directory(owner.config.Directory), FS: owner.fs},
			opened:  opened, logger: owner.logger.With(zap.Stringer("journal", name)),
		}
	}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	a.done.Go(func() { a.run(ctx) })
	a.done.Go(func() { a.watch(ctx) })
	return a
}

// stop ends the archiver. What is on its way is given up: whether it arrived shows
// when the bucket is looked at again.
func (a *archiver) stop() {
	if a == nil {
		return
	}
	a.cancel()
	a.done.Wait()
}

func (a *archiver) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		a.round(ctx)
		timer.Reset(a.owner.config.Archive.Get().Interval)
	}
}

// round archives what is sealed, journal by journal. A bucket that does not answer
// ends it: the next journal would only wait as long.
func (a *archiver) round(ctx context.Context) {
	for name, j := range a.of {
		answered, err := a.push(ctx, j)
		if ctx.Err() != nil {
			return
		}
		a.tell(name, j, err)
		if !answered {
			return
		}
	}
}

// push archives one journal. It reports whether the bucket answered, and the first
// error that kept anything back.
func (a *archiver) push(ctx context.Context, j *archivedJournal) (answered bool, err error) {
	status, err := a.archive.Push(ctx, j.Journal)
	a.tellWaiting(j)
	if err != nil {
		return false, err
	}
	if status.Stored > 0 {
		j.swept = false
		j.logger.Info("Segments are archived and locked", zap.Int("segments", status.Stored), zap.String("archive", a.archive.Bucket().Address(j.Place)))
	}
	if err := firstError(status); err != nil || j.swept {
		return true, err
	}
	_, err = a.archive.PushTiles(ctx, j.Journal)
	j.swept = err == nil
	return true, err
}

// maxTellInterval bounds how old the metrics are.
const maxTellInterval = 15 * time.Second

// watch says in metrics how far the archives are, also while a bucket hangs.
func (a *archiver) watch(ctx context.Context) {
	ticker := time.NewTicker(min(a.owner.config.Archive.Get().Interval, maxTellInterval))
	defer ticker.Stop()
	for {
		for _, j := range a.of {
			a.tellWaiting(j)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// tellWaiting says in metrics how far the archive of a journal is.
func (a *archiver) tellWaiting(j *archivedJournal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	status, err := a.archive.Known(j.Journal)
	if err != nil {
		return // the round tells it
	}
	archived, waiting, oldest := status.Counts()
	if oldest != j.oldest {
		j.oldest, j.since = oldest, time.Now()
	}
	waited := time.Duration(0)
	if oldest > 0 {
		waited = time.Since(j.since)
	}
	j.opened.instruments.archived(archived, waiting, oldest, waited)
}

// firstError is why nothing more is archived, or the first file is not.
func firstError(status *archive.Status) error {
	if status.Ahead != nil {
		return status.Ahead
	}
	for _, f := range status.Files {
		if f.Err != nil {
			return f.Err
		}
	}
	return nil
}

// held says where the archive holds a segment that is to be pruned, having asked
// it.
func (a *archiver) held(ctx context.Context, journalID string, s record.PrunedSegment) (string, error) {
	for _, j := range a.of {
		if j.JournalID == journalID {
			return a.archive.Asks(j.Journal)(ctx, s)
		}
	}
	return "", fmt.Errorf("no journal %s is archived here", journalID)
}

// tell says how the archive of a journal is, where it changed.
func (a *archiver) tell(name journalName, j *archivedJournal, err error) {
	a.owner.health.setArchive(name, err)
	switch {
	case err == nil:
		j.said = repetition{}
	default:
		j.opened.instruments.archiveFailed()
		if !j.said.again(err, time.Now()) {
			j.logger.Error("Journal is not archived; the journal itself goes on", zap.Error(err))
		}
	}
}
