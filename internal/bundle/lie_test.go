// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// without returns the files but those with a prefix.
func without(files []member, prefix string) []member {
	return slices.DeleteFunc(slices.Clone(files), func(f member) bool { return strings.HasPrefix(f.name, prefix) })
}

// replaced returns the files with another text in one.
func replaced(files []member, name string, change func(string) string) []member {
	out := slices.Clone(files)
	for i := range out {
		if out[i].name == name {
			out[i].text = []byte(change(string(out[i].text)))
		}
	}
	return out
}

// TestAMakerWhoLiesIsFound signs what is wrong with the maker's own key: what the
// journal signed contradicts it.
func TestAMakerWhoLiesIsFound(t *testing.T) {
	h := newHouse(t, 12)
	files := unpack(t, h.make(func(o *Options) {
		withAll(o)
		o.Omit = func(_ string, sequence uint64) string {
			if sequence == 4 {
				return "withheld"
			}
			return ""
		}
	}))
	require.Zero(t, h.verify(h.resign(files, nil)).ExitCode())
	at := func(sequence uint64, suffix string) string { return entryName(journalID, sequence, suffix) }
	text := func(name string) string {
		for _, f := range files {
			if f.name == name {
				return string(f.text)
			}
		}
		t.Fatal(name)
		return ""
	}
	for what, test := range map[string]struct {
		files  []member
		change func(*Manifest)
		code   journal.Code
		name   string
	}{
		"an entry is left out": {
			without(files, strings.TrimSuffix(at(5, entrySuffix), entrySuffix)),
			func(m *Manifest) { m.Journals[0].Entries--; m.Journals[0].Kinds["lineage_record"]-- },
			journal.CodeSequenceGap, at(5, omittedSuffix),
		},
		"an entry is left out and its proof is not": {
			without(files, at(5, entrySuffix)), func(m *Manifest) { m.Journals[0].Entries--; m.Journals[0].Kinds["lineage_record"]-- },
			journal.CodeArtifactMissing, at(5, entrySuffix),
		},
		"an omission is left out": {
			without(files, strings.TrimSuffix(at(4, omittedSuffix), omittedSuffix)), func(m *Manifest) { m.Journals[0].Omitted-- },
			journal.CodeSequenceGap, at(4, omittedSuffix),
		},
		"an entry is left out without changing the counts": {
			without(files, strings.TrimSuffix(at(10, entrySuffix), entrySuffix)), nil, journal.CodeArtifactDigestMismatch, manifestName,
		},
		"a proof is left out":             {without(files, at(6, proofSuffix)), nil, journal.CodeArtifactMissing, at(6, proofSuffix)},
		"a checkpoint is left out":        {without(files, checkpointName(journalID, 11, checkpointSuffix)), nil, journal.CodeArtifactMissing, checkpointName(journalID, 11, checkpointSuffix)},
		"a consistency proof is left out": {without(files, checkpointName(journalID, 4, consistencySuffix)), nil, journal.CodeArtifactMissing, checkpointName(journalID, 4, consistencySuffix)},
		"an entry is edited": {
			replaced(files, at(3, entrySuffix), func(s string) string { return strings.Replace(s, "crm.get", "crm.put", 1) }), nil, journal.CodeRecordHashMismatch, at(3, entrySuffix),
		},
		"an entry has spaces":   {replaced(files, at(3, entrySuffix), func(s string) string { return " " + s }), nil, journal.CodeNotCanonical, at(3, entrySuffix)},
		"an entry has no end":   {replaced(files, at(3, entrySuffix), strings.TrimSpace), nil, journal.CodeNotCanonical, at(3, entrySuffix)},
		"an entry is another":   {replaced(files, at(3, entrySuffix), func(string) string { return h.lines[5] }), nil, journal.CodeSequenceDuplicate, at(3, entrySuffix)},
		"a proof is of another": {replaced(files, at(6, proofSuffix), func(string) string { return text(at(7, proofSuffix)) }), nil, journal.CodeCheckpointInconsistent, at(6, proofSuffix)},
		"a proof is rubbish":    {replaced(files, at(6, proofSuffix), func(string) string { return "rubbish" }), nil, journal.CodeNotCanonical, at(6, proofSuffix)},
		"an omission has a hash": {replaced(files, at(4, omittedSuffix), func(s string) string {
			return strings.Replace(s, "sha256:", "sha256:", 1)[:len(s)-30] + strings.Repeat("0", 0)
		}), nil, journal.CodeNotCanonical, at(4, omittedSuffix)},
		"an omission hides an entry by another hash": {
			replaced(files, at(4, omittedSuffix), func(s string) string {
				from := strings.Index(s, "sha256:")
				return s[:from+7] + strings.Repeat("0", 64) + s[from+71:]
			}), nil, journal.CodeCheckpointInconsistent, at(4, proofSuffix),
		},
		"the root is another": {
			files, func(m *Manifest) { m.Journals[0].Checkpoint.Root = "sha256:" + strings.Repeat("0", 64) },
			journal.CodeCheckpointInconsistent, checkpointName(journalID, 4, checkpointSuffix),
		},
		"a checkpoint is under another size": {
			replaced(files, checkpointName(journalID, 4, checkpointSuffix), func(string) string { return text(checkpointName(journalID, 11, checkpointSuffix)) }),
			nil, journal.CodeCheckpointInconsistent, checkpointName(journalID, 4, checkpointSuffix),
		},
		"the range is smaller": {files, func(m *Manifest) { m.Journals[0].Range.LastSequence = 9 }, journal.CodeSequenceGap, manifestName},
		"there is no range":    {files, func(m *Manifest) { m.Journals[0].Range = nil }, journal.CodeSequenceGap, manifestName},
		"redactions are gone":  {files, func(m *Manifest) { m.Redactions = []Redaction{} }, journal.CodeArtifactDigestMismatch, manifestName},
		"a redaction is another": {
			files, func(m *Manifest) { m.Redactions[0].ContentStored = "evidence_copy" }, journal.CodeArtifactDigestMismatch, manifestName,
		},
		"kinds are others":       {files, func(m *Manifest) { m.Journals[0].Kinds = map[string]uint64{"read_record": 8} }, journal.CodeArtifactDigestMismatch, manifestName},
		"less was looked at":     {files, func(m *Manifest) { m.Journals[0].LookedAt.LastSequence = 7 }, journal.CodeArtifactDigestMismatch, manifestName},
		"another journal":        {files, func(m *Manifest) { m.Journals[0].JournalID = "jrn_2" }, CodeArtifactUnlisted, checkpointName(journalID, 4, checkpointSuffix)},
		"a schema is another":    {replaced(files, schemaName(record.KindRead, "1.0.0"), func(s string) string { return s + " " }), nil, journal.CodeSchemaInvalid, schemaName(record.KindRead, "1.0.0")},
		"keys are none":          {replaced(files, keysName, func(string) string { return "{}" }), nil, journal.CodeNotCanonical, keysName},
		"content is in the open": {withObject(files, "CANARY-text"), nil, journal.CodeSchemaInvalid, objectsDir + "bank/kyc/x"},
	} {
		r := h.verify(h.resign(test.files, test.change))
		if assert.NotNil(t, r.FirstBad, what) {
			assert.Equal(t, test.code, r.FirstBad.Code, "%s: %+v", what, r.Findings)
			assert.Equal(t, test.name, r.FirstBad.Name, "%s: %+v", what, r.Findings)
		}
		assert.Equal(t, 1, r.ExitCode(), what)
	}
}

