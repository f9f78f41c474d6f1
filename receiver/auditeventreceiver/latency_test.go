// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/readtrail/readtrail/extension/auditjournalextension"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/headroom"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver"
	"github.com/readtrail/readtrail/record"
)

// The load of the issue: so many clients, each with one request at a time.
const (
	latencyClients  = 64
	latencyRequests = 20 // of each client in a turn
	stretchRequests = 4  // of each client before the other server has its stretch
)

// BenchmarkLatency has 64 clients plan actions through the receiver, the extension and
// a journal on disk, and in turn through the least that any such service has to do: a
// bare HTTP handler that hashes and signs each body, and appends and syncs those that
// wait as one group. p99/bare is the ratio of the 99th percentiles of a turn, each the
// median over all turns, so that a turn in which the disk stood still decides nothing;
// p99-of-all/bare has all turns together. ms-p99 and ms-p50 are ours. Both are given the
// same load:
//
//   - paced: every client has a request every 256 ms, 250 a second together, and what one
//     waits because the one before is not answered counts (at most 1.5);
//   - saturated: every client sends as soon as it has its answer. Then the ratio is that
//     of the processor time of a whole request, since both ends share the machine, and
//     the handler that does less is given more to do.
func BenchmarkLatency(b *testing.B) {
	defer headroom.Keep(headroom.Default)() // as the distribution does
	benchLatencies(b, func(b *testing.B, signatures auditjournalextension.Signatures) (ours, bare string) {
		return newCollector(b, signatures), newBareHandler(b)
	})
}

// benchLatencies compares what start starts, by signatures and load.
func benchLatencies(b *testing.B, start func(*testing.B, auditjournalextension.Signatures) (ours, bare string)) {
	for _, signatures := range []auditjournalextension.Signatures{auditjournalextension.SignaturesEntry, auditjournalextension.SignaturesGroup} {
		with := func(pace time.Duration) func(*testing.B) {
			return func(b *testing.B) {
				ours, bare := start(b, signatures)
				benchLatency(b, ours, bare, pace)
			}
		}
		b.Run(string(signatures)+"/paced", with(4*latencyClients*time.Millisecond))
		b.Run(string(signatures)+"/saturated", with(0))
	}
}

// benchLatency gives both the same load in turn. With a pace they change every second, so
// that the disk, which holds up everything now and then, does so to both. They do not
// change more often, since the first request that a server gets after a pause finds its
// code and memory in no cache, and is to be less than one in a hundred.
func benchLatency(b *testing.B, ours, bare string, pace time.Duration) {
	parts := 1
	if pace > 0 {
		parts = latencyRequests / stretchRequests
	}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: latencyClients, DisableCompression: true,
		IdleConnTimeout: 20 * time.Second, // before the server's, which may close one as a request leaves
	}}
	defer client.CloseIdleConnections()
	next := 0
	bodies := func() [][][]byte {
		all := make([][][]byte, latencyClients)
		for i := range all {
			for range latencyRequests {
				all[i] = append(all[i], planned(fmt.Sprintf("act_%d", next)))
				next++
			}
		}
		return all
	}
	turn(b, client, ours, bodies(), pace) // connections are made and memory is taken
	turn(b, client, bare, bodies(), pace)
	var oursTook, bareTook percentiles
	b.ResetTimer()
	for b.Loop() {
		own, other := bodies(), bodies()
		var ofOurs, ofBare []time.Duration
		for part := range parts {
			runtime.GC()
			of := func(bodies [][][]byte) [][][]byte { return partOf(bodies, part, parts) }
			if part%2 == 0 { // neither is always first
				ofOurs = append(ofOurs, turn(b, client, ours, of(own), pace)...)
				ofBare = append(ofBare, turn(b, client, bare, of(other), pace)...)
			} else {
				ofBare = append(ofBare, turn(b, client, bare, of(other), pace)...)
				ofOurs = append(ofOurs, turn(b, client, ours, of(own), pace)...)
			}
		}
		oursTook.add(ofOurs)
		bareTook.add(ofBare)
	}
	b.ReportMetric(middle(oursTook.p99)/middle(bareTook.p99), "p99/bare")
	b.ReportMetric(middle(oursTook.p50)/middle(bareTook.p50), "p50/bare")
	b.ReportMetric(middle(oursTook.p99), "ms-p99")
	b.ReportMetric(middle(oursTook.p50), "ms-p50")
	b.ReportMetric(at(oursTook.all, 99)/at(bareTook.all, 99), "p99-of-all/bare")
	b.ReportMetric(0, "ns/op")
}

// percentiles are those of each turn, in milliseconds.
type percentiles struct {
	p50, p99 []float64
	all      []time.Duration
}

func (p *percentiles) add(took []time.Duration) {
	p.p50, p.p99 = append(p.p50, at(took, 50)), append(p.p99, at(took, 99))
	p.all = append(p.all, took...)
}

// at returns a percentile in milliseconds.
func at(took []time.Duration, hundredth int) float64 {
	slices.Sort(took)
	return took[len(took)*hundredth/100].Seconds() * 1000
}

// middle returns the median.
func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// partOf returns the requests of each client in one of so many parts of a turn.
func partOf(bodies [][][]byte, part, parts int) [][][]byte {
	requests := latencyRequests / parts
	of := make([][][]byte, len(bodies))
	for i := range bodies {
		of[i] = bodies[i][part*requests:][:requests]
	}
	return of
}

