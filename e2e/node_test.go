// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// judgment is what both verifiers print of a target.
type judgment struct {
	ExitCode int             `json:"exit_code"`
	Journals []journalReport `json:"journals"`
}

type journalReport struct {
	Path      string    `json:"path"`
	JournalID string    `json:"journal_id"`
	ExitCode  int       `json:"exit_code"`
	Findings  []finding `json:"findings"`
}

type finding struct {
	Code     string `json:"code"`
	Class    string `json:"class"`
	Sequence uint64 `json:"sequence"`
}

// sorted has the findings in an order of their own: the format leaves open in which
// those of one entry are named.
func (j judgment) sorted() judgment {
	for _, r := range j.Journals {
		slices.SortFunc(r.Findings, func(a, b finding) int {
			if a.Sequence != b.Sequence {
				return int(a.Sequence) - int(b.Sequence)
			}
			return strings.Compare(a.Code+a.Class, b.Code+b.Class)
		})
	}
	slices.SortFunc(j.Journals, func(a, b journalReport) int { return strings.Compare(a.Path, b.Path) })
	return j
}

// judgedByNode runs e2e/verifier, which shares no code with us, with the arguments
// that `readtrail verify` has too.
func judgedByNode(t *testing.T, args ...string) judgment {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; the check by another language was not performed")
	}
	if _, err := os.Stat(filepath.Join("verifier", "node_modules")); err != nil {
		t.Skip("the packages of e2e/verifier are not installed (make e2e installs them); the check by another language was not performed")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join("verifier", "verify.mjs")}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	require.Empty(t, stderr.String())
	j := judgmentIn(t, stdout.Bytes())
	require.Equal(t, cmd.ProcessState.ExitCode(), j.ExitCode)
	return j
}

func judgedByUs(t *testing.T, args ...string) judgment {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), cliBin, append([]string{"verify", "--json"}, args...)...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return judgmentIn(t, out)
}

func judgmentIn(t *testing.T, text []byte) judgment {
	t.Helper()
	var j judgment
	require.NoError(t, json.Unmarshal(text, &j), string(text))
	return j.sorted()
}

// TestAVerifierWrittenFromTheDocumentAgreesOnAllVectors holds docs/format.md to what
// it promises: that it is enough to write a verifier in another language.
func TestAVerifierWrittenFromTheDocumentAgreesOnAllVectors(t *testing.T) {
	vectors := filepath.Join(root, "testdata", "vectors")
	registry := filepath.Join(vectors, "keys.json")
	for _, target := range []string{filepath.Join(vectors, "valid"), filepath.Join(vectors, "broken")} {
		ours := judgedByUs(t, "--keys", registry, target)
		require.Equal(t, ours, judgedByNode(t, "--keys", registry, target))
		for _, j := range ours.Journals {
			broken := filepath.Base(target) == "broken"
			require.Equal(t, broken, j.ExitCode == 1, j.Path)
		}
	}
	outside, err := os.ReadDir(filepath.Join(vectors, "outside"))
	require.NoError(t, err)
	for _, dir := range outside {
		t.Run(dir.Name(), func(t *testing.T) {
			t.Parallel()
			base := filepath.Join(vectors, "outside", dir.Name())
			args := []string{"--keys", registry, filepath.Join(base, "journal")}
			for flag, name := range map[string]string{"--policy": "policy.json", "--checkpoints": "checkpoints"} {
				if _, err := os.Stat(filepath.Join(base, name)); err == nil {
					args = append(args, flag, filepath.Join(base, name))
				}
			}
			require.Equal(t, judgedByUs(t, args...), judgedByNode(t, args...))
		})
	}
}

// TestAVerifierWrittenFromTheDocumentAgreesOnDamage damages the good vector in every
// line: what stands behind a broken line is where two verifiers can differ.
func TestAVerifierWrittenFromTheDocumentAgreesOnDamage(t *testing.T) {
	vectors := filepath.Join(root, "testdata", "vectors")
	data, err := os.ReadFile(filepath.Join(vectors, "valid", "00000000000000000001.events"))
	require.NoError(t, err)
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	damaged := t.TempDir()
	store := func(name string, i int, lines [][]byte) {
		dir := filepath.Join(damaged, fmt.Sprintf("%s-%d", name, i))
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000001.events"), bytes.Join(lines, nil), 0o600))
	}
	for i, line := range lines {
		store("dropped", i, slices.Delete(slices.Clone(lines), i, i+1))
		store("twice", i, slices.Insert(slices.Clone(lines), i, line))
		store("later", i, append(slices.Delete(slices.Clone(lines), i, i+1), line))
		for _, at := range []int{1, 100, len(line) / 3, len(line) / 2, len(line) - 30, len(line) - 1} {
			changed := slices.Clone(lines)
			changed[i] = bytes.Clone(line)
			changed[i][at] ^= 1
			store(fmt.Sprintf("changed-at-%d", at), i, changed)
		}
		store("torn", i, append(slices.Clone(lines[:i]), line[:len(line)/2]))
	}
	args := []string{"--keys", filepath.Join(vectors, "keys.json"), "--checkpoints", filepath.Join(vectors, "outside", "valid", "checkpoints"), damaged}
	ours := judgedByUs(t, args...)
	require.Len(t, ours.Journals, 10*len(lines))
	require.Equal(t, ours, judgedByNode(t, args...))
}

// requireTheSameFromNode has the other verifier judge what a witness and a time stamp
// authority attested.
func (a *attested) requireTheSameFromNode(t *testing.T, w *witness, roots string) {
	t.Helper()
	text, err := os.ReadFile(roots)
	require.NoError(t, err)
	policy := map[string]any{"witnesses": []string{w.verifierKey}, "quorum": 1, "demand": []string{"tail", "time"}}
	var certificates []string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		certificates = append(certificates, string(pem.EncodeToMemory(block)))
	}
	stamps := map[string]any{"timestamp_roots": certificates, "demand": []string{"tail", "time"}}
	for name, demanded := range map[string]any{"witness.json": policy, "stamps.json": stamps} {
		data, err := json.Marshal(demanded)
		require.NoError(t, err)
		path := filepath.Join(a.base, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		args := []string{"--keys", a.registry, "--policy", path, "--checkpoints", a.offsite, a.journal}
		ours := judgedByUs(t, args...)
		require.Zero(t, ours.ExitCode, "%+v", ours)
		require.Equal(t, ours, judgedByNode(t, args...))
	}
}

// TestAVerifierWrittenFromTheDocumentVerifiesWhatTheCollectorWrites runs it over a
// journal of several segments.
func TestAVerifierWrittenFromTheDocumentVerifiesWhatTheCollectorWrites(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, corpusFiles(t))
	require.NoError(t, c.Stop())

	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(t, err)
	require.Greater(t, len(segments), 1, "the journal rotated")
	slices.Sort(segments)
	args := []string{"--keys", h.registry, h.journal}
	theirs := judgedByNode(t, args...)
	require.Zero(t, theirs.ExitCode)
	require.Equal(t, judgedByUs(t, args...), theirs)

	// It does find a change, so that its silence means something.
	data, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(segments[0], data, 0o600))
	theirs = judgedByNode(t, args...)
	require.Equal(t, 1, theirs.ExitCode)
	require.Equal(t, judgedByUs(t, args...), theirs)
}
