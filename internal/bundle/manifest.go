// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// ManifestVersion is the version of the manifest's schema.
const ManifestVersion = "1.0.0"

const (
	maxManifestBytes = 8 << 20
	maxSigBytes      = 1 << 10
)

// Manifest says what a bundle holds, what was asked for, and what was looked at.
type Manifest struct {
	// MadeAt is the maker's clock, at which its key is judged.
	MadeAt record.Time `json:"made_at"`
	// MadeBy names the program and its version.
	MadeBy    string    `json:"made_by"`
	Selection Selection `json:"selection"`
	Journals  []Journal `json:"journals"`
	Artifacts Totals    `json:"artifacts"`
	// Redactions say what the reads among the entries keep of what was read.
	Redactions []Redaction `json:"redactions"`
}

// Selection is what was asked for: entries that meet every condition given, with
// the lineage entries of their traces.
type Selection struct {
	DecisionID  string `json:"decision_id,omitzero"`
	ExecutionID string `json:"execution_id,omitzero"`
	Kind        string `json:"kind,omitzero"`
	ToolCallID  string `json:"tool_call_id,omitzero"`
	TraceID     string `json:"trace_id,omitzero"`
	// FirstSequence and LastSequence are both included; 0 for no condition.
	FirstSequence uint64 `json:"first_sequence,omitzero"`
	LastSequence  uint64 `json:"last_sequence,omitzero"`
	// RecordedFrom is the first instant of recorded_at, RecordedUntil the first one
	// behind.
	RecordedFrom  record.Time `json:"recorded_from,omitzero"`
	RecordedUntil record.Time `json:"recorded_until,omitzero"`
}

// Gapless reports whether the selection is a stretch of each journal, so that a
// verifier sees whether an entry of it is missing. Of any other nobody but the
// maker knows which entries it did not take.
func (s *Selection) Gapless() bool {
	stretch := Selection{FirstSequence: s.FirstSequence, LastSequence: s.LastSequence, RecordedFrom: s.RecordedFrom, RecordedUntil: s.RecordedUntil}
	return *s == stretch && (s.byTime() != s.bySequence() || !s.byTime())
}

// includes reports whether a time of recording is one that was asked for.
func (s *Selection) includes(at record.Time) bool {
	return (s.RecordedFrom.IsZero() || !at.Std().Before(s.RecordedFrom.Std())) && (s.RecordedUntil.IsZero() || at.Std().Before(s.RecordedUntil.Std()))
}

func (s *Selection) byTime() bool { return !s.RecordedFrom.IsZero() || !s.RecordedUntil.IsZero() }

func (s *Selection) bySequence() bool { return s.FirstSequence > 0 || s.LastSequence > 0 }

// Journal says what was looked at in a journal, and how much of it is there.
type Journal struct {
	JournalID       string `json:"journal_id"`
	OrganizationRef string `json:"organization_ref,omitzero"`
	RetentionClass  string `json:"retention_class,omitzero"`
	// LookedAt are all entries that were there.
	LookedAt Stretch `json:"looked_at"`
	// Range is, for a selection that is Gapless, the stretch that is there without a
	// gap; absent if it is empty.
	Range *Stretch `json:"range,omitzero"`
	// Entries, Omitted and Unproven count artifacts.
	Entries  uint64 `json:"entries"`
	Omitted  uint64 `json:"omitted"`
	Unproven uint64 `json:"unproven"`
	// Kinds count the entries by their bodies.
	Kinds map[string]uint64 `json:"kinds"`
	// Checkpoint is the one to whose root the proofs lead; absent if there is none.
	Checkpoint *Root `json:"checkpoint,omitzero"`
}

// Stretch is a stretch of a journal, both ends included.
type Stretch struct {
	FirstSequence uint64 `json:"first_sequence"`
	LastSequence  uint64 `json:"last_sequence"`
}

// Root is the tree of a checkpoint.
type Root struct {
	Size uint64 `json:"size"`
	Root string `json:"root"`
}

