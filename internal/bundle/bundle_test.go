// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

func withAll(o *Options) { o.Selection = Selection{FirstSequence: 2, LastSequence: 10} }

func TestABundleProvesItsEntriesWithoutTheJournal(t *testing.T) {
	h := newHouse(t, 12)
	b := h.make(withAll)
	r := h.verify(b)
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	assert.Equal(t, 0, r.ExitCode())
	for name, check := range map[string]journal.Check{
		"manifest_signature": r.ManifestSignature, "membership": r.Membership, "digests": r.Digests, "merkle_root": r.MerkleRoot, "entries": r.Entries,
		"signature": r.Signature, "schema": r.Schema, "inclusion": r.Inclusion, "checkpoints": r.Checkpoints, "time": r.Time, "witnessed": r.Witnessed,
		"omissions": r.Omissions, "completeness": r.Completeness,
	} {
		if name == "time" {
			// Somebody attested the first checkpoint before the others.
			assert.Equal(t, journal.Valid, check, name)
			continue
		}
		assert.Equal(t, journal.Valid, check, name)
	}
	assert.EqualValues(t, 9, r.EntriesChecked)

	again := h.make(withAll)
	assert.Equal(t, b, again, "the same artifacts make the same bytes")
	for i := range unpack(t, b) {
		if f := unpack(t, b)[i]; f.name == entryName(journalID, 3, entrySuffix) {
			assert.Equal(t, h.lines[2], string(f.text))
		}
	}
}

func TestABundleIsATarThatOthersRead(t *testing.T) {
	b := newHouse(t, 6).make(nil)
	r := tar.NewReader(bytes.NewReader(b))
	var names []string
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, header.Name)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.EqualValues(t, header.Size, len(text))
	}
	var ours []string
	for _, f := range unpack(t, b) {
		ours = append(ours, f.name)
	}
	assert.Equal(t, ours, names)
}

func TestEveryFileThatIsTakenOutIsNamed(t *testing.T) {
	h := newHouse(t, 12)
	files := unpack(t, h.make(func(o *Options) {
		withAll(o)
		o.Omit = func(_ string, sequence uint64) string {
			if sequence == 3 {
				return "withheld"
			}
			return ""
		}
	}))
	require.Zero(t, h.verify(pack(t, files)).ExitCode())
	for i, f := range files {
		without := append(append([]member{}, files[:i]...), files[i+1:]...)
		r := h.verify(pack(t, without))
		require.NotNil(t, r.FirstBad, f.name)
		assert.Equal(t, journal.CodeArtifactMissing, r.FirstBad.Code, f.name)
		assert.Equal(t, f.name, r.FirstBad.Name)
		assert.Equal(t, 1, r.ExitCode())
		assert.EqualValues(t, 1, r.Counts[journal.CodeArtifactMissing], "%s: %+v", f.name, r.Findings)
	}
}

func TestEveryFileThatIsChangedIsNamed(t *testing.T) {
	h := newHouse(t, 12)
	files := unpack(t, h.make(func(o *Options) {
		withAll(o)
		o.Omit = func(_ string, sequence uint64) string {
			if sequence == 3 {
				return "withheld"
			}
			return ""
		}
	}))
	for i, f := range files {
		changed := append([]member{}, files...)
		changed[i].text = bytes.Clone(f.text)
		changed[i].text[len(f.text)/2] ^= 1
		r := h.verify(pack(t, changed))
		require.NotNil(t, r.FirstBad, f.name)
		if f.name == sigName && r.FirstBad.Code == journal.CodeSignatureInvalid {
			assert.Equal(t, manifestName, r.FirstBad.Name) // which of the two was changed nobody can tell
			continue
		}
		assert.Equal(t, f.name, r.FirstBad.Name, "%+v", r.Findings)
		if f.name < indexName {
			assert.Equal(t, journal.CodeArtifactDigestMismatch, r.FirstBad.Code, f.name)
		}
	}
}

func TestWhatIsAddedIsNamed(t *testing.T) {
	h := newHouse(t, 12)
	files := unpack(t, h.make(withAll))
	for _, name := range []string{"artifacts/a", keysName + "2", "artifacts/zzz", "a", "k", "manifest.sign", "z"} {
		var added []member
		for _, f := range files {
			if len(added) == 0 || added[len(added)-1].name < name && name < f.name {
				if name < f.name && (len(added) > 0 || name < files[0].name) {
					added = append(added, member{name, []byte("x")})
				}
			}
			added = append(added, f)
		}
		if len(added) == len(files) {
			added = append(added, member{name, []byte("x")})
		}
		r := h.verify(pack(t, added))
		require.NotNil(t, r.FirstBad, name)
		assert.Equal(t, CodeArtifactUnlisted, r.FirstBad.Code, name)
		assert.Equal(t, name, r.FirstBad.Name)
	}
}
