// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

// Code names a finding (contract 6). Codes are a public contract: stable, and
// documented with what an auditor does next.
type Code string

// Class says what a finding does to the verdict.
type Class string

// The classes of contract 6 and their exit codes.
const (
	// ClassBroken: the journal is not what was written (exit 1).
	ClassBroken Class = "broken"
	// ClassUnchecked: a check that was demanded could not be made (exit 2).
	ClassUnchecked Class = "unchecked"
	// ClassNote: what the verdict does not cover (exit 0).
	ClassNote Class = "note"
)

// The codes that Verify reports.
const (
	CodeNotCanonical         Code = "not_canonical"
	CodeSchemaInvalid        Code = "schema_invalid"
	CodeRecordHashMismatch   Code = "record_hash_mismatch"
	CodeSignatureInvalid     Code = "signature_invalid"
	CodeKeyUnknown           Code = "key_unknown"
	CodeKeyNotYetValid       Code = "key_not_yet_valid"
	CodeKeyExpired           Code = "key_expired"
	CodeKeyRevoked           Code = "key_revoked"
	CodePreviousHashMismatch Code = "previous_hash_mismatch"
	CodeSequenceGap          Code = "sequence_gap"
	CodeSequenceDuplicate    Code = "sequence_duplicate"
	CodeJournalIDMismatch    Code = "journal_id_mismatch"
	CodeTornTail             Code = "torn_tail"

	CodeCheckpointSignatureInvalid Code = "checkpoint_signature_invalid"
	CodeCheckpointInconsistent     Code = "checkpoint_inconsistent"
	CodeTruncated                  Code = "truncated"
	CodeFork                       Code = "fork"
	CodeArtifactDigestMismatch     Code = "artifact_digest_mismatch"
	CodeArtifactMissing            Code = "artifact_missing"

	CodeSignatureNotPerformed  Code = "signature_not_performed"
	CodeCheckpointNotPerformed Code = "checkpoint_not_performed"

	CodeFirstLinkUnanchored      Code = "first_link_unanchored"
	CodeTailUnattested           Code = "tail_unattested"
	CodeTimeUnattested           Code = "time_unattested"
	CodeUnsupportedSchemaVersion Code = "unsupported_schema_version"
	CodeClockRegressed           Code = "clock_regressed"
	CodeSchemaNotPerformed       Code = "schema_not_performed"
	CodeLineageUnresolved        Code = "lineage_unresolved"
	CodeReconcileNotPerformed    Code = "reconcile_not_performed"
)

// CodeDoc documents a code.
type CodeDoc struct {
	Code  Code
	Class Class
	// Meaning says what was found.
	Meaning string
	// Next says what an auditor does next.
	Next string
}

