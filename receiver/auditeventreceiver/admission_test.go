// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

func newTestAdmission(t testing.TB, change func(*Config)) *admission {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	change(cfg)
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	return newAdmission(cfg, instruments{telemetry})
}

func TestABodyIsCountedAsItComes(t *testing.T) {
	a := newTestAdmission(t, func(c *Config) { c.HTTP.MaxRequestBodySize, c.Limits.BytesInFlight = 20_000, 64_000 })
	for _, size := range []int{0, 1, firstBytes - 1, firstBytes, firstBytes + 1, 2 * firstBytes, 19_999, 20_000} {
		text := strings.Repeat("x", size)
		for _, reader := range []io.Reader{strings.NewReader(text), iotest.DataErrReader(strings.NewReader(text)), iotest.OneByteReader(strings.NewReader(text))} {
			body, release, p := a.read(reader, -1)
			require.Nil(t, p, size)
			require.Equal(t, text, string(body))
			require.GreaterOrEqual(t, a.bytesTaken.Load(), int64(size))
			require.LessOrEqual(t, a.bytesTaken.Load(), int64(max(2*size, firstBytes)))
			release()
			require.Zero(t, a.bytesTaken.Load())
		}
	}
	for _, announced := range []int64{-1, 20_001} {
		_, release, p := a.read(strings.NewReader(strings.Repeat("x", 20_001)), announced)
		require.Equal(t, codeTooLarge, p.Code)
		release()
		require.Zero(t, a.bytesTaken.Load())
	}
}

func TestAnnouncedBytesHoldNothing(t *testing.T) {
	a := newTestAdmission(t, func(c *Config) { c.HTTP.MaxRequestBodySize, c.Limits.BytesInFlight = 20_000, 20_000 })
	silent, speak := io.Pipe()
	held := make(chan func())
	go func() {
		_, release, _ := a.read(silent, 20_000)
		held <- release
	}()
	_, err := speak.Write([]byte("x")) // the read of it has begun
	require.NoError(t, err)
	assert.EqualValues(t, firstBytes, a.bytesTaken.Load())
	require.NoError(t, speak.Close())
	(<-held)()
}

func TestMoreBytesThanAreTakenAreSentAgainLater(t *testing.T) {
	a := newTestAdmission(t, func(c *Config) {
		c.HTTP.MaxRequestBodySize, c.Limits.BytesInFlight, c.Limits.RetryAfter = 20_000, 30_000, 3*time.Second
	})
	_, first, p := a.read(strings.NewReader(strings.Repeat("x", 10_000)), -1)
	require.Nil(t, p)
	_, second, p := a.read(strings.NewReader(strings.Repeat("x", 10_000)), -1)
	require.Equal(t, codeBusy, p.Code)
	require.Equal(t, 3*time.Second, p.retryAfter)
	second()
	first()
	require.Zero(t, a.bytesTaken.Load())
}

func TestLargeBodiesAreWorkedOnTwoAtATime(t *testing.T) {
	a := newTestAdmission(t, func(c *Config) { c.HTTP.MaxRequestBodySize, c.Limits.JournalTimeout = 1000, time.Minute })
	first, p := a.enter(t.Context(), 1000)
	require.Nil(t, p)
	second, p := a.enter(t.Context(), 999)
	require.Nil(t, p)
	small, p := a.enter(t.Context(), 1)
	require.Nil(t, p)
	waited := make(chan func())
	go func() {
		third, _ := a.enter(context.Background(), 1000)
		waited <- third
	}()
	first()
	third := <-waited
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, p = a.enter(gone, 1)
	require.Equal(t, codeBusy, p.Code)
	for _, done := range []func(){second, small, third} {
		done()
	}
	require.Zero(t, a.placesTaken.Load())
}

func TestMoreRequestsThanAreTakenAreSentAgainLater(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) { c.Limits.ConcurrentRequests, c.Limits.RetryAfter = 1, 1500*time.Millisecond })
	entered, leave := make(chan struct{}), make(chan struct{})
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		close(entered)
		<-leave
		return []journal.Receipt{{EventID: "evt_1"}}, nil
	})
	answers := make(chan answer, 1)
	go func() { answers <- r.decide("a") }()
	<-entered
	got := r.decide("b")
	requireProblem(t, got, http.StatusTooManyRequests, "too_many_requests", "")
	assert.Equal(t, "2", got.header.Get("Retry-After"), "seconds, rounded up")
	close(leave)
	assert.Equal(t, http.StatusOK, (<-answers).status)
	r.journal.answers(nil)
	assert.Equal(t, http.StatusOK, r.decide("b").status)
}

func TestACompressedBombIsCutOff(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) { c.HTTP.MaxRequestBodySize = 1 << 20 })
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := io.CopyN(z, zeros{}, 64<<20)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Less(t, bomb.Len(), 1<<18)
	requireProblem(t, r.decide(bomb.String(), "Content-Encoding", "gzip"), http.StatusRequestEntityTooLarge, "too_large", "")
	requireProblem(t, r.decide(bomb.String()[:bomb.Len()/2], "Content-Encoding", "gzip"), http.StatusRequestEntityTooLarge, "too_large", "")
	require.Zero(t, r.receiver.api.admission.bytesTaken.Load())

	var fine bytes.Buffer
	z = gzip.NewWriter(&fine)
	_, err = z.Write([]byte("a"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.Equal(t, http.StatusOK, r.decide(fine.String(), "Content-Encoding", "gzip").status)
	requireProblem(t, r.decide(fine.String()[:fine.Len()-4], "Content-Encoding", "gzip"), http.StatusBadRequest, "malformed", "")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestASlowClientLosesItsConnectionAndNobodyElseWaits(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) {
		c.HTTP.ReadTimeout, c.Limits.ConcurrentRequests = 300*time.Millisecond, 1
	})
	conn, err := net.Dial("tcp", r.receiver.listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /test HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\na", mediaNDJSON)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, r.decide("b").status, "a body that does not come takes no place")
	text, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(text), "HTTP/1.1 408 ")
	assert.Contains(t, string(text), `"code":"request_timeout"`)
}

func TestAJournalThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) { c.Limits.JournalTimeout = time.Second })
	r.journal.answers(func(ctx context.Context, _ record.Scope, _ []*record.Draft) ([]journal.Receipt, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	got := r.decide("a")
	requireProblem(t, got, http.StatusServiceUnavailable, "journal_unavailable", "")
	assert.Equal(t, "1", got.header.Get("Retry-After"))
}
