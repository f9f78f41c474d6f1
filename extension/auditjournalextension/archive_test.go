// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

const archiveTime = 20 * time.Second

// archivedConfig has one journal whose segments hold one commit group each, and an
// archive on a server in memory.
func archivedConfig(t *testing.T, server *s3test.Server) *Config {
	t.Helper()
	s3test.Credentials(t)
	cfg, _ := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	cfg.Segment.MaxBytes = 1
	bucket := newBucketConfig()
	bucket.Name, bucket.Endpoint, bucket.Prefix = s3test.Bucket, server.URL, "readtrail"
	cfg.Archive = configoptional.Some(ArchiveConfig{
		Bucket: bucket, Retain: map[string]Days{"kyc_10y": 3660 * days}, Interval: 5 * time.Millisecond, UploadTimeout: archive.DefaultUploadTimeout,
	})
	return cfg
}

func TestSealedSegmentsAreArchivedWhileTheJournalRuns(t *testing.T) {
	server := s3test.Start(t)
	cfg := archivedConfig(t, server)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j := newExtension(t, cfg, tel)
	start(t, j, componenttest.NewNopHost())
	for n := range 3 {
		_, err := j.Append(t.Context(), []carrier.Item{read(t, n, nil)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(server.Keys()) == 3 }, archiveTime, time.Millisecond, "opened and two reads are sealed")
	for _, key := range server.Keys() {
		assert.Regexp(t, `^readtrail/bank/kyc_10y/reads/jrn_[0-9A-Z]{26}/segments/[0-9]{20}\.events$`, key)
		assert.Equal(t, "COMPLIANCE", server.Versions(key)[0].Mode)
	}
	var id string
	for _, opened := range j.running() {
		id = opened.JournalID()
	}
	text, err := os.ReadFile(filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads", "00000000000000000001.events"))
	require.NoError(t, err)
	pruned := record.PrunedSegment{Segment: "00000000000000000001.events", Size: int64(len(text)), Digest: journal.SpellHash(sha256.Sum256(text))}
	where, err := j.archiver.held(t.Context(), id, pruned)
	require.NoError(t, err)
	assert.Contains(t, where, "/segments/00000000000000000001.events?versionId=v1")
	_, err = j.archiver.held(t.Context(), "jrn_other", pruned)
	require.ErrorContains(t, err, "no journal jrn_other is archived here")
	point := func(n int64) []metricdata.DataPoint[int64] {
		return []metricdata.DataPoint[int64]{{Value: n, Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))}}
	}
	ignore := []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}
	require.Eventually(t, func() bool {
		m, err := tel.GetMetric("otelcol_extension_audit_journal_archive_segments")
		return err == nil && m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value == 3
	}, archiveTime, time.Millisecond)
	metadatatest.AssertEqualExtensionAuditJournalArchiveWaiting(t, tel, point(0), ignore...)
	metadatatest.AssertEqualExtensionAuditJournalArchiveOldestWaiting(t, tel, point(0), ignore...)
}