var codeDocs = []CodeDoc{
	{
		CodeNotCanonical, ClassBroken, "the bytes of a line are not its own canonical form, or no bytes that a writer can write",
		"compare the line with an archived copy or the system of record; it was changed or damaged after it was written",
	},
	{
		CodeSchemaInvalid, ClassBroken, "an entry does not fit the schema of its body",
		"keep the file and ask who runs the writer which version wrote it; if the signature is valid the writer is at fault, not the storage",
	},
	{
		CodeRecordHashMismatch, ClassBroken, "the bytes of an entry do not give the record_hash that it names",
		"compare the entry with an archived copy; its content or its hash was changed after it was signed",
	},
	{
		CodeSignatureInvalid, ClassBroken, "the signature does not fit the entry under the trusted key that it names",
		"treat the entry as forged and find out who could write to the storage; its neighbors show what stood there",
	},
	{
		CodeKeyUnknown, ClassBroken, "an entry is signed by a key that is not trusted for it, or the key does not change as it was announced",
		"ask the owner of the key registry whether the key is theirs; never take the key from the journal itself",
	},
	{
		CodeKeyNotYetValid, ClassBroken, "an entry was recorded before its key became valid",
		"compare the clock of the writer with valid_from in the registry; back-dating looks like this",
	},
	{
		CodeKeyExpired, ClassBroken, "an entry was recorded after its key had expired",
		"find out why the key was not rotated and whether the registry is current",
	},
	{
		CodeKeyRevoked, ClassBroken, "an entry was recorded after its key was revoked, or stands at or behind its first invalid sequence",
		"read revocation_reason in the registry; entries from here on prove nothing without other evidence",
	},
	{
		CodePreviousHashMismatch, ClassBroken, "an entry does not name the hash of the entry before it",
		"compare both entries with an archived copy; one was replaced, or the line between them was cut and joined",
	},
	{
		CodeSequenceGap, ClassBroken, "entries are missing, or the name of a segment says so",
		"look for the missing sequences in archives and backups, and ask who could delete them",
	},
	{
		CodeSequenceDuplicate, ClassBroken, "a sequence stands a second time or out of order, or the name of a segment says so",
		"look for two writers, a restored backup or lines that were copied or moved",
	},
	{
		CodeJournalIDMismatch, ClassBroken, "an entry belongs to another journal",
		"find out which journal it came from; segments were mixed or swapped",
	},
	{
		CodeTornTail, ClassBroken, "the last line has no end",
		"if the writer runs, verify again; if it has stopped, start it, so that it records what a crash tore off, or compare with an archive",
	},
	{
		CodeCheckpointSignatureInvalid, ClassBroken, "a checkpoint of the journal is signed by no key that is trusted for it",
		"find out who could write to the place of the checkpoint, and whether the registry has the key that signed then",
	},
	{
		CodeCheckpointInconsistent, ClassBroken, "the entries that stand here do not give the root of a checkpoint",
		"compare the journal with an archived copy up to the size of the checkpoint; entries up to there are not those that it covers",
	},
	{
		CodeTruncated, ClassBroken, "a checkpoint covers entries that are not there: the end of the journal is missing",
		"look for the missing entries in archives and backups, and ask who could cut them off or put an old copy back",
	},
	{
		CodeFork, ClassBroken, "a trusted key signed two histories of the journal: two checkpoints, or a checkpoint and the entries, contradict each other",
		"treat the key as stolen or the writer as dishonest, keep both histories, and find out which of them others have seen",
	},
	{
		CodeArtifactDigestMismatch, ClassBroken, "a file that an entry names is not the one that it names",
		"compare the file with an archived copy; it was changed or damaged after the entry was written",
	},
	{
		CodeArtifactMissing, ClassBroken, "a file that an entry names is not there",
		"look for it in archives and backups; without it what the entry says of it cannot be checked",
	},
	{
		CodeSignatureNotPerformed, ClassUnchecked, "a signature was not checked",
		"get the key registry from its owner, not from the journal's directory, and verify again",
	},
	{
		CodeCheckpointNotPerformed, ClassUnchecked, "a checkpoint or what the policy demands of it was not checked",
		"get the key registry and the whole journal, or what the detail names, and verify again",
	},
	{
		CodeFirstLinkUnanchored, ClassNote, "the journal begins after sequence 1, so what stood before is not proven",
		"compare previous_event_hash of the first entry with a hash kept apart from the journal when it was pruned",
	},
	{
		CodeTailUnattested, ClassNote, "nothing outside the journal says how far it went: entries cut off its end would not be missed",
		"compare last_sequence with a receipt or a checkpoint kept elsewhere",
	},
	{
		CodeTimeUnattested, ClassNote, "key validity was judged at recorded_at, the writer's own clock",
		"where time matters, look for evidence outside the journal that the entries existed then",
	},
	{
		CodeUnsupportedSchemaVersion, ClassNote, "an entry has a body or a version that this verifier does not know; nothing in it was interpreted",
		"verify with a newer version to have its schema checked",
	},
	{
		CodeClockRegressed, ClassNote, "the writer's clock went back between two entries",
		"rely on the sequence for order and ask how the writer's clock is synchronized",
	},
	{
		CodeSchemaNotPerformed, ClassNote, "entries were not held against the schemas of their bodies",
		"verify without leaving the schemas out",
	},
	{
		CodeLineageUnresolved, ClassNote, "a read has no lineage entry that names it, or an audit event names what no valid entry of its organization is about",
		"ask whether the trace was sampled or still open, or where the entry went that the event names; what it touched cannot be followed from these journals",
	},
	{
		CodeReconcileNotPerformed, ClassNote, "an audit event was not held, or not wholly, against the entries, artifacts and source effects that it names",
		"verify the directory with all journals of the organization, give its artifacts with --artifacts, and compare manifest and effects where these are",
	},
}

// CodeDocs returns what every code means, broken ones first.
func CodeDocs() []CodeDoc { return append([]CodeDoc(nil), codeDocs...) }

// Doc returns what a code means. A code of a newer version has an empty Code.
func (c Code) Doc() CodeDoc {
	for _, d := range codeDocs {
		if d.Code == c {
			return d
		}
	}
	return CodeDoc{}
}
