// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/extension/evidencestoreextension"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/record"
)

// withCopy is what a processor hands on for one read whose result is kept.
func withCopy(t *testing.T, result string) (context.Context, content.ParsedDigest) {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(result)))
	draft, err := record.NewReadDraft(&record.Read{
		Header: record.Header{
			EventType:   record.EventReadTool,
			OccurredAt:  record.TimeFromUnixNano(1_790_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: "run-1"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		ReadID:      record.ReadIDOfSpan([16]byte{1}, [8]byte{1}, []byte(result)),
		ExecutionID: "run-1",
		Source:      record.Source{Kind: record.SourceAPI},
		Response:    record.Response{Status: record.StatusOK, ResultDigest: digest, ResultCanonicalization: "bytes", ResultSize: int64(len(result))},
		Retention:   record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:     record.Capture{Request: record.CapturedNothing, Response: record.CapturedContent},
	}, false)
	require.NoError(t, err)
	d, err := content.ParseDigest(digest)
	require.NoError(t, err)
	return carrier.NewContext(t.Context(), &carrier.Batch{Items: []carrier.Item{
		{Draft: draft, Copies: []carrier.Copy{{Digest: digest, Content: []byte(result)}}, Store: "evidence_store"},
	}}), d
}

// requireKept demands that an auditor gets the content back.
func requireKept(t *testing.T, fs durable.FS, directory string, identity age.Identity, d content.ParsedDigest, result string) {
	t.Helper()
	r := &evidence.Reader{Places: []evidence.Reading{evidence.Directory{FS: fs, Root: directory}}, Identities: []age.Identity{identity}}
	var got bytes.Buffer
	_, err := r.Get(t.Context(), "default", "default", d, &got)
	require.NoError(t, err)
	require.Equal(t, result, got.String())
}

func TestAStoreThatIsAwayHoldsTheRecordBackUntilItIsThere(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	f := evidencestoreextension.NewFactory()
	cfg := f.CreateDefaultConfig().(*evidencestoreextension.Config)
	cfg.Directory = filepath.Join(t.TempDir(), "evidence")
	cfg.Recipients = []evidencestoreextension.RecipientsConfig{{RetentionClass: "default", Set: "all", Keys: []string{identity.Recipient().String()}}}
	store, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context(), host{}))
	c := newCollectorBeside(t, host{component.NewID(f.Type()): store})

	require.NoError(t, os.Rename(cfg.Directory, cfg.Directory+".away"))
	ctx, digest := withCopy(t, "CANARY-result")
	for range 3 {
		err := c.exporter.ConsumeTraces(ctx, ptrace.NewTraces())
		require.ErrorContains(t, err, "copies cannot be stored")
		assert.False(t, consumererror.IsPermanent(err))
		assert.NotContains(t, err.Error(), "CANARY")
		assert.NotContains(t, err.Error(), cfg.Directory, "answers never say where the store is")
	}
	assert.Equal(t, []string{record.EventJournalOpened}, c.entries())
	require.NoError(t, os.Rename(cfg.Directory+".away", cfg.Directory))
	for range 2 {
		require.NoError(t, c.exporter.ConsumeTraces(ctx, ptrace.NewTraces()))
	}
	assert.Equal(t, []string{record.EventJournalOpened, record.EventReadTool}, c.entries())
	requireKept(t, durable.OS{}, cfg.Directory, identity, digest, "CANARY-result")
	c.shutdown()
	require.NoError(t, store.Shutdown(t.Context()))
}

// diskStore is the store of the extension on a disk that can run full.
type diskStore struct {
	component.StartFunc
	component.ShutdownFunc
	*evidence.Store
}

func (d diskStore) Put(ctx context.Context, organization, class string, copies []carrier.Copy) error {
	_, err := d.Store.Put(ctx, organization, class, copies)
	return err
}

func TestAFullStoreHoldsTheRecordBackUntilThereIsRoom(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	recipients, err := evidence.NewRecipients([]string{identity.Recipient().String()})
	require.NoError(t, err)
	disk := crashfs.New(1)
	place, err := evidence.OpenLocal(disk, "/evidence")
	require.NoError(t, err)
	store, err := evidence.NewStore(t.Context(), place, []evidence.Set{{Class: "default", Name: "all", Recipients: recipients}})
	require.NoError(t, err)
	c := newCollectorBeside(t, host{component.MustNewID("evidence_store"): diskStore{Store: store}})

	disk.SetCapacity(500)
	result := strings.Repeat("CANARY-result ", 100)
	ctx, digest := withCopy(t, result)
	for range 3 {
		err := c.exporter.ConsumeTraces(ctx, ptrace.NewTraces())
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.False(t, consumererror.IsPermanent(err))
	}
	assert.Equal(t, []string{record.EventJournalOpened}, c.entries())
	disk.SetCapacity(0)
	for range 2 {
		require.NoError(t, c.exporter.ConsumeTraces(ctx, ptrace.NewTraces()))
	}
	assert.Equal(t, []string{record.EventJournalOpened, record.EventReadTool}, c.entries())
	requireKept(t, disk, "/evidence", identity, digest, result)
	c.shutdown()
}
