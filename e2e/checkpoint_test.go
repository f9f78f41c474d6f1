// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
	"github.com/readtrail/readtrail/journal"
)

// attested is a house whose checkpoints go out every three entries.
type attested struct {
	*house
	offsite string
	n       int
}

func newAttested(t *testing.T, env ...string) *attested {
	h := newHouse(t, "examples/checkpoints.yaml")
	a := &attested{house: h, offsite: filepath.Join(h.base, "offsite")}
	require.NoError(t, os.Mkdir(a.offsite, 0o750))
	h.extraEnv = append([]string{
		"READTRAIL_CHECKPOINTS=" + a.offsite, "READTRAIL_CHECKPOINT_ENTRIES=3", "READTRAIL_CHECKPOINT_INTERVAL=2s", "READTRAIL_CHECKPOINT_TIMEOUT=2s",
	}, env...)
	return a
}

// post has the collector acknowledge some spans.
func (a *attested) post(c *rig.Collector, n int) {
	a.t.Helper()
	for range n {
		a.n++
		status, answer, err := c.Post(a.t.Context(), "/v1/traces", toolSpan(fmt.Sprintf("%032x", a.n), fmt.Sprintf("%016x", a.n), fmt.Sprint("call_", a.n), "{}"))
		require.NoError(a.t, err)
		require.Equal(a.t, http.StatusOK, status, answer)
	}
}

// files are the files of one kind in the directory of checkpoints, sorted.
func (a *attested) files(suffix string) []string {
	names, err := filepath.Glob(filepath.Join(a.offsite, "*", "*"+suffix))
	require.NoError(a.t, err)
	slices.Sort(names)
	return names
}

// latest is the largest checkpoint in the directory, nil if there is none.
func (a *attested) latest() (path string, c *journal.SignedCheckpoint) {
	names := a.files(".checkpoint")
	if len(names) == 0 {
		return "", nil
	}
	path = names[len(names)-1]
	c, err := journal.ParseCheckpoint(readAll(a.t, path))
	require.NoError(a.t, err)
	return path, c
}

// gaps are what the journal says of a sink, as "state reason".
func (a *attested) gaps(sink string) []string {
	var out []string
	for _, e := range a.entries() {
		if e.Journal != nil && e.Journal.EventType == "journal.gap" && e.Journal.Detail["sink"] == sink {
			reason, _ := e.Journal.Detail["reason"].(string)
			out = append(out, strings.TrimSpace(fmt.Sprint(e.Journal.Detail["state"], " ", reason)))
		}
	}
	return out
}

// journalDir is the directory of the only journal.
func (a *attested) journalDir() string {
	return filepath.Join(a.journal, "bank_eu", "kyc_10y", "reads")
}

// journalID is the id of the only journal.
func (a *attested) journalID() string {
	entry, err := journal.ParseLine(a.lines()[0])
	require.NoError(a.t, err)
	return entry.Header.JournalID
}

// soon waits for what the collector does by itself.
func (a *attested) soon(condition func() bool, what string) {
	a.t.Helper()
	require.Eventually(a.t, condition, 2*time.Minute, 50*time.Millisecond, what)
}

// introduce tells a witness the key of the journal, as an operator would.
func (a *attested) introduce(w *witness) {
	a.t.Helper()
	code, vkey, stderr := a.cli("checkpoint", "key", a.journalID(), "--keys", a.registry)
	require.Zero(a.t, code, stderr)
	w.trust(strings.TrimSpace(vkey))
}

func TestCheckpointsAreCosignedAndStampedByRealServers(t *testing.T) {
	w := newWitness(t)
	authority, roots := startAuthority(t)
	a := newAttested(t, "READTRAIL_WITNESS="+w.url, "READTRAIL_WITNESS_KEY="+w.verifierKey, "READTRAIL_TSA="+authority, "READTRAIL_TSA_ROOTS="+roots)
	c := a.start()
	a.post(c, 4)
	a.soon(func() bool { return slices.Equal(a.gaps("witness/example"), []string{"open refused"}) }, "the witness does not know the journal yet")
	a.introduce(w)
	a.post(c, 4)
	a.soon(func() bool { return slices.Equal(a.gaps("witness/example"), []string{"open refused", "closed"}) }, "it does now")
	a.soon(func() bool {
		for _, e := range a.entries() {
			if e.Journal != nil && e.Journal.EventType == "journal.heartbeat" {
				return true
			}
		}
		return false
	}, "silence is recorded")
	metrics, err := c.MetricsText(t.Context())
	require.NoError(t, err)
	assert.Contains(t, metrics, `otelcol_extension_audit_journal_checkpoint_sink_size{`)
	require.NoError(t, c.Stop())
	a.requireVerified()
	assert.Empty(t, a.gaps("timestamp/example"))
	assert.Empty(t, a.gaps("directory/offsite"))

	path, last := a.latest()
	require.NotNil(t, last)
	assert.Len(t, a.lines(), int(last.Size), "the last checkpoint covers journal.closed")
	code, shown, stderr := a.cli("checkpoint", "show", path, "--keys", a.registry, "--witness", w.verifierKey, "--roots", roots)
	require.Zero(t, code, shown+stderr)
	assert.Regexp(t, `(?m)^signature: valid `, shown)
	assert.Regexp(t, `(?m)^witness: valid \S+ witness\.example\.com$`, shown)
	assert.Regexp(t, `(?m)^timestamp: valid `, shown)
	a.requireStampedByOpenSSL(path, last, roots)

	code, report, stderr := a.cli("verify", a.journal, "--keys", a.registry, "--checkpoints", a.offsite)
	require.Zero(t, code, report+stderr)
	assert.NotContains(t, report, "tail_unattested")

	proof := filepath.Join(a.base, "3.tlog-proof")
	code, _, stderr = a.cli("proof", "make", a.journalDir(), "3", "--checkpoint", path, "--keys", a.registry, "--out", proof)
	require.Zero(t, code, stderr)
	entry := filepath.Join(a.base, "entry.json")
	require.NoError(t, os.WriteFile(entry, a.lines()[2], 0o600))
	code, shown, stderr = a.cli("proof", "verify", proof, "--entry", entry, "--keys", a.registry, "--witness", w.verifierKey)
	require.Zero(t, code, shown+stderr)
	assert.Contains(t, shown, "inclusion: valid\n")
	first := a.files(".checkpoint")[0]
	consistency := filepath.Join(a.base, "consistency.txt")
	code, _, stderr = a.cli("proof", "consistency", a.journalDir(), first, path, "--keys", a.registry, "--out", consistency)
	require.Zero(t, code, stderr)
	code, shown, stderr = a.cli("proof", "verify", consistency, "--older", first, "--keys", a.registry)
	require.Zero(t, code, shown+stderr)
	assert.Contains(t, shown, "consistency: valid\n")
	t.Run("a verifier in another language says the same", func(t *testing.T) {
		a.requireTheSameFromNode(t, w, roots)
		require.Zero(t, judgedByNode(t, "--keys", a.registry, "--proof", proof, "--entry", entry).ExitCode)
		require.Zero(t, judgedByNode(t, "--keys", a.registry, "--proof", consistency, "--older", first).ExitCode)
	})
}

