// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Policy is what journals must look like, given to a verifier from outside
// (contract 5): what is missing in a journal cannot be seen in the journal.
type Policy struct {
	// Journals are the journals that there must be, by their ids; nil leaves open
	// which there are.
	Journals map[string]*JournalPolicy
	// Witnesses may attest checkpoints, and Quorum of them must.
	Witnesses []Witness
	Quorum    int
	// TimestampRoots are the roots of time stamp authorities, nil if none is trusted.
	TimestampRoots *x509.CertPool
	// Demand are the checks that must be made.
	Demand []Demand
}

// JournalPolicy is what one journal must look like. Absent members demand nothing.
type JournalPolicy struct {
	// FirstSequence is where the journal must begin, or before.
	FirstSequence uint64
	// FirstLink is the previous_event_hash of the entry at FirstSequence.
	FirstLink string
	// Keys are the ids of the keys that may sign this journal, nil for all of the
	// registry.
	Keys []string
	// Oldest is a checkpoint that the journal must continue, nil for none.
	Oldest *Checkpoint
	// LargestGap is the longest silence between two entries and between two
	// attestations, and how long what is behind the newest checkpoint may last.
	LargestGap time.Duration
}

// Demand names a check that a policy can demand. What is a note without it is
// unchecked with it, and the verdict 2.
type Demand string

// The checks that a policy can demand.
const (
	DemandTail      Demand = "tail"
	DemandTime      Demand = "time"
	DemandFirstLink Demand = "first_link"
	DemandSchema    Demand = "schema"
	DemandLineage   Demand = "lineage"
	DemandArtifacts Demand = "artifacts"
	// DemandCheckpoints: there is a checkpoint of the journal, and each was compared.
	DemandCheckpoints Demand = "checkpoints"
)

// demandOf says for a note which demand makes it more.
var demandOf = map[Code]Demand{
	CodeTailUnattested: DemandTail, CodeTimeUnattested: DemandTime, CodeFirstLinkUnanchored: DemandFirstLink,
	CodeUnsupportedSchemaVersion: DemandSchema, CodeSchemaNotPerformed: DemandSchema, CodeLineageUnresolved: DemandLineage,
}

var demands = []Demand{DemandTail, DemandTime, DemandFirstLink, DemandSchema, DemandLineage, DemandArtifacts, DemandCheckpoints}

// Demands reports whether the policy demands a check; nil demands none.
func (p *Policy) Demands(d Demand) bool { return p != nil && slices.Contains(p.Demand, d) }

// Journal returns the policy of a journal; listed is false if the policy lists
// journals and this is none of them.
func (p *Policy) Journal(id string) (j JournalPolicy, listed bool) {
	if p == nil || p.Journals == nil {
		return JournalPolicy{}, true
	}
	if found := p.Journals[id]; found != nil {
		return *found, true
	}
	return JournalPolicy{}, false
}

const maxPolicyBytes = 1 << 20

// policyFile is a policy as its file spells it.
type policyFile struct {
	Journals       []journalPolicyFile `json:"journals,omitempty"`
	Witnesses      []text              `json:"witnesses,omitempty"`
	Quorum         int                 `json:"quorum,omitzero"`
	TimestampRoots []text              `json:"timestamp_roots,omitempty"`
	Demand         []Demand            `json:"demand,omitempty"`
}

type journalPolicyFile struct {
	JournalID         text          `json:"journal_id"`
	FirstSequence     uint64        `json:"first_sequence,omitzero"`
	FirstLink         text          `json:"first_link,omitzero"`
	Keys              []text        `json:"keys,omitempty"`
	OldestCheckpoint  *oldestInFile `json:"oldest_checkpoint,omitzero"`
	LargestGapSeconds uint64        `json:"largest_gap_seconds,omitzero"`
}

type oldestInFile struct {
	Size uint64 `json:"size"`
	Root text   `json:"root"`
}

// ReadPolicy reads a policy file of at most 1 MiB. It must be a regular file, or a
// link to one.
func ReadPolicy(path string) (*Policy, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("policy %s is not a regular file; name a file that holds it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPolicyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	p, err := ParsePolicy(text)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", path, err)
	}
	return p, nil
}

