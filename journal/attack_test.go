// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// replace changes one line to one that says something else.
func replace(line []byte, old, replacement string) []byte {
	changed := bytes.Replace(line, []byte(old), []byte(replacement), 1)
	if bytes.Equal(changed, line) {
		panic("test changes nothing: " + old)
	}
	return changed
}

// reseal signs the body of a line anew.
func reseal(t *testing.T, line []byte, s journal.Signer, previous string, change func(body []byte) []byte) []byte {
	e := entryOf(t, line)
	out, err := journal.Assemble(e.Kind, e.SchemaVersion, change(bytes.Clone(e.Body)), previous, s).Sign(s)
	require.NoError(t, err)
	return out
}

// retyped makes a member of the body an array.
func retyped(line []byte, member string) []byte {
	return regexp.MustCompile(`("`+member+`":)("[^"]*"|[0-9]+)`).ReplaceAll(line, []byte("$1[]"))
}

func same(body []byte) []byte { return body }

// elsewhere is the body of a read that says another system was read.
func elsewhere(body []byte) []byte {
	return bytes.Replace(body, []byte(`"organization_ref":"bank"`), []byte(`"organization_ref":"tank"`), 1)
}

func TestAnAttackIsFoundAtItsPlace(t *testing.T) {
	const n = 7
	w := journalOf(t, n)
	other := newWriter(t)
	other.id = "jrn_other"
	other.event(record.EventJournalOpened, nil)
	for len(other.lines) < n {
		other.read()
	}
	// reforged is an entry that an attacker without the key makes fit: the
	// hashes are right, the signature is the old one.
	reforged := func(line []byte) []byte {
		e := entryOf(t, line)
		forged := reseal(t, line, trusted, e.Integrity.PreviousEventHash, elsewhere)
		return replace(forged, entryOf(t, forged).Integrity.Signature.Value, e.Integrity.Signature.Value)
	}
	type lines = [][]byte
	for _, c := range []struct {
		name string
		// attack is done to the line at index i.
		attack func(l lines, i int) lines
		first  journal.Code
		// after is where the finding is: so many lines behind the attack.
		after int
		// more are the broken findings behind the first one; a finding at the
		// line after the last one cannot be.
		more []journal.Code
	}{
		{"a value is edited", func(l lines, i int) lines {
			l[i] = replace(l[i], `"organization_ref":"bank"`, `"organization_ref":"tank"`)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the sequence is edited", func(l lines, i int) lines {
			l[i] = replace(l[i], `"sequence":`, `"sequence":1`)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the record hash is edited", func(l lines, i int) lines {
			l[i] = replace(l[i], hashOf(t, l[i]), "sha256:"+sha256Hex(nil))
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"a value and the record hash are edited", func(l lines, i int) lines {
			l[i] = reforged(l[i])
			return l
		}, journal.CodeSignatureInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"the signature is another entry's", func(l lines, i int) lines {
			l[i] = replace(l[i], entryOf(t, l[i]).Integrity.Signature.Value, entryOf(t, other.lines[i]).Integrity.Signature.Value)
			return l
		}, journal.CodeSignatureInvalid, 0, nil},
		{"the signature is stripped", func(l lines, i int) lines {
			l[i] = replace(l[i], `,"value":"`+entryOf(t, l[i]).Integrity.Signature.Value+`"`, "")
			return l
		}, journal.CodeSchemaInvalid, 0, nil},
		{"integrity is stripped", func(l lines, i int) lines {
			e := entryOf(t, l[i])
			l[i] = []byte(`{"` + string(e.Kind) + `":` + string(e.Body) + `,"schema_version":"1.0.0"}` + "\n")
			return l
		}, journal.CodeSchemaInvalid, 0, nil},
		{"the algorithm is called none", func(l lines, i int) lines {
			l[i] = replace(l[i], `"algorithm":"Ed25519"`, `"algorithm":"none"`)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the entry is signed by a stranger", func(l lines, i int) lines {
			l[i] = reseal(t, l[i], stranger, entryOf(t, l[i]).Integrity.PreviousEventHash, same)
			return l
		}, journal.CodeKeyUnknown, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"the entry is signed by a stranger under the trusted name", func(l lines, i int) lines {
			l[i] = reseal(t, l[i], impostor{stranger, trusted.KeyID()}, entryOf(t, l[i]).Integrity.PreviousEventHash, same)
			return l
		}, journal.CodeSignatureInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"the form of occurred_at is edited", func(l lines, i int) lines {
			l[i] = retyped(l[i], "occurred_at")
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the form of event_type is edited", func(l lines, i int) lines {
			l[i] = retyped(l[i], "event_type")
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the form of recorded_at is edited", func(l lines, i int) lines {
			l[i] = retyped(l[i], "recorded_at")
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the form of journal_id is edited", func(l lines, i int) lines {
			l[i] = retyped(l[i], "journal_id")
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the form of the sequence is edited", func(l lines, i int) lines {
			l[i] = retyped(l[i], "sequence")
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the body is no object any more", func(l lines, i int) lines {
			l[i] = replace(l[i], string(entryOf(t, l[i]).Body), `"x"`)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the verification is called valid", func(l lines, i int) lines {
			l[i] = replace(l[i], `"not_performed"`, `"valid"`)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the verification is taken out", func(l lines, i int) lines {
			l[i] = regexp.MustCompile(`,"verification":\{[^}]*\}`).ReplaceAll(l[i], nil)
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the verification is a number", func(l lines, i int) lines {
			l[i] = regexp.MustCompile(`"verification":\{[^}]*\}`).ReplaceAll(l[i], []byte(`"verification":7`))
			return l
		}, journal.CodeRecordHashMismatch, 0, nil},
		{"the form of event_type is another one, with the key", func(l lines, i int) lines {
			l[i] = forged(t, l[i], trusted, func(e map[string]any) { bodyOf(e)["event_type"] = 7 })
			return l
		}, journal.CodeSchemaInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"recorded_at has another form, with the key", func(l lines, i int) lines {
			l[i] = forged(t, l[i], trusted, func(e map[string]any) { bodyOf(e)["recorded_at"] = "2026-10-09T08:12:03Z" })
			return l
		}, journal.CodeSchemaInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"journal_id is missing, with the key", func(l lines, i int) lines {
			l[i] = forged(t, l[i], trusted, func(e map[string]any) { delete(bodyOf(e), "journal_id") })
			return l
		}, journal.CodeSchemaInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"a member stands twice", func(l lines, i int) lines {
			l[i] = replace(l[i], `"organization_ref":"bank"`, `"organization_ref":"bank","organization_ref":"tank"`)
			return l
		}, journal.CodeNotCanonical, 0, nil},
		{"a space is put in", func(l lines, i int) lines {
			l[i] = replace(l[i], `":"`, `": "`)
			return l
		}, journal.CodeNotCanonical, 0, nil},
		{"a letter is spelled as an escape", func(l lines, i int) lines {
			l[i] = replace(l[i], `"bank"`, `"\u0062ank"`)
			return l
		}, journal.CodeNotCanonical, 0, nil},
		{"a line is put in that is no entry", func(l lines, i int) lines {
			return slices.Insert(l, i, []byte("{}\n"))
		}, journal.CodeSchemaInvalid, 0, nil},
		{"an entry is put in twice", func(l lines, i int) lines {
			return slices.Insert(l, i, l[i])
		}, journal.CodeSequenceDuplicate, 1, nil},
		{"an entry is put in with the key, without its place", func(l lines, i int) lines {
			return slices.Insert(l, i+1, reseal(t, l[i], trusted, hashOf(t, l[i]), elsewhere))
		}, journal.CodeSequenceDuplicate, 1, nil},
		{"an entry of another journal takes the place", func(l lines, i int) lines {
			l[i] = other.lines[i]
			return l
		}, journal.CodeJournalIDMismatch, 0, []journal.Code{journal.CodePreviousHashMismatch, journal.CodePreviousHashMismatch}},
		{"an entry is replaced with the key", func(l lines, i int) lines {
			l[i] = reseal(t, l[i], trusted, entryOf(t, l[i]).Integrity.PreviousEventHash, elsewhere)
			return l
		}, journal.CodePreviousHashMismatch, 1, nil},
		{"the link is cut with the key", func(l lines, i int) lines {
			l[i] = reseal(t, l[i], trusted, "sha256:"+sha256Hex(nil), same)
			return l
		}, journal.CodePreviousHashMismatch, 0, []journal.Code{journal.CodePreviousHashMismatch}},
		{"the content breaks the schema, with the key", func(l lines, i int) lines {
			l[i] = reseal(t, l[i], trusted, entryOf(t, l[i]).Integrity.PreviousEventHash, func(body []byte) []byte {
				return replace(body, `"retention_class":"kyc"}`, `"retention_class":"kyc","x":1}`)
			})
			return l
		}, journal.CodeSchemaInvalid, 0, []journal.Code{journal.CodePreviousHashMismatch}},
	} {
		for place, i := range map[string]int{"first": 0, "middle": n / 2, "last": n - 1} {
			t.Run(c.name+", "+place, func(t *testing.T) {
				attacked := c.attack(slices.Clone(w.lines), i)
				report := verifyLines(t, attacked...)
				if i+c.after >= len(attacked) {
					require.Nil(t, report.FirstBad, "the end of a journal is open: tail_unattested")
					require.Contains(t, codesOf(report), journal.CodeTailUnattested)
					return
				}
				require.NotNil(t, report.FirstBad, "%+v", report)
				if i == 0 && otherAtTheFirst[c.name] {
					return
				}
				assert.Equal(t, c.first, report.FirstBad.Code, "%+v", report.FirstBad)
				offset := len(bytes.Join(attacked[:i+c.after], nil))
				assert.Equal(t, int64(offset), report.FirstBad.Offset)
				want := append([]journal.Code{c.first}, c.more...)
				if i == n-1 && len(want) > 1 {
					want = want[:len(want)-1]
				}
				assert.Equal(t, want, brokenCodes(report))
			})
		}
	}
}

// otherAtTheFirst are the attacks that a journal.opened shows by other codes: it
// alone has no predecessor, and it names the journal.
var otherAtTheFirst = map[string]bool{
	"an entry is put in with the key, without its place": true,
	"an entry of another journal takes the place":        true,
	"the link is cut with the key":                       true,
}

// impostor signs with its own key and calls it another one's.
type impostor struct {
	seedSigner
	id string
}

func (i impostor) KeyID() string { return i.id }

func TestTheFirstBadPlaceIsSaidExactly(t *testing.T) {
	w := journalOf(t, 5)
	l := slices.Clone(w.lines)
	l[2] = replace(l[2], `"bank"`, `"tank"`)
	directory := store(t, 1, l...)
	bad := verify(t, directory, registryOf(t, trustedKey(trusted))).FirstBad
	require.NotNil(t, bad)
	assert.Equal(t, uint64(3), bad.Sequence)
	assert.Equal(t, filepath.Join(directory, segmentName(1)), bad.Segment)
	assert.Equal(t, int64(len(l[0])+len(l[1])), bad.Offset)
	assert.Equal(t, hashOf(t, w.lines[1]), bad.ExpectedPreviousHash)
	assert.Equal(t, hashOf(t, w.lines[1]), bad.ObservedPreviousHash)
	assert.Equal(t, hashOf(t, w.lines[2]), bad.ObservedRecordHash)
	assert.Equal(t, "sha256:"+sha256Hex(entryOf(t, l[2]).Payload()), bad.ExpectedRecordHash)
}

func TestARemovedEntryIsMissedByItsSuccessor(t *testing.T) {
	w := journalOf(t, 5)
	for _, i := range []int{1, 2, 3} {
		bad := verifyLines(t, slices.Delete(slices.Clone(w.lines), i, i+1)...).FirstBad
		require.NotNil(t, bad)
		assert.Equal(t, journal.CodeSequenceGap, bad.Code)
		assert.Equal(t, uint64(i+2), bad.Sequence)
		assert.Equal(t, hashOf(t, w.lines[i-1]), bad.ExpectedPreviousHash)
		assert.Equal(t, hashOf(t, w.lines[i]), bad.ObservedPreviousHash)
	}
	report := verifyLines(t, w.lines[1:]...)
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report), "the first entry, under the old name of the segment")
}

