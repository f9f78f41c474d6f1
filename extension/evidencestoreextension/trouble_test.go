// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/extension/evidencestoreextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
)

var ignore = []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}

func point(n int64) []metricdata.DataPoint[int64] {
	return []metricdata.DataPoint[int64]{{Value: n, Attributes: attribute.NewSet(attribute.String("store", "evidence_store"))}}
}

func TestAFullDiskIsRetryableShowsAndPasses(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	cfg, identity := configFor(t, "/srv/evidence")
	disk, h := crashfs.New(1), &host{}
	k := newExtension(t, cfg, tel)
	core, logs := observer.New(zap.InfoLevel)
	k.logger, k.fs, k.probeInterval = zap.New(core), disk, time.Hour
	start(t, k, h)
	require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a"), copyOf("b")}))
	require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("b")}))
	metadatatest.AssertEqualExtensionEvidenceStoreDegraded(t, tel, point(0), ignore...)

	disk.SetCapacity(disk.Used() + 10)
	for _, content := range []string{"CANARY-c", "CANARY-d"} {
		err := k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf(content)})
		require.EqualError(t, err, "evidence_store evidence_store: copies cannot be stored: no space left on device")
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.False(t, consumererror.IsPermanent(err))
	}
	assert.Equal(t, []string{"StatusRecoverableError: directory: no space left on device"}, h.statuses())
	metadatatest.AssertEqualExtensionEvidenceStoreDegraded(t, tel, point(1), ignore...)
	metadatatest.AssertEqualExtensionEvidenceStoreFailures(t, tel, point(2), ignore...)

	disk.SetCapacity(0)
	require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("CANARY-c")}))
	requireKept(t, disk, "/srv/evidence", identity, copyOf("CANARY-c"))
	assert.Equal(t, []string{"StatusRecoverableError: directory: no space left on device", "StatusOK"}, h.statuses())
	metadatatest.AssertEqualExtensionEvidenceStoreDegraded(t, tel, point(0), ignore...)
	metadatatest.AssertEqualExtensionEvidenceStoreCopies(t, tel, point(3), ignore...)
	metadatatest.AssertEqualExtensionEvidenceStoreRepeats(t, tel, point(1), ignore...)
	_, err := tel.GetMetric("otelcol_extension_evidence_store_bytes")
	require.NoError(t, err)

	var lines []string
	for _, entry := range logs.All() {
		lines = append(lines, entry.Level.String()+" "+entry.Message)
		assert.NotContains(t, fmt.Sprint(entry.ContextMap()), "CANARY")
	}
	assert.Equal(t, []string{"error Copies cannot be stored", "info Copies can be stored again"}, lines)
}

func TestADiskThatIsWellAgainShowsWithoutARequest(t *testing.T) {
	cfg, _ := configFor(t, "/srv/evidence")
	disk, h := crashfs.New(1), &host{}
	k := newExtension(t, cfg, nil)
	k.fs, k.probeInterval = disk, time.Millisecond
	start(t, k, h)
	for range 2 {
		disk.SetCapacity(disk.Used() + 1)
		require.Error(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")}))
		require.True(t, k.health.inTrouble(theDisk))
		disk.SetCapacity(0)
		require.Eventually(t, func() bool { return !k.health.inTrouble(theDisk) }, 10*time.Second, time.Millisecond)
	}
	assert.Equal(t, "StatusOK", h.statuses()[3])
}

func TestAScopeWithoutRecipientsIsTroubleUntilItIsMendedWhateverTheOthersDo(t *testing.T) {
	cfg, _ := configFor(t, "/srv/evidence")
	h := &host{}
	k := newExtension(t, cfg, nil)
	k.fs = crashfs.New(1)
	start(t, k, h)
	const want = `there are no recipients for the retention class "treasury" of "bank": add a set to recipients`
	require.ErrorContains(t, k.Put(t.Context(), "bank", "treasury", []carrier.Copy{copyOf("a")}), "evidence_store evidence_store: "+want)
	require.NoError(t, k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")}))
	assert.Equal(t, []string{"StatusRecoverableError: bank/treasury: " + want}, h.statuses())
}

func TestASenderThatGivesUpIsNoTrouble(t *testing.T) {
	cfg, _ := configFor(t, "/srv/evidence")
	h := &host{}
	k := newExtension(t, cfg, nil)
	k.fs = crashfs.New(1)
	start(t, k, h)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, k.Put(ctx, "bank", "kyc", []carrier.Copy{copyOf("a")}), context.Canceled)
	assert.Empty(t, h.statuses())
}

func TestADirectoryThatWentAwayIsSaidWithoutItsPath(t *testing.T) {
	cfg, _ := configFor(t, "/srv/evidence")
	disk := crashfs.New(1)
	k := newExtension(t, cfg, nil)
	k.fs, k.probeInterval = disk, time.Hour
	start(t, k, &host{})
	disk.Move("/srv/evidence", "/srv/away")
	err := k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")})
	require.EqualError(t, err, "evidence_store evidence_store: copies cannot be stored: file does not exist")
	require.NoError(t, disk.MkdirAll("/srv/evidence"))
	err = k.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("a")})
	require.EqualError(t, err, "evidence_store evidence_store: copies cannot be stored: the directory was deleted or replaced while in use")
}