// withObject adds a copy of content that is not encrypted.
func withObject(files []member, text string) []member {
	out := append(slices.Clone(files), member{objectsDir + "bank/kyc/x", []byte(text)})
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out
}

func TestOnlyTheKeysOfTheVerifierCount(t *testing.T) {
	h := newHouse(t, 8)
	b := h.make(withAll)
	verify := func(trust Trust) *Report {
		r, err := Verify(t.Context(), bytes.NewReader(b), int64(len(b)), trust)
		require.NoError(t, err)
		return r
	}
	r := verify(Trust{})
	assert.Equal(t, 2, r.ExitCode())
	assert.Equal(t, journal.NotPerformed, r.ManifestSignature)
	assert.Equal(t, journal.NotPerformed, r.Signature)
	assert.Equal(t, journal.NotPerformed, r.Inclusion, "a proof to a checkpoint that nobody signed shows nothing")
	assert.Equal(t, journal.NotPerformed, r.Checkpoints)

	strange := trusting(t, signerOf(t, "stranger"))
	r = verify(Trust{Keys: h.keys, ManifestKeys: strange})
	assert.Equal(t, journal.CodeKeyUnknown, r.FirstBad.Code)
	r = verify(Trust{Keys: strange, ManifestKeys: h.manifests})
	assert.Equal(t, journal.CodeCheckpointSignatureInvalid, r.FirstBad.Code)
	assert.Equal(t, journal.Failed, r.Signature)
	r = verify(Trust{Keys: h.manifests, ManifestKeys: h.manifests})
	assert.Equal(t, journal.CodeKeyUnknown, r.FirstBad.Code, "a key of journals signs no manifest")

	_, err := Make(t.Context(), &bytes.Buffer{}, func() Options { o := h.options(); o.Signer = h.signer; return o }())
	require.ErrorContains(t, err, "a manifest needs a key of its own")
}

