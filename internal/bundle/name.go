// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/record"
)

// kind says what an artifact is, by its name.
type kind int

const (
	kindUnknown kind = iota
	// artifacts/journals/<journal id>/checkpoints/<size>.checkpoint: a signed note
	// (c2sp.org/tlog-checkpoint) with its cosignatures.
	kindCheckpoint
	// …/checkpoints/<size>.consistency: that the checkpoint of the proofs continues it.
	kindConsistency
	// …/checkpoints/<size>.<authority>.tsr: a TimeStampResp (RFC 3161).
	kindToken
	// …/entries/<sequence>.json: the stored line with its LF.
	kindEntry
	// …/entries/<sequence>.omitted.json or <first>-<last>.omitted.json: an Omission.
	kindOmission
	// …/entries/<sequence>.tlog-proof: the inclusion proof (c2sp.org/tlog-proof).
	kindProof
	// …/entries/<sequence>.unproven.json: an Omission of the proof.
	kindUnproven
	// artifacts/keys.json: the trusted keys as the maker knew them (contract 7).
	kindKeys
	// artifacts/objects/…: a copy of content, encrypted, under its name in the store.
	kindObject
	// artifacts/schemas/<body-with-dashes>/<version>/schema.json.
	kindSchema
)

const (
	journalsDir = artifactsDir + "journals/"
	objectsDir  = artifactsDir + "objects/"
	schemasDir  = artifactsDir + "schemas/"
	keysName    = artifactsDir + "keys.json"

	checkpointSuffix  = ".checkpoint"
	consistencySuffix = ".consistency"
	tokenSuffix       = ".tsr"
	entrySuffix       = ".json"
	omittedSuffix     = ".omitted.json"
	proofSuffix       = ".tlog-proof"
	unprovenSuffix    = ".unproven.json"
)

// parsedName is what a name says. Of a name that artifactName does not write
// kind is kindUnknown.
type parsedName struct {
	kind kind
	// journal is the journal id as a path element.
	journal string
	// first and last are sequences, or the size of a checkpoint.
	first, last uint64
}

func journalDir(journalID string) string { return journalsDir + durable.PathElement(journalID) + "/" }

func entryName(journalID string, sequence uint64, suffix string) string {
	return fmt.Sprintf("%sentries/%020d%s", journalDir(journalID), sequence, suffix)
}

func rangeName(journalID string, first, last uint64) string {
	if first == last {
		return entryName(journalID, first, omittedSuffix)
	}
	return fmt.Sprintf("%sentries/%020d-%020d%s", journalDir(journalID), first, last, omittedSuffix)
}

func checkpointName(journalID string, size uint64, suffix string) string {
	return fmt.Sprintf("%scheckpoints/%020d%s", journalDir(journalID), size, suffix)
}

func schemaName(body record.Kind, version string) string {
	return schemasDir + strings.ReplaceAll(string(body), "_", "-") + "/" + version + "/schema.json"
}

// parseName reads the name of an artifact.
func parseName(name string) parsedName {
	switch {
	case name == keysName:
		return parsedName{kind: kindKeys}
	case strings.HasPrefix(name, objectsDir):
		return parsedName{kind: kindObject}
	case strings.HasPrefix(name, schemasDir):
		return parsedName{kind: kindSchema}
	}
	rest, ok := strings.CutPrefix(name, journalsDir)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 {
		return parsedName{}
	}
	p := parsedName{journal: parts[0]}
	numbers, suffix := parts[2], path.Ext(parts[2])
	if at := strings.IndexByte(numbers, '.'); at >= 0 {
		numbers, suffix = numbers[:at], numbers[at:]
	}
	first, last, isRange := strings.Cut(numbers, "-")
	var okFirst, okLast bool
	p.first, okFirst = parseNumber(first)
	p.last, okLast = p.first, !isRange
	if isRange {
		p.last, okLast = parseNumber(last)
		okLast = okLast && p.first < p.last
	}
	if okFirst && okLast {
		p.kind = kindOf(parts[1], suffix, isRange)
	}
	return p
}

func kindOf(dir, suffix string, isRange bool) kind {
	switch {
	case dir == "entries" && suffix == omittedSuffix:
		return kindOmission
	case isRange:
		return kindUnknown
	case dir == "checkpoints" && suffix == checkpointSuffix:
		return kindCheckpoint
	case dir == "checkpoints" && suffix == consistencySuffix:
		return kindConsistency
	case dir == "checkpoints" && strings.HasSuffix(suffix, tokenSuffix):
		return kindToken
	case dir == "entries" && suffix == entrySuffix:
		return kindEntry
	case dir == "entries" && suffix == proofSuffix:
		return kindProof
	case dir == "entries" && suffix == unprovenSuffix:
		return kindUnproven
	}
	return kindUnknown
}

// parseNumber reads a sequence or size in its 20 digits.
func parseNumber(digits string) (uint64, bool) {
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0 && n <= record.MaxInteger && fmt.Sprintf("%020d", n) == digits
}
