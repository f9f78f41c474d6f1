// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// TestAnotherValidatorAgreesOnTheExamples asks ajv, of all examples beside the
// schemas and of each valid one without any of its members, and holds our validator
// to its verdicts.
func TestAnotherValidatorAgreesOnTheExamples(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; the check by another validator was not performed")
	}
	if _, err := os.Stat(filepath.Join("verifier", "node_modules")); err != nil {
		t.Skip("the packages of e2e/verifier are not installed (make e2e installs them); the check by another validator was not performed")
	}
	schemas := filepath.Join(root, "schema")
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("verifier", "examples.mjs"), schemas)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var judged map[string]struct {
		Valid   bool
		Code    string
		Without map[string][]string
	}
	require.NoError(t, json.Unmarshal(out, &judged))
	require.Greater(t, len(judged), 100)
	for file, by := range judged {
		directory, name := filepath.Split(file)
		text, err := os.ReadFile(filepath.Join(schemas, file))
		require.NoError(t, err)
		var entry map[string]any
		require.NoError(t, json.Unmarshal(text, &entry))
		kind := kindOf(entry)

		// What no schema can say is a rule of record.Rules.
		valid := filepath.Base(directory) == "valid" || strings.HasPrefix(name, "rule.")
		require.Equal(t, valid, by.Valid, file)
		require.Equal(t, valid, schema.Validate(kind, record.SchemaVersion, text) == nil, file)
		require.Empty(t, by.Code, "the hash and the form of %s", file)

		for pointer, named := range by.Without {
			less := without(t, entry, pointer)
			err := schema.Validate(kind, record.SchemaVersion, less)
			require.Equal(t, named == nil, err == nil, "%s without %s: %v", file, pointer, err)
			if named != nil {
				require.Contains(t, named, err.(*schema.InvalidError).Location, "%s without %s", file, pointer)
			}
		}
	}
}

// kindOf returns the member of an entry that is its body.
func kindOf(entry map[string]any) record.Kind {
	for name := range entry {
		if !slices.Contains([]string{"integrity", "schema_version"}, name) {
			return record.Kind(name)
		}
	}
	return ""
}

// without returns the text of an entry without a member.
func without(t *testing.T, entry map[string]any, pointer string) []byte {
	t.Helper()
	at := any(entry)
	path := strings.Split(pointer, "/")[1:]
	for _, name := range path[:len(path)-1] {
		switch o := at.(type) {
		case map[string]any:
			at = o[name]
		case []any:
			i, err := strconv.Atoi(name)
			require.NoError(t, err)
			at = o[i]
		}
	}
	o, name := at.(map[string]any), path[len(path)-1]
	value, found := o[name]
	require.True(t, found, pointer)
	delete(o, name)
	defer func() { o[name] = value }()
	text, err := json.Marshal(entry)
	require.NoError(t, err)
	return text
}
