// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// checkpointedConfig has one journal whose checkpoints go to a directory after
// every entry.
func checkpointedConfig(t *testing.T) (cfg *Config, registry *journal.Registry, offsite string) {
	t.Helper()
	cfg, registry = configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	offsite = t.TempDir()
	cfg.Checkpoints = configoptional.Some(CheckpointsConfig{
		Entries: 1, Interval: time.Hour, Timeout: 10 * time.Second,
		Sinks: SinksConfig{Directory: map[string]DirectorySinkConfig{"offsite": {Path: offsite}}},
	})
	return cfg, registry, offsite
}

// latest is the largest checkpoint in a directory.
func latest(t testing.TB, directory string) *journal.SignedCheckpoint {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(directory, "*", "*.checkpoint"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	note, err := os.ReadFile(names[len(names)-1])
	require.NoError(t, err)
	c, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return c
}

func TestCheckpointsOfAJournalGoToEverySink(t *testing.T) {
	cfg, registry, offsite := checkpointedConfig(t)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	signer, err := journal.NewFileSigner(cfg.SigningKey.File)
	require.NoError(t, err)
	w := checkpointtest.NewWitness(t, "witness.example.com", signer.PublicKey())
	witness := httptest.NewServer(w)
	t.Cleanup(witness.Close)
	a := checkpointtest.NewAuthority(t)
	authority := httptest.NewServer(a)
	t.Cleanup(authority.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	require.NoError(t, os.WriteFile(roots, a.RootPEM, 0o600))
	sinks := &cfg.Checkpoints.Get().Sinks
	sinks.Witness = map[string]WitnessSinkConfig{"one": {ClientConfig: clientFor(witness.URL), Key: w.Key.String()}}
	sinks.Timestamp = map[string]TimestampSinkConfig{"tsa": {ClientConfig: clientFor(authority.URL), RootsFile: roots}}

	j := newExtension(t, cfg, tel)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err = j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context()))

	c := latest(t, offsite)
	report := verify(t, cfg.Directory, registry)
	assert.Equal(t, report.LastSequence, c.Size, "the last checkpoint covers journal.closed")
	_, err = c.Signer(registry)
	require.NoError(t, err)
	assert.Len(t, c.Cosignatures([]journal.Witness{w.Key}), 1)
	tokens, err := filepath.Glob(filepath.Join(offsite, "*", "*.tsr"))
	require.NoError(t, err)
	assert.NotEmpty(t, tokens)
	at := attribute.NewSet(attribute.String("journal", "bank/kyc_10y"), attribute.String("sink", "witness/one"))
	points, err := tel.GetMetric("otelcol_extension_audit_journal_checkpoint_sink_size")
	require.NoError(t, err)
	var size int64
	for _, p := range points.Data.(metricdata.Gauge[int64]).DataPoints {
		if p.Attributes.Equals(&at) {
			size = p.Value
		}
	}
	assert.EqualValues(t, c.Size, size)
}

func clientFor(url string) confighttp.ClientConfig {
	c := confighttp.NewDefaultClientConfig()
	c.Endpoint = url
	return c
}

func TestASinkThatFailsShowsInStatusAndMetricsAndHoldsNothingUp(t *testing.T) {
	cfg, registry, _ := checkpointedConfig(t)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	refuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(refuse.Close)
	cfg.Checkpoints.Get().Sinks.Witness = map[string]WitnessSinkConfig{
		"one": {ClientConfig: clientFor(refuse.URL), Key: checkpointtest.NewWitness(t, "witness.example.com").Key.String()},
	}
	h := &host{}
	j := newExtension(t, cfg, tel)
	start(t, j, h)
	for n := range 3 {
		_, err := j.Append(t.Context(), []carrier.Item{read(t, n, nil)})
		require.NoError(t, err)
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, h.statuses(), componentstatus.StatusRecoverableError)
		assert.Contains(c, h.causes(), "checkpoints of journal bank/kyc_10y: sink witness/one: the witness answered 418")
		points, err := tel.GetMetric("otelcol_extension_audit_journal_checkpoint_sink_degraded")
		assert.NoError(c, err)
		if err == nil {
			assert.Len(c, points.Data.(metricdata.Gauge[int64]).DataPoints, 2)
		}
	}, 20*time.Second, 10*time.Millisecond)
	verify(t, cfg.Directory, registry)
}

func TestACheckpointThatWasNotTakenIsCounted(t *testing.T) {
	cfg, _, offsite := checkpointedConfig(t)
	require.NoError(t, os.Remove(offsite))
	cfg.Checkpoints.Get().Entries = 1000
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j := newExtension(t, cfg, tel)
	start(t, j, componenttest.NewNopHost())
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := tel.GetMetric("otelcol_extension_audit_journal_checkpoint_failures")
		assert.NoError(c, err)
	}, 20*time.Second, 10*time.Millisecond)
	metadatatest.AssertEqualExtensionAuditJournalCheckpointFailures(t, tel, []metricdata.DataPoint[int64]{{
		Value: 1, Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"),
			attribute.String("sink", "directory/offsite"), attribute.String("reason", "unreachable")),
	}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func TestARolledBackJournalKeepsTheCollectorFromStarting(t *testing.T) {
	cfg, _, _ := checkpointedConfig(t)
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil), read(t, 2, nil)})
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context()))
	dir := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)
	segment := filepath.Join(dir, "00000000000000000001.events")
	whole, err := os.ReadFile(segment)
	require.NoError(t, err)
	first := whole[:1+bytes.IndexByte(whole, '\n')]
	require.NoError(t, os.WriteFile(segment, first, 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "index")))

	again := newExtension(t, cfg, nil)
	err = again.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorIs(t, err, ledger.ErrContradicted)
	require.ErrorContains(t, err, "it was rolled back; restore the missing segments")
	require.NoError(t, again.Shutdown(t.Context()))
}

func TestRootsThatCannotBeReadAreNamedWithTheirPath(t *testing.T) {
	cfg, _, _ := checkpointedConfig(t)
	path := filepath.Join(t.TempDir(), "roots.pem")
	require.NoError(t, os.WriteFile(path, []byte("no certificate"), 0o600))
	cfg.Checkpoints.Get().Sinks.Timestamp = map[string]TimestampSinkConfig{"tsa": {ClientConfig: clientFor("http://127.0.0.1:1"), RootsFile: path}}
	err := newExtension(t, cfg, nil).Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, "extensions::audit_journal::checkpoints::sinks::timestamp::tsa::roots_file: "+path+" holds no certificate in PEM")
}

func TestCheckpointsThatCannotBeMadeShowInStatusAndMetric(t *testing.T) {
	cfg, _, _ := checkpointedConfig(t)
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j, h := newExtension(t, cfg, tel), &host{}
	j.health.setHost(h)
	name := journalName{"bank", "kyc_10y", reads}
	o := j.checkpointObserver(name, newInstruments(j.telemetry, name))
	here := attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))
	for _, step := range []struct {
		err  error
		want int64
	}{{nil, 0}, {os.ErrPermission, 1}, {os.ErrPermission, 1}, {nil, 0}} {
		o.State(step.err)
		metadatatest.AssertEqualExtensionAuditJournalCheckpointDegraded(t, tel,
			[]metricdata.DataPoint[int64]{{Value: step.want, Attributes: here}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	}
	assert.Equal(t, []string{"checkpoints of journal bank/kyc_10y cannot be made: permission denied", ""}, h.causes())
}