// ParsePolicy reads the text of a policy file. It refuses what it does not
// understand: a demand that it ignored would be met by nothing.
func ParsePolicy(text []byte) (*Policy, error) {
	if len(text) > maxPolicyBytes {
		return nil, fmt.Errorf("file has more than %d bytes", maxPolicyBytes)
	}
	var file policyFile
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("not a policy: %w", err)
	}
	if err := refuseNothing(text); err != nil {
		return nil, err
	}
	p := &Policy{Quorum: file.Quorum, Demand: file.Demand}
	for _, d := range p.Demand {
		if !slices.Contains(demands, d) {
			return nil, fmt.Errorf("demand names a check that there is not; there are %v", demands)
		}
	}
	if err := p.addOutside(&file); err != nil {
		return nil, err
	}
	for i := range file.Journals {
		if err := p.addJournal(&file.Journals[i]); err != nil {
			return nil, fmt.Errorf("journal %d: %w", i+1, err)
		}
	}
	return p, nil
}

// refuseNothing refuses null, an empty list, an empty object and 0, which would
// demand nothing where something was meant.
func refuseNothing(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	var before jsontext.Kind
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the text was read before
		}
		kind := token.Kind()
		opened := kind == jsontext.KindEndObject && before == jsontext.KindBeginObject && d.StackDepth() > 0 ||
			kind == jsontext.KindEndArray && before == jsontext.KindBeginArray
		if kind == jsontext.KindNull || opened || kind == jsontext.KindNumber && token.String() == "0" {
			return fmt.Errorf("%s is null, empty or 0; leave out what is not demanded", d.StackPointer())
		}
		before = kind
	}
}

// addOutside reads who outside may attest.
func (p *Policy) addOutside(file *policyFile) error {
	for i, vkey := range file.Witnesses {
		w, err := ParseWitness(string(vkey))
		if err != nil {
			return fmt.Errorf("witness %d: %w", i+1, err)
		}
		if slices.ContainsFunc(p.Witnesses, func(other Witness) bool { return other.String() == w.String() }) {
			return fmt.Errorf("witness %d stands twice", i+1)
		}
		p.Witnesses = append(p.Witnesses, w)
	}
	if (p.Quorum > 0) != (len(p.Witnesses) > 0) || p.Quorum < 0 || p.Quorum > len(p.Witnesses) {
		return errors.New("quorum must say how many of the witnesses must cosign, from 1 to all of them")
	}
	for i, text := range file.TimestampRoots {
		block, rest := pem.Decode([]byte(text))
		if block == nil || block.Type != "CERTIFICATE" || len(bytes.TrimSpace(rest)) > 0 {
			return fmt.Errorf("timestamp root %d is not one certificate in PEM", i+1)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("timestamp root %d is not one certificate in PEM", i+1)
		}
		if p.TimestampRoots == nil {
			p.TimestampRoots = x509.NewCertPool()
		}
		p.TimestampRoots.AddCert(c)
	}
	return nil
}

func (p *Policy) addJournal(file *journalPolicyFile) error {
	id := string(file.JournalID)
	if id == "" {
		return errors.New("journal_id is missing")
	}
	if p.Journals[id] != nil {
		return errors.New("journal_id stands twice")
	}
	j := &JournalPolicy{FirstSequence: file.FirstSequence, FirstLink: string(file.FirstLink)}
	if _, ok := ParseHash(j.FirstLink); j.FirstLink != "" && (!ok || j.FirstSequence < 2) {
		return errors.New("first_link must be sha256: and 64 lowercase hex digits, and stand with a first_sequence after 1")
	}
	const longest = 100 * 365 * 24 * 60 * 60
	if j.FirstSequence > record.MaxInteger || file.LargestGapSeconds > longest {
		return errors.New("first_sequence or largest_gap_seconds is too large")
	}
	j.LargestGap = time.Duration(file.LargestGapSeconds) * time.Second
	for _, key := range file.Keys {
		if err := checkKeyText(string(key)); err != nil {
			return errors.New("keys must be key ids, as keys list shows them")
		}
		j.Keys = append(j.Keys, string(key))
	}
	if oldest := file.OldestCheckpoint; oldest != nil {
		root, err := base64.StdEncoding.Strict().DecodeString(string(oldest.Root))
		if err != nil || len(root) != sha256.Size || oldest.Size == 0 || oldest.Size > record.MaxInteger {
			return errors.New("oldest_checkpoint must have a size from 1 on and a root in base64, as the checkpoint spells them")
		}
		j.Oldest = &Checkpoint{Origin: id, Size: oldest.Size, Root: [sha256.Size]byte(root)}
	}
	if p.Journals == nil {
		p.Journals = map[string]*JournalPolicy{}
	}
	p.Journals[id] = j
	return nil
}
