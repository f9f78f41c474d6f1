// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/archive"
)

// archiver keeps the sealed segments of the journals in the archive. It runs
// beside the journals and holds none of them up, whatever becomes of the bucket.
type archiver struct {
	owner  *journals
	config *ArchiveConfig
	// archive is nil as long as it could not be opened.
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
	// oldest is the segment that has waited longest, and since when it is known to.
	oldest uint64
	since  time.Time
}

// startArchiver begins to archive the journals.
func startArchiver(ctx context.Context, owner *journals, config *ArchiveConfig, open map[journalName]*openJournal) *archiver {
	a := &archiver{owner: owner, config: config, of: map[journalName]*archivedJournal{}}
	for name, opened := range open {
		a.of[name] = &archivedJournal{
			Journal: owner.archivedAs(name, opened),
			opened:  opened, logger: owner.logger.With(zap.Stringer("journal", name)),
		}
	}
	ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	a.done.Go(func() { a.run(ctx) })
	return a
}

// archivedAs returns a journal as its archive knows it.
func (j *journals) archivedAs(name journalName, opened *openJournal) archive.Journal {
	dir := name.directory(j.config.Directory)
	return archive.Journal{
		Place: archive.Place{
			Organization: name.organization, RetentionClass: name.retention,
			Kind: filepath.Base(dir), JournalID: opened.JournalID(),
		},
		Dir: dir, FS: j.fs,
	}
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
		timer.Reset(a.config.Interval)
	}
}

// round archives what is sealed, journal by journal. A bucket that does not answer
// ends it: the next journal would only wait as long.
func (a *archiver) round(ctx context.Context) {
	for name, j := range a.of {
		err := a.push(ctx, j)
		if ctx.Err() != nil {
			return
		}
		a.tell(name, j, err)
	}
}

// push archives one journal. The error is the first that kept anything back.
func (a *archiver) push(ctx context.Context, j *archivedJournal) error {
	if a.archive == nil {
		var err error
		if a.archive, err = a.config.open(ctx); err != nil {
			return err
		}
	}
	status, err := a.archive.Push(ctx, j.Journal)
	archived, waiting, oldest := status.Counts()
	if oldest != j.oldest {
		j.oldest, j.since = oldest, time.Now()
	}
	waited := time.Duration(0)
	if oldest > 0 {
		waited = time.Since(j.since)
	}
	j.opened.instruments.archived(archived, waiting, oldest, waited)
	if status.Stored > 0 {
		j.swept = false
		j.logger.Info("Segments are archived and locked", zap.Int("segments", status.Stored), zap.String("archive", a.archive.Bucket().Address(j.Place)))
	}
	if err == nil {
		err = firstError(status)
	}
	if err != nil || j.swept {
		return err
	}
	_, err = a.archive.PushTiles(ctx, j.Journal)
	j.swept = err == nil
	return err
}

// firstError is why the first file that is not archived is not.
func firstError(status *archive.Status) error {
	for _, f := range status.Files {
		if f.Err != nil {
			return f.Err
		}
	}
	return nil
}

func (c *ArchiveConfig) open(ctx context.Context) (*archive.Archive, error) {
	settings := c.Bucket.settings()
	settings.UploadTimeout = c.UploadTimeout
	bucket, err := archive.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	return archive.New(bucket, c.Bucket.policy())
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