// TestAKeyIsJudgedWhenTheEntryWasAttested: entries that a time stamp shows to be
// older than the revocation count, and those that nobody attested do not.
func TestAKeyIsJudgedWhenTheEntryWasAttested(t *testing.T) {
	h := newHouse(t, 12)
	b := h.make(withAll)
	key := journal.TrustedKey(h.signer.PublicKey(), start.AddDate(-1, 0, 0))
	key.RevokedAt = record.NewTime(start.Add(2 * time.Hour))
	revoked := &journal.Registry{}
	require.NoError(t, revoked.Add(key))
	policy := &journal.Policy{TimestampRoots: h.policy.TimestampRoots, Witnesses: h.policy.Witnesses, Quorum: 1}
	r, err := Verify(t.Context(), bytes.NewReader(b), int64(len(b)), Trust{Keys: revoked, ManifestKeys: h.manifests, Policy: policy})
	require.NoError(t, err)
	for _, f := range r.Findings {
		if f.Code == journal.CodeKeyRevoked {
			assert.Greater(t, f.Sequence, uint64(4), "the time stamp is an hour before the revocation")
		}
	}
	assert.EqualValues(t, 6, r.Counts[journal.CodeKeyRevoked], "entries 5 to 10 were first attested by a witness, after the revocation")
}

// TestWhatAPolicyDemandsOfAWholeJournalIsUnchecked holds that a demand that cannot be
// met is never passed over.
func TestWhatAPolicyDemandsOfAWholeJournalIsUnchecked(t *testing.T) {
	h := newHouse(t, 8)
	b := h.make(func(o *Options) { o.Selection = Selection{FirstSequence: 2, LastSequence: 6} })
	require.Zero(t, h.verify(b).ExitCode())
	whole := *h.policy
	for what, demand := range map[string]func(*journal.Policy){
		"the oldest checkpoint": func(p *journal.Policy) {
			p.Journals = map[string]*journal.JournalPolicy{journalID: {Oldest: &journal.Checkpoint{Origin: journalID, Size: 3}}}
		},
		"the beginning": func(p *journal.Policy) {
			p.Journals = map[string]*journal.JournalPolicy{journalID: {FirstSequence: 1}}
		},
		"the largest gap": func(p *journal.Policy) {
			p.Journals = map[string]*journal.JournalPolicy{journalID: {LargestGap: time.Hour}}
		},
		"the first link": func(p *journal.Policy) { p.Demand = []journal.Demand{journal.DemandFirstLink} },
		"lineage":        func(p *journal.Policy) { p.Demand = []journal.Demand{journal.DemandLineage} },
		"more witnesses": func(p *journal.Policy) { p.Quorum, p.Demand = 2, []journal.Demand{journal.DemandTail} },
		"time": func(p *journal.Policy) {
			p.Quorum, p.Witnesses, p.TimestampRoots, p.Demand = 0, nil, nil, []journal.Demand{journal.DemandTime}
		},
	} {
		policy := whole
		demand(&policy)
		h.policy = &policy
		assert.Equal(t, 2, h.verify(b).ExitCode(), what)
	}
	policy := whole
	policy.Journals = map[string]*journal.JournalPolicy{"jrn_2": {}}
	h.policy = &policy
	assert.Equal(t, journal.CodeJournalIDMismatch, h.verify(b).FirstBad.Code)
	policy.Journals = map[string]*journal.JournalPolicy{journalID: {Keys: []string{"another"}}}
	assert.Equal(t, 1, h.verify(b).ExitCode())
}
