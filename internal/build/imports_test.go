// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package build holds the checks on the source tree itself.
package build

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/readtrail/readtrail/"

// imports returns what the non-test code of a package depends on.
func imports(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", module+pkg).Output()
	require.NoError(t, err, pkg)
	return strings.Fields(string(out))
}

// TestAnAuditorLinksTheJournalWithoutACollector holds rule 1 of the house: these
// rooms import nothing of OpenTelemetry. cmd/readtrail does, because lint shows
// what the collector would do and must not be a second implementation of it
// (rule 4); whoever writes an auditor's tool links journal and record.
func TestAnAuditorLinksTheJournalWithoutACollector(t *testing.T) {
	for _, pkg := range []string{
		"internal/assembly", "boundary",
		"internal/action",
		"internal/archive",
		"internal/auditlog",
		"internal/bundle",
		"internal/checkpoint",
		"internal/content",
		"internal/contexts",
		"internal/control",
		"internal/durable",
		"internal/evidence",
		"internal/intake",
		"internal/ledger",
		"internal/lineage",
		"internal/provenance",
		"internal/retention",
		"internal/segment",
		"internal/tiles",
		"journal",
		"record",
		"schema",
	} {
		for _, dep := range imports(t, pkg) {
			assert.False(t, strings.HasPrefix(dep, "go.opentelemetry.io/"), "%s imports %s", pkg, dep)
		}
	}
}

// TestImportsGoDownOnly ranks the rooms; a room imports only lower ones, and
// components never import each other.
func TestImportsGoDownOnly(t *testing.T) {
	rank := map[string]int{
		"internal/cost":                    0,
		"internal/durable":                 0,
		"internal/rig":                     0,
		"internal/sshtest":                 0,
		"record":                           0,
		"boundary":                         1,
		"internal/carrier":                 1,
		"internal/content":                 1,
		"internal/load":                    1,
		"internal/retention":               1,
		"internal/segment":                 1,
		"schema":                           1,
		"internal/contexts":                2,
		"internal/evidence":                2,
		"internal/intake":                  2,
		"internal/ledger/actions":          2,
		"internal/ledger/execution":        2,
		"internal/ledger/repeat":           2,
		"internal/telemetry":               2,
		"internal/upstream":                2,
		"journal":                          2,
		"internal/auditlog/otlp":           3,
		"internal/genai":                   3,
		"internal/hsm":                     3,
		"internal/ledger":                  3,
		"internal/lineage":                 3,
		"internal/provenance":              3,
		"internal/strip":                   3,
		"internal/tiles":                   3,
		"internal/action":                  4,
		"internal/auditlog":                4,
		"internal/assembly":                4,
		"internal/checkpoint":              4,
		"internal/control":                 4,
		"internal/archive":                 5,
		"internal/bundle":                  5,
		"exporter/auditjournalexporter":    6,
		"extension/auditjournalextension":  6,
		"extension/evidencestoreextension": 6,
		"internal/lint":                    6,
		"processor/readrecordprocessor":    6,
		"receiver/auditeventreceiver":      6,
		"cmd/readtrail":                    7,
	}
	for pkg, own := range rank {
		for _, dep := range imports(t, pkg) {
			room, ours := strings.CutPrefix(dep, module)
			if !ours || room == pkg {
				continue
			}
			if strings.HasPrefix(room, pkg+"/") {
				continue // a package's own parts
			}
			room, _, _ = strings.Cut(room, "/internal/") // parts of a component have its rank
			other, known := rank[room]
			if assert.True(t, known, "%s imports %s, which has no rank here", pkg, room) {
				assert.Less(t, other, own, "%s imports %s", pkg, room)
			}
		}
	}
}

// TestEveryFileSaysWhoseItIs demands the two lines of license header.
func TestEveryFileSaysWhoseItIs(t *testing.T) {
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), "_") || d.Name() == ".git" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasPrefix(d.Name(), "generated_") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		assert.True(t, bytes.Contains(data[:min(len(data), 200)], []byte("SPDX-License-Identifier: Apache-2.0")), path)
		return nil
	}))
}
