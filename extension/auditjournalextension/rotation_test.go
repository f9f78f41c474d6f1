// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// rotateFile puts a new key in front of a key file, in one step, and trusts it.
func rotateFile(t testing.TB, path string, registry *journal.Registry) (id string) {
	t.Helper()
	former, err := os.ReadFile(path)
	require.NoError(t, err)
	pem, key, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.NoError(t, registry.Add(key))
	replace(t, path, append(pem, former...))
	return key.ID
}

func replace(t testing.TB, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".next", text, 0o600))
	require.NoError(t, os.Rename(path+".next", path))
}

// signedBy returns the key of the last entry of a journal, and how many bridges it has.
func signedBy(t testing.TB, directory string) (last string, bridges int) {
	t.Helper()
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	for line, err := range sources[0].Lines() {
		require.NoError(t, err)
		if line.Torn {
			break // of a group that is being written
		}
		e, err := journal.ParseLine(line.Bytes)
		require.NoError(t, err)
		last = e.Integrity.Signature.KeyID
		if bytes.Contains(line.Bytes, []byte(record.EventKeyAccepted)) {
			bridges++
		}
	}
	return last, bridges
}

func TestARunningCollectorTakesANewKeyAndNoAppendFails(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j := newExtension(t, cfg, tel)
	j.keyPoll = 5 * time.Millisecond
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	directory := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)

	var next atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := j.Append(ctx, []carrier.Item{read(t, int(next.Add(1)), nil)})
				assert.NoError(t, err)
			}
		})
	}
	const rotations = 3
	for range rotations {
		id := rotateFile(t, cfg.SigningKey.File, registry)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			last, _ := signedBy(t, directory)
			assert.Equal(c, id, last)
		}, 20*time.Second, 5*time.Millisecond)
	}
	close(stop)
	load.Wait()
	require.NoError(t, j.Shutdown(ctx))
	verify(t, directory, registry)
	_, bridges := signedBy(t, directory)
	assert.Equal(t, rotations, bridges)
	metadatatest.AssertEqualExtensionAuditJournalKeyRotations(t, tel,
		[]metricdata.DataPoint[int64]{{Value: rotations, Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))}},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func TestACollectorThatWasStoppedBridgesAtItsStart(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	directory := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)
	run := func() {
		t.Helper()
		j := newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, j.Shutdown(t.Context()))
	}
	run()
	rotateFile(t, cfg.SigningKey.File, registry)
	newest := rotateFile(t, cfg.SigningKey.File, registry) // twice while it was stopped
	run()
	last, bridges := signedBy(t, directory)
	assert.Equal(t, newest, last)
	assert.Equal(t, 1, bridges)
	verify(t, directory, registry)
	run()
	_, bridges = signedBy(t, directory)
	assert.Equal(t, 1, bridges, "a bridge is built once")
}

func TestAKeyThatNobodyHandsOverToDoesNotStart(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, j.Shutdown(t.Context()))

	former := cfg.SigningKey.File
	path, other := newKey(t)
	cfg.SigningKey.File = path
	j = newExtension(t, cfg, nil)
	require.ErrorContains(t, j.Start(t.Context(), componenttest.NewNopHost()), "give it as an outgoing key beside the other")
	require.NoError(t, j.Shutdown(t.Context()))

	cfg.OutgoingKeys = []SigningKeyConfig{{File: former}}
	start(t, newExtension(t, cfg, nil), componenttest.NewNopHost())
	require.NoError(t, registry.Add(other.Keys()[0]))
	verify(t, journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory), registry)
}

