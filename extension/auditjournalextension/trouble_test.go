// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
)

func TestDiskTroubleIsRetryableShowsAndPasses(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	cfg, _ := configFor(t, "/journal")
	cfg.Scope.Routes = nil
	disk, h := crashfs.New(1), &host{}
	j := newExtension(t, cfg, tel)
	j.fs = disk
	start(t, j, h)
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 0, nil)})
	require.NoError(t, err)
	assert.Empty(t, h.statuses())

	disk.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpSync || op.Kind == crashfs.OpWrite {
			return crashfs.Fault{Err: syscall.ENOSPC}
		}
		return crashfs.Fault{}
	})
	items := []carrier.Item{read(t, 1, nil)}
	_, err = j.Append(t.Context(), items)
	require.ErrorIs(t, err, syscall.ENOSPC)
	assert.False(t, consumererror.IsPermanent(err))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, []componentstatus.Status{componentstatus.StatusRecoverableError}, slices.Compact(h.statuses()))
	}, 10*time.Second, 10*time.Millisecond)
	here := attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))
	ignore := []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}
	metadatatest.AssertEqualExtensionAuditJournalDegraded(t, tel, []metricdata.DataPoint[int64]{{Value: 1, Attributes: here}}, ignore...)
	metadatatest.AssertEqualExtensionAuditJournalFailures(t, tel, []metricdata.DataPoint[int64]{{Value: 1, Attributes: here}}, ignore...)

	disk.SetFaults(nil)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := j.Append(t.Context(), items)
		assert.NoError(c, err)
	}, 10*time.Second, 50*time.Millisecond)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, slices.Compact(h.statuses()))
	}, 10*time.Second, 10*time.Millisecond)
	metadatatest.AssertEqualExtensionAuditJournalDegraded(t, tel, []metricdata.DataPoint[int64]{{Value: 0, Attributes: here}}, ignore...)
}

func TestStatusIsReportedForTheFirstAndTheLastJournalInTrouble(t *testing.T) {
	recoverable, ok, permanent := componentstatus.StatusRecoverableError, componentstatus.StatusOK, componentstatus.StatusPermanentError
	full, broken := errors.New("disk is full"), errors.New("disk is broken")
	type change struct {
		journal string
		err     error
	}
	for name, test := range map[string]struct {
		changes []change
		want    []componentstatus.Status
	}{
		"one journal":               {[]change{{"a", full}, {"a", full}, {"a", nil}, {"a", nil}}, []componentstatus.Status{recoverable, ok}},
		"two journals":              {[]change{{"a", full}, {"b", full}, {"a", nil}, {"b", nil}}, []componentstatus.Status{recoverable, recoverable, ok}},
		"another cause":             {[]change{{"a", full}, {"a", broken}, {"a", broken}, {"a", nil}}, []componentstatus.Status{recoverable, recoverable, ok}},
		"a damaged one":             {[]change{{"a", ledger.ErrDamaged}, {"a", ledger.ErrDamaged}}, []componentstatus.Status{permanent}},
		"damaged while in trouble":  {[]change{{"a", full}, {"a", ledger.ErrDamaged}}, []componentstatus.Status{recoverable, permanent}},
		"trouble beside the damage": {[]change{{"a", ledger.ErrDamaged}, {"b", full}, {"b", nil}}, []componentstatus.Status{permanent}},
	} {
		t.Run(name, func(t *testing.T) {
			h, health := &host{}, newHealth()
			health.setHost(h)
			for _, c := range test.changes {
				health.set(journalName{c.journal, "r", reads}, c.err)
			}
			assert.Equal(t, test.want, h.statuses())
		})
	}
}

func TestStatusCarriesTheNewestCauseThatIsLeft(t *testing.T) {
	h, health := &host{}, newHealth()
	health.setHost(h)
	a, b := journalName{"a", "r", reads}, journalName{"b", "r", reads}
	health.set(a, errors.New("disk is full"))
	health.set(b, errors.New("disk is read-only"))
	health.set(a, errors.New("directory is missing"))
	health.set(a, nil)
	health.set(b, nil)
	assert.Equal(t, []string{
		"journal a/r: disk is full", "journal b/r: disk is read-only", "journal a/r: directory is missing", "journal b/r: disk is read-only", "",
	}, h.causes())
}

// A health check waits from the newest event on before it calls a component unhealthy:
// a place that fails again and again at another object must not begin that anew.
func TestAPlaceThatGoesOnFailingIsReportedOnce(t *testing.T) {
	h, health := &host{}, newHealth()
	health.setHost(h)
	a := journalName{"a", "r", reads}
	for n := range 5 {
		health.setSink(a, "s3/one", fmt.Errorf("checkpoint %d: connection refused", n))
		health.setSink(a, "s3/two", fmt.Errorf("checkpoint %d: connection refused", n))
		health.setArchive(a, fmt.Errorf("segment %d: connection refused", n))
	}
	health.setSink(a, "s3/one", nil)
	health.setSink(a, "s3/two", nil)
	health.setArchive(a, nil)
	assert.Equal(t, []componentstatus.Status{
		componentstatus.StatusRecoverableError, componentstatus.StatusRecoverableError, componentstatus.StatusRecoverableError, componentstatus.StatusOK,
	}, h.statuses())
}

func TestTroubleIsCountedAlwaysAndLoggedWhenItChangesOrLasts(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	cfg, _ := configFor(t, "/journal")
	j := newExtension(t, cfg, tel)
	core, logs := observer.New(zap.InfoLevel)
	j.logger = zap.New(core)
	j.health.setHost(&host{})
	o := j.observer(journalName{"bank", "kyc_10y", reads}, newInstruments(j.telemetry, journalName{"bank", "kyc_10y", reads}))

	index, full := errors.New("write the index of repeats: disk is full"), fmt.Errorf("%w: disk is full", ledger.ErrUnavailable)
	for range 3 {
		o.Failed(index)
	}
	for range 2 {
		o.Failed(full)
		o.State(full)
	}
	o.State(nil)
	o.Failed(full)
	var lines []string
	for _, entry := range logs.All() {
		lines = append(lines, entry.Level.String()+" "+entry.Message)
		assert.Equal(t, "bank/kyc_10y", entry.ContextMap()["journal"])
	}
	assert.Equal(t, []string{
		"warn Journal has trouble and goes on", "error Journal cannot be written", "info Journal can be written again", "error Journal cannot be written",
	}, lines)
	metadatatest.AssertEqualExtensionAuditJournalTroubles(t, tel,
		[]metricdata.DataPoint[int64]{{Value: 6, Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))}},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())

	var said repetition
	now := time.Unix(1_800_000_000, 0)
	assert.False(t, said.again(index, now))
	assert.True(t, said.again(index, now.Add(repeatInterval-1)))
	assert.False(t, said.again(index, now.Add(repeatInterval)))
	assert.True(t, said.again(index, now.Add(repeatInterval+1)))
	assert.False(t, said.again(full, now.Add(repeatInterval+1)))
}