// Totals close the list of artifacts.
type Totals struct {
	Count uint64 `json:"count"`
	// Size is in bytes.
	Size        int64  `json:"size"`
	IndexDigest string `json:"index_digest"`
	// MerkleRoot is the RFC 6962 root over the lines of the index without their LF.
	MerkleRoot string `json:"merkle_root"`
}

// Redaction counts reads by what was kept of their content and by which rules the
// rest was left out.
type Redaction struct {
	ContentStored    string `json:"content_stored"`
	Reads            uint64 `json:"reads"`
	RedactionProfile string `json:"redaction_profile"`
}

// Omission says that something is not in the bundle that belongs to its
// selection, and why.
type Omission struct {
	FirstSequence uint64 `json:"first_sequence"`
	LastSequence  uint64 `json:"last_sequence"`
	// Reason is a token in lower case.
	Reason string `json:"reason"`
	// RecordHash is that of the one entry that is left out: its proof shows that it
	// stood there.
	RecordHash string `json:"record_hash,omitzero"`
}

// The reasons of omissions that the maker itself gives.
const (
	// ReasonPruned: the entries were removed from the journal, as it announced.
	ReasonPruned = "pruned"
	// ReasonNotCovered: no checkpoint covers the entry yet, so there is no proof.
	ReasonNotCovered = "not_covered"
)

// manifestFile is a manifest as its file spells it.
type manifestFile struct {
	Manifest      Manifest `json:"evidence_manifest"`
	SchemaVersion string   `json:"schema_version"`
}

// signatureFile is the signature over a manifest as its file spells it.
type signatureFile struct {
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"key_id"`
	Value     string `json:"value"`
}

const sigAlgorithm = "Ed25519"

// sigPrefix keeps the signature of a manifest from being that of anything else.
const sigPrefix = "readtrail/evidence-manifest/v1\n"

func sigMessage(manifest []byte) []byte {
	sum := sha256.Sum256(manifest)
	return append([]byte(sigPrefix), sum[:]...)
}

var (
	errManifest  = errors.New("manifest is not as it is written")
	errSignature = errors.New("signature file is not as it is written")
)

// canonical returns the RFC 8785 form of v with an LF.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(text)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return append(value, '\n'), nil
}

// format returns the file of a manifest.
func (m *Manifest) format() ([]byte, error) {
	text, err := canonical(manifestFile{*m, ManifestVersion})
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if len(text) > maxManifestBytes {
		return nil, fmt.Errorf("manifest would have %d bytes, more than %d: bundle fewer journals at once", len(text), maxManifestBytes)
	}
	if err := schema.ValidateManifest(ManifestVersion, text); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	return text, nil
}

// parseManifest reads the file of a manifest: the one that format writes.
func parseManifest(text []byte) (*Manifest, error) {
	var f manifestFile
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, errManifest
	}
	again, err := canonical(f)
	if err != nil || f.SchemaVersion != ManifestVersion || !bytes.Equal(again, text) || schema.ValidateManifest(ManifestVersion, text) != nil {
		return nil, errManifest
	}
	return &f.Manifest, nil
}

// signManifest returns the file of the signature over a manifest.
func signManifest(manifest []byte, s journal.Signer) ([]byte, error) {
	message := sigMessage(manifest)
	value, err := s.Sign(message)
	if err != nil {
		return nil, fmt.Errorf("sign manifest: %w", err)
	}
	if !ed25519.Verify(s.PublicKey(), message, value) {
		return nil, errors.New("sign manifest: the signer returned a signature that its public key does not verify")
	}
	return canonical(signatureFile{sigAlgorithm, s.KeyID(), base64.StdEncoding.EncodeToString(value)})
}

// parseSignature reads the file of a signature: the one that signManifest writes.
func parseSignature(text []byte) (keyID string, value []byte, err error) {
	var f signatureFile
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil {
		return "", nil, errSignature
	}
	value, err = base64.StdEncoding.Strict().DecodeString(f.Value)
	if err != nil || f.Algorithm != sigAlgorithm || len(value) != ed25519.SignatureSize {
		return "", nil, errSignature
	}
	if again, err := canonical(f); err != nil || !bytes.Equal(again, text) {
		return "", nil, errSignature
	}
	return f.KeyID, value, nil
}