// The bucket is away while the journal is written: nobody who appends notices, the
// component says so, and what was sealed meanwhile is archived when it is back.
func TestAnArchiveThatFailsDoesNotBlockTheJournal(t *testing.T) {
	server := s3test.Start(t)
	var down atomic.Bool
	down.Store(true)
	server.Fail(func(string, string) s3test.Fault {
		if down.Load() {
			return s3test.Dropped
		}
		return s3test.Works
	})
	cfg := archivedConfig(t, server)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j, h := newExtension(t, cfg, tel), &host{}
	start(t, j, h)
	for n := range 3 {
		_, err := j.Append(t.Context(), []carrier.Item{read(t, n, nil)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(h.causes()) > 0 }, archiveTime, time.Millisecond)
	assert.Equal(t, componentstatus.StatusRecoverableError, h.statuses()[0])
	assert.Contains(t, h.causes()[0], "archive of journal bank/kyc_10y: ask for the Object Lock of s3://evidence/readtrail: ")
	require.Eventually(t, func() bool {
		m, err := tel.GetMetric("otelcol_extension_audit_journal_archive_waiting")
		return err == nil && m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value == 3
	}, archiveTime, time.Millisecond)
	_, err := tel.GetMetric("otelcol_extension_audit_journal_archive_failures")
	require.NoError(t, err)

	down.Store(false)
	require.Eventually(t, func() bool {
		s := h.statuses()
		return len(server.Keys()) == 3 && s[len(s)-1] == componentstatus.StatusOK
	}, archiveTime, time.Millisecond)
}

func TestAnArchiveThatHangsDoesNotHoldUpTheShutdown(t *testing.T) {
	server := s3test.Start(t)
	hanging, release := make(chan struct{}, 100), make(chan struct{})
	t.Cleanup(func() { close(release) })
	server.Fail(func(string, string) s3test.Fault {
		hanging <- struct{}{}
		<-release
		return s3test.Dropped
	})
	cfg := archivedConfig(t, server)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j := newExtension(t, cfg, tel)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)
	<-hanging
	require.Eventually(t, func() bool { // meanwhile it shows what waits, and for how long
		waiting, err := tel.GetMetric("otelcol_extension_audit_journal_archive_waiting")
		waited, timeErr := tel.GetMetric("otelcol_extension_audit_journal_archive_waiting_time")
		return err == nil && timeErr == nil && waiting.Data.(metricdata.Gauge[int64]).DataPoints[0].Value == 1 &&
			waited.Data.(metricdata.Gauge[float64]).DataPoints[0].Value > 0
	}, archiveTime, time.Millisecond)
	require.NoError(t, j.Shutdown(t.Context()))
}

func TestATroubleOfTheJournalIsToldBeforeOneOfItsArchive(t *testing.T) {
	h, reports := newHealth(), &host{}
	h.setHost(reports)
	name := journalName{"bank", "kyc", reads}
	h.set(name, os.ErrPermission)
	h.setArchive(name, os.ErrDeadlineExceeded)
	h.set(name, nil)
	h.setArchive(name, nil)
	assert.Equal(t, []string{"journal bank/kyc: permission denied", "archive of journal bank/kyc: i/o timeout", ""}, reports.causes())
}

func TestAJournalWithoutAnArchiveTalksToNobody(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	start(t, j, componenttest.NewNopHost())
	assert.Nil(t, j.archiver)
	assert.DirExists(t, filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads"))
}

func TestABucketThatCannotLockShowsAtTheStart(t *testing.T) {
	server := s3test.Start(t)
	server.NoObjectLock = true
	cfg := archivedConfig(t, server)
	j, h := newExtension(t, cfg, nil), &host{}
	start(t, j, h)
	require.Eventually(t, func() bool { return len(h.causes()) > 0 }, archiveTime, time.Millisecond)
	assert.Contains(t, h.causes()[0], "archive of journal bank/kyc_10y: s3://evidence/readtrail: bucket has no Object Lock")
}

func TestAnArchiveThatIsAheadOfARolledBackJournalIsLeftAlone(t *testing.T) {
	server := s3test.Start(t)
	cfg := archivedConfig(t, server)
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	dir := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(copied, "then"), os.DirFS(dir)))
	for n := range 4 {
		_, err := j.Append(t.Context(), []carrier.Item{read(t, n, nil)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(server.Keys()) == 4 }, archiveTime, time.Millisecond)
	require.NoError(t, j.Shutdown(t.Context()))
	stored := server.Keys()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(copied, "then"))))

	again, h := newExtension(t, cfg, nil), &host{}
	start(t, again, h)
	for n := range 8 {
		_, err := again.Append(t.Context(), []carrier.Item{read(t, 100+n, nil)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(h.causes()) > 0 }, archiveTime, time.Millisecond)
	server.Calls()
	require.Eventually(t, func() bool { return len(server.Calls()) > 0 }, archiveTime, time.Millisecond, "another round")
	assert.Equal(t, stored, server.Keys())
}