// requireStampedByOpenSSL has another implementation verify the time stamp.
func (a *attested) requireStampedByOpenSSL(path string, c *journal.SignedCheckpoint, roots string) {
	a.t.Helper()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		return
	}
	text := filepath.Join(a.base, "checkpoint.text")
	require.NoError(a.t, os.WriteFile(text, []byte(c.Text()), 0o600))
	tokens, err := filepath.Glob(strings.TrimSuffix(path, ".checkpoint") + ".*.tsr")
	require.NoError(a.t, err)
	require.Len(a.t, tokens, 1)
	out, err := exec.Command(openssl, "ts", "-verify", "-data", text, "-in", tokens[0], "-CAfile", roots).CombinedOutput()
	require.NoError(a.t, err, string(out))
}

func TestAWitnessTellsThatAJournalWasRolledBackOrForked(t *testing.T) {
	w := newWitness(t)
	a := newAttested(t, "READTRAIL_WITNESS="+w.url, "READTRAIL_WITNESS_KEY="+w.verifierKey, "READTRAIL_TSA_ROOTS="+filepath.Join(root, "e2e", "testdata", "tsa-roots.pem"))
	c := a.start()
	a.post(c, 3)
	a.introduce(w)
	require.NoError(t, c.Stop())
	backup := filepath.Join(a.base, "backup")
	require.NoError(t, os.CopyFS(backup, os.DirFS(a.journal)))
	c = a.start()
	a.post(c, 20)
	require.NoError(t, c.Stop())
	a.requireVerified()

	// The old copy comes back, and only the witness remembers.
	require.NoError(t, os.Rename(a.journal, a.journal+".whole"))
	require.NoError(t, os.CopyFS(a.journal, os.DirFS(backup)))
	require.NoError(t, os.RemoveAll(a.offsite))
	before := a.lines()
	_, err := rig.Start(t.Context(), a.rigConfig())
	require.ErrorContains(t, err, "it was rolled back")
	require.Equal(t, before, a.lines(), "nothing was written")

	// Without the witness it goes on: a fork, which the witness tells once it is back.
	w.stop()
	c = a.start()
	a.post(c, 40)
	w.start()
	a.soon(func() bool {
		a.post(c, 1)
		return slices.Contains(a.gaps("witness/example"), "open conflict") || strings.Contains(metricsOf(t, c), `reason="conflict"`)
	}, "the fork is told")
	require.NoError(t, c.Stop())
	_, err = rig.Start(t.Context(), a.rigConfig())
	require.ErrorContains(t, err, "the witness cosigned other entries")
}

func metricsOf(t *testing.T, c *rig.Collector) string {
	t.Helper()
	text, err := c.MetricsText(t.Context())
	require.NoError(t, err)
	return text
}

func TestAWitnessThatHangsHoldsUpNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // it accepts and never answers
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	a := newAttested(t, "READTRAIL_WITNESS=http://"+l.Addr().String(), "READTRAIL_TSA=http://"+l.Addr().String(),
		"READTRAIL_TSA_ROOTS="+filepath.Join(root, "e2e", "testdata", "tsa-roots.pem"))
	c := a.start()
	a.post(c, 30)
	a.soon(func() bool { return slices.Contains(a.gaps("witness/example"), "open timeout") }, "the journal tells of it")
	a.soon(func() bool {
		_, last := a.latest()
		return last != nil && last.Size > 30
	}, "the directory gets what it should")
	metrics := metricsOf(t, c)
	assert.Regexp(t, `otelcol_extension_audit_journal_checkpoint_sink_degraded\{[^}]*sink="witness/example"[^}]*\} 1`, metrics)
	assert.Regexp(t, `otelcol_extension_audit_journal_checkpoint_failures\{[^}]*reason="timeout"[^}]*sink="timestamp/example"`, metrics)
	status, text, err := c.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, "no answer in")
	require.NoError(t, c.Stop())
	a.requireVerified()
}
