// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// limits bound what is read of an artifact into memory.
var limits = map[kind]int64{
	kindCheckpoint: journal.MaxCheckpointBytes, kindConsistency: journal.MaxProofBytes, kindToken: journal.MaxTimestampBytes,
	kindEntry: record.MaxEntryBytes + 1, kindOmission: 4 << 10, kindProof: journal.MaxProofBytes, kindUnproven: 4 << 10,
	kindKeys: 1 << 20, kindObject: int64(len(ageHead)), kindSchema: 4 << 20,
}

// take judges an artifact by what its name says it is; f is nil if it is missing or
// is not the one that the index names, which was said already.
func (v *verifier) take(a *Artifact, f *file) error {
	n := parseName(a.Name)
	if n.kind == kindUnknown {
		v.find(journal.CodeUnsupportedSchemaVersion, a.Name, "this version does not know what it is; only its digest was checked")
		return nil
	}
	var text []byte
	if f != nil {
		ok, err := true, error(nil)
		if n.kind == kindObject {
			f.size = min(f.size, limits[n.kind])
		}
		if text, ok, err = f.all(limits[n.kind]); err != nil {
			return err
		}
		if !ok {
			v.find(journal.CodeNotCanonical, a.Name, fmt.Sprintf("it has more than %d bytes", limits[n.kind]))
			f = nil
		}
	}
	if n.journal != "" {
		return v.takeOfJournal(a.Name, n, text, f != nil)
	}
	v.endJournal()
	if f != nil {
		v.takeOther(a.Name, n, text)
	}
	return nil
}

// takeOther judges what belongs to no journal.
func (v *verifier) takeOther(name string, n parsedName, text []byte) {
	switch n.kind {
	case kindKeys:
		// Trust comes from outside only; the extract has to be one.
		if _, err := journal.ParseRegistry(text); err != nil {
			v.find(journal.CodeNotCanonical, name, "not a registry of keys")
		}
	case kindObject:
		if string(text) != ageHead {
			v.find(journal.CodeSchemaInvalid, name, "a copy of content is not encrypted")
		}
	case kindSchema:
		parts := strings.Split(strings.TrimPrefix(name, schemasDir), "/")
		known := schema.Text(record.Kind(strings.ReplaceAll(parts[0], "-", "_")), parts[min(1, len(parts)-1)])
		switch {
		case known == nil:
			v.find(journal.CodeUnsupportedSchemaVersion, name, "this version does not have the schema")
		case !bytes.Equal(known, text):
			v.find(journal.CodeSchemaInvalid, name, "it is not the schema that was published")
		}
	}
}

// takeOfJournal gives an artifact to the check of its journal.
func (v *verifier) takeOfJournal(name string, n parsedName, text []byte, usable bool) error {
	if v.current != nil && v.current.element != n.journal {
		v.endJournal()
	}
	if v.current == nil {
		listed := v.listed[n.journal]
		if listed == nil {
			v.membership.broken = true
			v.find(CodeArtifactUnlisted, name, "the manifest lists no such journal")
			return nil
		}
		v.current = newJournalCheck(v, n.journal, listed)
	}
	v.current.take(name, n, text, usable)
	return nil
}

func (v *verifier) endJournal() {
	if v.current != nil {
		v.current.end()
		v.visited[v.current.listed] = true
		v.current = nil
	}
}

// endJournals ends the check of every journal, also of those without artifacts.
func (v *verifier) endJournals() {
	v.endJournal()
	for i := range v.manifest.Journals {
		if j := &v.manifest.Journals[i]; !v.visited[j] {
			v.current = newJournalCheck(v, "", j)
			v.endJournal()
		}
	}
}
