// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a directory with one open journal whose segments hold one group each.
type house struct {
	dir     string
	ledger  *ledger.Ledger
	options ledger.Options
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	pem, _, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	key := filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(key, pem, 0o600))
	signer, err := journal.NewFileSigner(key)
	require.NoError(t, err)
	h := &house{dir: dir, options: ledger.Options{
		Dir: filepath.Join(dir, "bank", "kyc", "reads"), Signer: signer, CollectorID: "c", MaxSegmentBytes: 1,
		Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
	}}
	h.ledger, err = ledger.Open(t.Context(), h.options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.ledger.Close(context.Background()) })
	return h
}

func (h *house) serve(t *testing.T) *control.Client {
	t.Helper()
	server, err := control.Start(h.dir, control.Journals{Ledger: func(id string) *ledger.Ledger {
		if id == h.ledger.JournalID() {
			return h.ledger
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	client, err := control.NewClient(h.dir)
	require.NoError(t, err)
	return client
}

func (h *house) hold(id string) control.HoldRequest {
	return control.HoldRequest{JournalID: h.ledger.JournalID(), Hold: record.Hold{HoldID: id}}
}

func requireCode(t *testing.T, want control.Code, err error) {
	t.Helper()
	var failure *control.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, want, failure.Code, failure.Message)
}

func TestHoldsAreSetAndLiftedBesideARunningWriter(t *testing.T) {
	h := newHouse(t)
	c := h.serve(t)
	receipt, err := c.SetHold(t.Context(), h.hold("case-7"))
	require.NoError(t, err)
	require.Equal(t, uint64(2), receipt.Sequence)
	standing, err := c.Standing(t.Context(), control.StandingRequest{JournalID: h.ledger.JournalID()})
	require.NoError(t, err)
	require.Equal(t, []record.Hold{{HoldID: "case-7"}}, standing.Holds)
	_, err = c.SetHold(t.Context(), h.hold("case-7"))
	requireCode(t, control.CodeRefused, err)
	_, err = c.Prune(t.Context(), control.PruneRequest{JournalID: h.ledger.JournalID(), FirstSequence: 2})
	requireCode(t, control.CodeHeld, err)
	_, err = c.LiftHold(t.Context(), h.hold("case-7"))
	require.NoError(t, err)
	_, err = c.LiftHold(t.Context(), h.hold("case-7"))
	requireCode(t, control.CodeRefused, err)
	_, err = c.SetHold(t.Context(), h.hold("no\nid"))
	requireCode(t, control.CodeRequest, err)
	require.NotContains(t, err.Error(), "no\nid")
	_, err = c.SetHold(t.Context(), control.HoldRequest{JournalID: "jrn_other", Hold: record.Hold{HoldID: "x"}})
	requireCode(t, control.CodeJournal, err)
	_, err = c.Prune(t.Context(), control.PruneRequest{JournalID: h.ledger.JournalID(), FirstSequence: 2, RequireArchived: true})
	requireCode(t, control.CodeRefused, err)
	_, err = c.Prune(t.Context(), control.PruneRequest{JournalID: h.ledger.JournalID(), FirstSequence: 2, Checkpoint: "no note"})
	requireCode(t, control.CodeRequest, err)
}

func TestOnlyTheOwnerCanConnectAndNothingElseIsLeftBeside(t *testing.T) {
	h := newHouse(t)
	h.serve(t)
	info, err := os.Lstat(filepath.Join(h.dir, control.SocketName))
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	left, err := filepath.Glob(filepath.Join(h.dir, ".control*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAStaleSocketIsReplacedAndALiveOneIsNot(t *testing.T) {
	h := newHouse(t)
	path := filepath.Join(h.dir, control.SocketName)
	_, err := control.NewClient(h.dir)
	require.ErrorIs(t, err, control.ErrNoCollector)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	stale.SetUnlinkOnClose(false)
	require.NoError(t, stale.Close())
	_, err = control.NewClient(h.dir)
	require.ErrorIs(t, err, control.ErrNoCollector)
	client := h.serve(t)
	_, err = control.Start(h.dir, control.Journals{})
	require.ErrorContains(t, err, "another process listens there")
	_, err = client.SetHold(t.Context(), h.hold("still-served"))
	require.NoError(t, err)
}

func TestALinkOrAFileInPlaceOfTheSocketIsNeverFollowedOrReplaced(t *testing.T) {
	elsewhere := newHouse(t)
	elsewhere.serve(t)
	for name, put := range map[string]func(string) error{
		"link to a socket": func(path string) error {
			return os.Symlink(filepath.Join(elsewhere.dir, control.SocketName), path)
		},
		"link to nothing": func(path string) error { return os.Symlink("nowhere", path) },
		"file":            func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"directory":       func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, control.SocketName)
			require.NoError(t, put(path))
			before, err := os.Lstat(path)
			require.NoError(t, err)
			_, err = control.NewClient(dir)
			require.ErrorContains(t, err, "is not a socket")
			_, err = control.Start(dir, control.Journals{})
			require.ErrorContains(t, err, "is not a socket")
			after, err := os.Lstat(path)
			require.NoError(t, err)
			require.True(t, os.SameFile(before, after))
		})
	}
}

func TestTheSocketOfADeepDirectoryCanBeUsed(t *testing.T) {
	h := newHouse(t)
	h.dir = filepath.Join(h.dir, strings.Repeat("d", 120))
	require.NoError(t, os.Mkdir(h.dir, 0o700))
	c := h.serve(t)
	_, err := c.SetHold(t.Context(), h.hold("case-7"))
	require.NoError(t, err)
}

func TestTheSocketIsGoneAfterShutdown(t *testing.T) {
	h := newHouse(t)
	server, err := control.Start(h.dir, control.Journals{})
	require.NoError(t, err)
	require.NoError(t, server.Shutdown(t.Context()))
	_, err = os.Lstat(filepath.Join(h.dir, control.SocketName))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// raw posts a body as it is.
func raw(t *testing.T, h *house, path string, body io.Reader) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", filepath.Join(h.dir, control.SocketName))
	}}}
	answer, err := client.Post("http://control"+path, "application/json", body)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestARequestThatIsTooLargeOrNotUnderstoodIsRefusedWithoutItsContent(t *testing.T) {
	h := newHouse(t)
	h.serve(t)
	for name, body := range map[string]string{
		"nothing":        "",
		"no JSON":        "secret",
		"no object":      `["secret"]`,
		"unknown member": `{"journal_id":"x","secret":1}`,
		"duplicate":      `{"journal_id":"secret","journal_id":"x"}`,
		"two":            `{"journal_id":"secret"}{}`,
		"too large":      `{"journal_id":"` + strings.Repeat("secret", 1<<16) + `"}`,
	} {
		for _, path := range []string{"/v1/holds/set", "/v1/holds/lift", "/v1/prune"} {
			status, answer := raw(t, h, path, bytes.NewReader([]byte(body)))
			require.Equal(t, http.StatusBadRequest, status, name)
			require.Contains(t, answer, `"code":"bad_request"`)
			require.NotContains(t, answer, "secret")
		}
	}
	status, _ := raw(t, h, "/v1/other", strings.NewReader("{}"))
	require.Equal(t, http.StatusNotFound, status)
}