func TestAKeyFileThatCannotBeUsedLeavesTheKeyAsItIs(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	j := newExtension(t, cfg, tel)
	j.keyPoll = time.Millisecond
	core, logs := observer.New(zap.ErrorLevel)
	j.logger = zap.New(core)
	h := &host{}
	start(t, j, h)
	good, err := os.ReadFile(cfg.SigningKey.File)
	require.NoError(t, err)
	for i, bad := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n", "no key"} {
		replace(t, cfg.SigningKey.File, []byte(bad))
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NotZero(c, logs.Len()) }, 10*time.Second, time.Millisecond)
		entry := logs.TakeAll()[0]
		assert.Equal(t, "Signing key cannot be changed; the journals stay with the key that they have", entry.Message)
		_, err = j.Append(ctx, []carrier.Item{read(t, i, nil)})
		require.NoError(t, err)
		replace(t, cfg.SigningKey.File, good)
		waitFollowed(t, j, cfg.SigningKey.File, registry)
		logs.TakeAll()
	}
	_, err = tel.GetMetric("otelcol_extension_audit_journal_key_failures")
	require.NoError(t, err)
	assert.Contains(t, h.statuses(), componentstatus.StatusRecoverableError)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		statuses := h.statuses()
		assert.Equal(c, componentstatus.StatusOK, statuses[len(statuses)-1])
	}, 10*time.Second, time.Millisecond)
	assert.Contains(t, h.causes()[0], "signing key cannot be changed: ")
}

// waitFollowed rotates once, which shows that the watch has seen the file anew.
func waitFollowed(t *testing.T, j *journals, path string, registry *journal.Registry) {
	t.Helper()
	id := rotateFile(t, path, registry)
	directory := journalName{"bank", "kyc_10y", reads}.directory(j.config.Directory)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		last, _ := signedBy(t, directory)
		assert.Equal(c, id, last)
	}, 10*time.Second, time.Millisecond)
}

// A journal whose disk is full takes the new key once it can be written again.
func TestAJournalInTroubleTakesTheNewKeyLater(t *testing.T) {
	cfg, registry := configFor(t, "/journal")
	cfg.Scope.Routes = nil
	disk := crashfs.New(1)
	j := newExtension(t, cfg, nil)
	j.fs, j.keyPoll = disk, 5*time.Millisecond
	core, logs := observer.New(zap.InfoLevel)
	j.logger = zap.New(core)
	start(t, j, componenttest.NewNopHost())
	disk.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpSync || op.Kind == crashfs.OpWrite {
			return crashfs.Fault{Err: syscall.ENOSPC}
		}
		return crashfs.Fault{}
	})
	rotateFile(t, cfg.SigningKey.File, registry)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.NotZero(c, logs.FilterMessageSnippet("Signing key cannot be changed").Len())
	}, 10*time.Second, 5*time.Millisecond)
	disk.SetFaults(nil)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, 1, logs.FilterMessage("Signing key changed").Len())
	}, 20*time.Second, 10*time.Millisecond)
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)
}

func TestCheckpointsAreSignedByTheNewKey(t *testing.T) {
	cfg, registry, offsite := checkpointedConfig(t)
	j := newExtension(t, cfg, nil)
	j.keyPoll = 5 * time.Millisecond
	core, logs := observer.New(zap.InfoLevel)
	j.logger = zap.New(core)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	id := rotateFile(t, cfg.SigningKey.File, registry)
	directory := journalName{"bank", "kyc_10y", reads}.directory(cfg.Directory)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, 1, logs.FilterMessage("Signing key changed").Len())
	}, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, j.Shutdown(t.Context()))
	key, err := latest(t, offsite).Signer(registry)
	require.NoError(t, err)
	assert.Equal(t, id, key.ID)
	verify(t, directory, registry)
}

func TestAKeyFromTheEnvironmentSigns(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	text, err := os.ReadFile(cfg.SigningKey.File)
	require.NoError(t, err)
	t.Setenv("READTRAIL_TEST_KEY", string(text))
	cfg.SigningKey = SigningKeyConfig{Env: "READTRAIL_TEST_KEY"}
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, j.Shutdown(t.Context()))
	verify(t, filepath.Join(cfg.Directory, "bank", "kyc_10y", reads), registry)

	for value, want := range map[string]string{
		"":                       "environment variable READTRAIL_TEST_KEY is not set: it must hold the PKCS#8 PEM of the key",
		"secret that is not one": "environment variable READTRAIL_TEST_KEY: key is not a PKCS#8 PEM (PRIVATE KEY)",
	} {
		t.Setenv("READTRAIL_TEST_KEY", value)
		j := newExtension(t, cfg, nil)
		err := j.Start(t.Context(), componenttest.NewNopHost())
		require.EqualError(t, err, "extensions::audit_journal::signing_key::env: "+want)
		require.NoError(t, j.Shutdown(t.Context()))
	}
}