func TestReorderedEntriesAreFoundOnceEach(t *testing.T) {
	w := journalOf(t, 6)
	l := slices.Clone(w.lines)
	l[2], l[3] = l[3], l[2]
	report := verifyLines(t, l...)
	require.Equal(t, []journal.Code{journal.CodeSequenceGap, journal.CodeSequenceDuplicate}, brokenCodes(report))
	require.Equal(t, uint64(4), report.FirstBad.Sequence)
}

func TestARewrittenTailIsFoundWhereItBegins(t *testing.T) {
	w := journalOf(t, 4)
	thief := *w
	thief.lines = slices.Clone(w.lines)
	thief.signer = stranger
	thief.read().read()
	report := verifyLines(t, thief.lines...)
	require.Equal(t, []journal.Code{journal.CodeKeyUnknown, journal.CodeKeyUnknown}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
}

func TestSegmentsSwappedBetweenJournalsAreFound(t *testing.T) {
	w := journalOf(t, 6)
	other := newWriter(t)
	other.id = "jrn_other"
	other.event(record.EventJournalOpened, nil)
	for len(other.lines) < 6 {
		other.read()
	}
	directory := store(t, 1, w.lines[:3]...)
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(4)), bytes.Join(other.lines[3:], nil), 0o600))
	report := verify(t, directory, registryOf(t, trustedKey(trusted)))
	require.Equal(t, journal.CodeJournalIDMismatch, report.FirstBad.Code)
	require.Equal(t, uint64(4), report.FirstBad.Sequence)
	require.Equal(t, uint64(3), report.Counts[journal.CodeJournalIDMismatch])
	require.Equal(t, uint64(1), report.Counts[journal.CodePreviousHashMismatch])
}