// turn sends all bodies, each client its own one after the other, and returns how long
// each answer took: from when its time came, if there is a pace.
func turn(b *testing.B, client *http.Client, url string, bodies [][][]byte, pace time.Duration) []time.Duration {
	took := make([][]time.Duration, len(bodies))
	first := time.Now()
	var wg sync.WaitGroup
	for i := range bodies {
		wg.Go(func() {
			for n, body := range bodies[i] {
				begun := time.Now()
				if pace > 0 {
					begun = first.Add(time.Duration(n)*pace + time.Duration(i)*pace/latencyClients)
					time.Sleep(time.Until(begun))
				}
				res, err := client.Post(url, "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				_, err = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				took[i] = append(took[i], time.Since(begun))
				if err != nil || res.StatusCode != http.StatusOK {
					b.Error(res.Status, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...)
}

// planned is an action of the size that executors write.
func planned(id string) []byte {
	body, _ := json.Marshal(map[string]any{"schema_version": "1.0.0", "action_record": map[string]any{
		"action_id": id, "state": "planned", "edge_type": "external_action", "occurred_at": "2026-11-30T09:12:03.418000000Z",
		"correlation": map[string]string{"execution_id": "run_1", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"},
		"actor":       map[string]string{"kind": "agent_process", "identity": "executor-eu"},
		"requested": map[string]any{
			"tool_id": "publish_release", "arguments_digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "arguments_canonicalization": "jcs", "arguments_size": 412,
		},
		"action": map[string]any{
			"channel": "http", "host": "deploy.internal.example", "port": 443, "protocol": "https", "method": "POST", "path_template": "/v1/releases/{id}",
			"credential_ref": "ops-deploy", "header_names": []string{"authorization", "content-type"}, "redaction": "none",
		},
		"idempotency_token": record.IdempotencyToken(id),
	}})
	return body
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// newCollector runs extension and receiver with a journal on disk and returns where
// records are sent.
func newCollector(b testing.TB, signatures auditjournalextension.Signatures) (url string) {
	dir := b.TempDir()
	pem, _, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(b, err)
	key := filepath.Join(dir, "key.pem")
	require.NoError(b, os.WriteFile(key, pem, 0o600))
	extensions := auditjournalextension.NewFactory()
	cfg := extensions.CreateDefaultConfig().(*auditjournalextension.Config)
	cfg.Directory, cfg.SigningKey.File, cfg.CollectorID = filepath.Join(dir, "journal"), key, "bench"
	cfg.Actions, cfg.Signatures = true, signatures
	ext, err := extensions.Create(b.Context(), extensiontest.NewNopSettings(extensions.Type()), cfg)
	require.NoError(b, err)
	h := host{component.NewID(extensions.Type()): ext}
	require.NoError(b, ext.Start(b.Context(), h))

	receivers := auditeventreceiver.NewFactory()
	address := freeAddress(b)
	receiverConfig := receivers.CreateDefaultConfig().(*auditeventreceiver.Config)
	receiverConfig.HTTP.NetAddr.Endpoint = address
	r, err := receivers.CreateLogs(b.Context(), receivertest.NewNopSettings(receivers.Type()), receiverConfig, consumertest.NewNop())
	require.NoError(b, err)
	require.NoError(b, r.Start(b.Context(), h))
	ctx := context.WithoutCancel(b.Context())
	b.Cleanup(func() {
		require.NoError(b, r.Shutdown(ctx))
		require.NoError(b, ext.Shutdown(ctx))
	})
	return "http://" + address + "/v1/records"
}

func freeAddress(b testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	return l.Addr().String()
}

// bareHandler signs each body and has it on disk before it answers.
type bareHandler struct {
	key    ed25519.PrivateKey
	file   durable.File
	offset int64
	queue  chan *bareEntry
}

type bareEntry struct {
	line []byte
	done chan error
}

func newBareHandler(b testing.TB) (url string) {
	f, err := durable.OS{}.Create(filepath.Join(b.TempDir(), "bare"))
	require.NoError(b, err)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(b, err)
	h := &bareHandler{key: key, file: f, queue: make(chan *bareEntry, 4*latencyClients)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) })
	wg.Go(h.commit)
	b.Cleanup(func() {
		_ = server.Close()
		close(h.queue)
		wg.Wait()
		_ = f.Close()
	})
	return "http://" + l.Addr().String()
}

func (h *bareHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	hash := sha256.Sum256(body)
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(h.key, hash[:]))
	e := &bareEntry{line: append(append(body, signature...), '\n'), done: make(chan error, 1)}
	h.queue <- e
	if err := <-e.done; err != nil {
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"record_hash":"sha256:%s","signature":%q}`, hex.EncodeToString(hash[:]), signature)
}

// commit writes and syncs what waits as one group, as long as there is a queue.
func (h *bareHandler) commit() {
	for e := range h.queue {
		group := []*bareEntry{e}
		for more := true; more; {
			select {
			case e, open := <-h.queue:
				if more = open; open {
					group = append(group, e)
				}
			default:
				more = false
			}
		}
		var text []byte
		for _, e := range group {
			text = append(text, e.line...)
		}
		_, err := h.file.WriteAt(text, h.offset)
		if err == nil {
			err = h.file.Sync()
		}
		h.offset += int64(len(text))
		for _, e := range group {
			e.done <- err
		}
	}
}
