// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// bank is a directory with the journals of organizations.
type bank struct {
	t      *testing.T
	dir    string
	signer journal.Signer
}

func newBank(t *testing.T) *bank {
	b := &bank{t: t, dir: t.TempDir()}
	var err error
	b.signer, err = writeFixtureKeys(b.dir)
	require.NoError(t, err)
	return b
}

// path returns the path of what lies below the directory.
func (b *bank) path(elements ...string) string {
	return filepath.Join(append([]string{b.dir}, elements...)...)
}

// kept is a body and the version of its schema.
type kept struct {
	draft   *record.Draft
	version string
}

func (b *bank) draft(d *record.Draft, err error) kept {
	require.NoError(b.t, err)
	return kept{d, record.SchemaVersion}
}

// journal writes a journal at organization/class/kind, two entries a segment.
func (b *bank) journal(path, id string, bodies ...kept) {
	opened := b.draft(record.NewJournalDraft(&record.Journal{Header: record.Header{EventType: record.EventJournalOpened}}))
	names := strings.Split(path, "/")
	dir := b.path("journal", path)
	require.NoError(b.t, os.MkdirAll(dir, 0o755))
	previous := ""
	var segment []byte
	bodies = append([]kept{opened}, bodies...)
	for i, k := range bodies {
		sequence := uint64(i + 1)
		body := k.draft.Complete(record.Completion{
			EventID: orElse(k.draft.EventID(), fmt.Sprintf("evt_%s_%d", id, sequence)), JournalID: id, Sequence: sequence,
			RecordedAt:  record.NewTime(fixtureStart.Add(time.Duration(sequence) * time.Second)),
			Scope:       record.Scope{OrganizationRef: names[0], Environment: "production", RetentionClass: names[1]},
			CollectorID: "collector-1", Parts: k.draft.Parts(),
		})
		unsigned := journal.Assemble(k.draft.Kind(), k.version, body, previous, b.signer)
		previous = unsigned.RecordHash()
		line, err := unsigned.Sign(b.signer)
		require.NoError(b.t, err)
		segment = append(segment, line...)
		if i%2 == 1 || i == len(bodies)-1 {
			require.NoError(b.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%020d.events", i/2*2+1)), segment, 0o644))
			segment = nil
		}
	}
}

func (b *bank) read(id, call string) kept {
	r := fixtureRead(id, record.SignalSpan, "crm.customer.get", record.Correlation{ExecutionID: "run_1", TraceID: trace, SpanID: "b7ad6b7169203331"})
	r.ToolCallID = call
	return b.draft(record.NewReadDraft(r, true))
}

// action is a planned action and a context, and a call that was sent for it.
func (b *bank) action(id, call string) []kept {
	drafts, err := actionDrafts()
	require.NoError(b.t, err)
	var out []kept
	for _, d := range drafts[:1] {
		var a record.Action
		require.NoError(b.t, json.Unmarshal(d.Body(), &a))
		a.ActionID, a.IdempotencyToken, a.Correlation.CallID = id, record.IdempotencyToken(id), call
		out = append(out, b.draft(record.NewBodyDraft(record.KindAction, record.SchemaVersion, true, &a)))
	}
	return out
}

// event is the published audit event with an id of its own and what edit makes of it.
func (b *bank) event(id string, edit func(event map[string]any)) kept {
	text, err := os.ReadFile("../../schema/audit-event/1.1.0/examples/complete-execution.json")
	require.NoError(b.t, err)
	var envelope struct {
		Event map[string]any `json:"audit_event"`
	}
	require.NoError(b.t, json.Unmarshal(text, &envelope))
	e := envelope.Event
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(e, own)
	}
	delete(e, "context_ids")
	e["event_id"], e["action_ids"], e["read_ids"] = id, []any{"act_1"}, []any{"read_1", "read_2"}
	e["lineage"].(map[string]any)["event_ids"] = []any{"evt_jrn_actions_2", "evt_jrn_reads_2"}
	e["tool_calls"].([]any)[0].(map[string]any)["call_id"] = "call_7"
	e["field_provenance"] = map[string]any{
		"sector": map[string]any{"source": "retrieval", "read_id": "read_2", "chunk_id": "c-17"},
		"a/b":    map[string]any{"source": "tool", "tool_call_id": "call_2", "path": "$.risk.class"},
	}
	if edit != nil {
		edit(e)
	}
	body, err := json.Marshal(e)
	require.NoError(b.t, err)
	d, err := record.NewBodyDraft(record.KindAuditEvent, record.AuditEventVersionExtended, true, jsontext.Value(body))
	require.NoError(b.t, err)
	return kept{d, record.AuditEventVersionExtended}
}

// chain writes all that event names, over two journals of demo-bank.
func (b *bank) chain(events ...kept) {
	b.journal("demo-bank/kyc/reads", "jrn_reads", b.read("read_1", "call_1"), b.read("read_2", "call_2"))
	b.journal("demo-bank/kyc/actions", "jrn_actions", append(b.action("act_1", "call_7"), events...)...)
}

// answer is what verify says.
type answer struct {
	code           int
	stdout, stderr string
	journals       map[string]*journal.Report
}

// verify runs it twice, for people and for programs.
func (b *bank) verify(args ...string) answer {
	args = append([]string{"verify", "--keys", b.path("keys.json")}, args...)
	a := b.run(args...)
	document := b.run(append(args, "--json")...)
	require.Equal(b.t, a.code, document.code, "%s\n%s", a.stdout, document.stdout)
	var said struct {
		Journals []*journal.Report `json:"journals"`
	}
	require.NoError(b.t, json.Unmarshal([]byte(document.stdout), &said), document.stdout)
	a.journals = map[string]*journal.Report{}
	for _, r := range said.Journals {
		a.journals[r.JournalID] = r
	}
	return a
}

func (b *bank) run(args ...string) answer {
	dir := b.t.TempDir()
	var said [2]*os.File
	for i := range said {
		var err error
		said[i], err = os.Create(filepath.Join(dir, fmt.Sprint(i)))
		require.NoError(b.t, err)
	}
	a := answer{code: run(b.t.Context(), args, strings.NewReader(""), said[0], said[1])}
	for i, text := range []*string{&a.stdout, &a.stderr} {
		require.NoError(b.t, said[i].Close())
		printed, err := os.ReadFile(said[i].Name())
		require.NoError(b.t, err)
		*text = string(printed)
	}
	return a
}

func (b *bank) file(name, text string) string {
	path := b.path(name)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (b *bank) demands(what string) string {
	return b.file("policy-"+what+".json", `{"demand":["`+what+`"]}`)
}

// unresolved are the findings about ids.
func unresolved(r *journal.Report) (at []string) {
	for _, f := range r.Findings {
		if f.Code == journal.CodeLineageUnresolved {
			at = append(at, fmt.Sprintf("%s %d %s", f.Class, f.Sequence, f.Detail[strings.LastIndex(f.Detail, " ")+1:]))
		}
	}
	return at
}

// reconciled is the finding about what was not compared.
func reconciled(t *testing.T, r *journal.Report) journal.Finding {
	require.Equal(t, uint64(1), r.Counts[journal.CodeReconcileNotPerformed])
	for _, f := range r.Findings {
		if f.Code == journal.CodeReconcileNotPerformed {
			return f
		}
	}
	return journal.Finding{}
}

func TestWhatAnAuditEventNamesIsFoundOverAllJournals(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", nil))
	b.journal("other/kyc/reads", "jrn_other", b.read("read_1", ""))
	for _, target := range []string{b.path("journal"), b.path("journal", "demo-bank"), b.path("journal") + "/"} {
		a := b.verify(target, "--policy", b.demands("lineage"))
		r := a.journals["jrn_actions"]
		require.Equal(t, &journal.Reconciled{
			AuditEvents: 1, Lineage: journal.Valid, IDs: 8, Found: 8, Journals: 2, Artifacts: journal.NotPerformed, ArtifactsNamed: 2, Effects: journal.NotPerformed,
		}, r.Reconciled)
		require.Contains(t, a.stdout, "\nlineage: valid\nlineage_ids_found: 8 of 8, in 2 of the journals given\nartifacts: not_performed\nartifacts_compared: 0 of 2\neffects: not_performed\n")
		f := reconciled(t, r)
		require.Equal(t, journal.ClassNote, f.Class, "lineage is demanded and was found")
		require.Equal(t, "1 audit event; 2 artifacts not compared: no files were given; manifests and effects at the source are not compared", f.Detail)
		require.Nil(t, a.journals["jrn_reads"].Reconciled)
		require.NotContains(t, a.journals["jrn_reads"].Counts, journal.CodeReconcileNotPerformed)
		require.Contains(t, a.journals["jrn_reads"].Counts, journal.CodeLineageUnresolved, "reads have no lineage entry")
	}
	a := b.verify(b.path("journal"))
	require.Zero(t, a.code, a.stdout)
	require.Less(t, strings.Index(a.stdout, "journal: jrn_actions"), strings.Index(a.stdout, "journal: jrn_reads"), "reports keep their order")
}

func TestAnIDThatNoEntryHasIsUnresolved(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", func(e map[string]any) {
		e["lineage"].(map[string]any)["event_ids"] = []any{"evt_jrn_actions_2", "evt_gone", "evt_jrn_reads_2"}
		e["context_ids"] = []any{"ctx_gone"}
		e["action_ids"] = []any{"act_1", "read_1"} // a read is no action
		e["tool_calls"].([]any)[0].(map[string]any)["call_id"] = "call_gone"
		e["field_provenance"].(map[string]any)["a/b"].(map[string]any)["tool_call_id"] = "call_gone_too"
	}))
	a := b.verify(b.path("journal"))
	require.Zero(t, a.code, a.stdout)
	r := a.journals["jrn_actions"]
	require.Equal(t, []string{
		"note 3 /lineage/event_ids/1", "note 3 /context_ids/0", "note 3 /action_ids/1", "note 3 /tool_calls/0/call_id", "note 3 /field_provenance/a~1b/tool_call_id",
	}, unresolved(r))
	require.Equal(t, journal.NotPerformed, r.Reconciled.Lineage)
	require.Contains(t, a.stdout, "\nlineage: unresolved\nlineage_ids_found: 6 of 11, ")
	require.Contains(t, a.stdout, "note: lineage_unresolved at sequence 3 and 4 more: ")
	require.NotContains(t, a.stdout, "evt_gone", "reports show no ids")

	a = b.verify(b.path("journal"), "--policy", b.demands("lineage"))
	require.Equal(t, 2, a.code)
	require.Contains(t, a.stdout, "unchecked: lineage_unresolved at sequence 3 and 4 more: no valid entry of its organization has the id at /lineage/event_ids/1; ask ")
}

func TestWhatAnotherOrganizationHasDoesNotCount(t *testing.T) {
	b := newBank(t)
	b.journal("demo-bank/kyc/actions", "jrn_actions", append(b.action("act_1", "call_7"), b.event("evt_audit", nil))...)
	b.journal("other-bank/kyc/reads", "jrn_reads", b.read("read_1", "call_1"), b.read("read_2", "call_2"))
	r := b.verify(b.path("journal")).journals["jrn_actions"]
	require.Equal(t, []string{
		"note 3 /lineage/event_ids/1", "note 3 /read_ids/0", "note 3 /read_ids/1", "note 3 /field_provenance/sector/read_id", "note 3 /field_provenance/a~1b/tool_call_id",
	}, unresolved(r))
	require.Equal(t, 1, r.Reconciled.Journals)
}

func TestWhatOnlyABadEntryHasDoesNotCount(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", nil))
	// The signature of the read read_2 is changed.
	segment := b.path("journal", "demo-bank/kyc/reads", fmt.Sprintf("%020d.events", 3))
	data, err := os.ReadFile(segment)
	require.NoError(t, err)
	at := bytes.LastIndex(data, []byte(`"value":"`)) + len(`"value":"`)
	if data[at] == 'A' {
		data[at] = 'B'
	} else {
		data[at] = 'A'
	}
	require.NoError(t, os.WriteFile(segment, data, 0o644))
	a := b.verify(b.path("journal"))
	require.Equal(t, 1, a.code)
	require.Equal(t, journal.CodeSignatureInvalid, a.journals["jrn_reads"].FirstBad.Code, a.stdout)
	r := a.journals["jrn_actions"]
	require.Nil(t, r.FirstBad)
	require.Equal(t, []string{"note 3 /read_ids/1", "note 3 /field_provenance/sector/read_id", "note 3 /field_provenance/a~1b/tool_call_id"}, unresolved(r))
}

// A key that signs what it may not is no good either, though its signature verifies.
func TestWhatIsSignedByAKeyThatWasRevokedDoesNotCount(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", nil))
	keys, err := os.ReadFile(b.path("keys.json"))
	require.NoError(t, err)
	b.file("keys.json", strings.Replace(string(keys), `"kty":`, `"invalid_from_sequence":{"jrn_reads":3},"revoked_at":"2030-01-01T00:00:00Z","revocation_reason":"stolen","kty":`, 1))
	a := b.verify(b.path("journal"))
	require.Equal(t, 1, a.code)
	require.Equal(t, journal.CodeKeyRevoked, a.journals["jrn_reads"].FirstBad.Code, a.stdout)
	require.Len(t, unresolved(a.journals["jrn_actions"]), 3)
}

func TestWhatWasNotLookedThroughIsNeverUnresolvedAndNeverValid(t *testing.T) {
	b := newBank(t)
	b.chain(append([]kept{b.event("evt_audit", nil)}, b.action("act_2", "")...)...)
	actions := b.path("journal", "demo-bank/kyc/actions")
	flat := b.path("flat")
	require.NoError(t, os.CopyFS(filepath.Join(flat, "a"), os.DirFS(actions)))
	pruned := b.path("pruned", "demo-bank")
	require.NoError(t, os.CopyFS(pruned, os.DirFS(b.path("journal", "demo-bank"))))
	require.NoError(t, os.Remove(filepath.Join(pruned, "kyc/reads", fmt.Sprintf("%020d.events", 1))))
	broken := b.path("broken", "demo-bank")
	require.NoError(t, os.CopyFS(broken, os.DirFS(b.path("journal", "demo-bank"))))
	require.NoError(t, os.RemoveAll(filepath.Join(broken, "kyc/reads")))
	require.NoError(t, os.Symlink(b.path("nowhere"), filepath.Join(broken, "kyc/reads")))
	for name, c := range map[string]struct {
		args  []string
		found uint64
		said  string
		code  int
	}{
		"the journal alone":        {[]string{actions}, 3, "journals of the organization that are not below the target", 0},
		"one class":                {[]string{b.path("journal", "demo-bank/kyc")}, 8, "", 0},
		"a layout of its own":      {[]string{flat}, 3, "journals of the organization that are not below the target", 0},
		"a part":                   {[]string{b.path("journal"), "--from", "3"}, 3, "what stood before 3 in journal jrn_actions, what stood before 3 in journal jrn_reads", 0},
		"what does not reach far":  {[]string{b.path("pruned")}, 6, "what stood before 3 in journal jrn_reads", 0},
		"what could not be opened": {[]string{b.path("broken")}, 3, "journals that are missing or could not be verified", 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := b.verify(c.args...)
			require.Equal(t, c.code, a.code, a.stdout)
			r := a.journals["jrn_actions"]
			require.Equal(t, c.found, r.Reconciled.Found, a.stdout)
			require.Empty(t, unresolved(r))
			f := reconciled(t, r)
			if c.said == "" {
				require.Equal(t, journal.Valid, r.Reconciled.Lineage, "what is found is found")
				require.NotContains(t, f.Detail, "not found")
				return
			}
			require.Equal(t, journal.NotPerformed, r.Reconciled.Lineage)
			require.Contains(t, f.Detail, "not found, the first at sequence 3, /")
			require.Contains(t, f.Detail, "; not looked through: "+c.said+";")
			require.Contains(t, a.stdout, "\nlineage: not_performed\n")
			a = b.verify(append(c.args, "--policy", b.demands("lineage"))...)
			require.Equal(t, 2, a.code)
			require.Equal(t, journal.ClassUnchecked, reconciled(t, a.journals["jrn_actions"]).Class)
			require.NotContains(t, a.stdout, "lineage: valid")
		})
	}
}

func TestNothingIsLookedUpWithoutARegistry(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", nil))
	a := b.run("verify", b.path("journal"), "--artifacts", b.dir)
	require.Equal(t, 2, a.code)
	require.Contains(t, a.stdout, "\nlineage: not_performed\n")
	require.Contains(t, a.stdout, "of 1 that were not found valid themselves nothing was looked up")
	require.NotContains(t, a.stdout, "artifact_missing")
}

func TestEventsThatNameTheSameAreEachAnswered(t *testing.T) {
	b := newBank(t)
	missing := func(e map[string]any) { e["read_ids"] = []any{"read_1", "read_gone"} }
	b.chain(b.event("evt_audit_1", missing), b.event("evt_audit_2", missing), b.event("evt_audit_3", nil))
	r := b.verify(b.path("journal")).journals["jrn_actions"]
	require.Equal(t, []string{"note 3 /read_ids/1", "note 4 /read_ids/1"}, unresolved(r))
	require.Equal(t, uint64(24), r.Reconciled.IDs)
	require.Equal(t, uint64(22), r.Reconciled.Found)
	require.True(t, strings.HasPrefix(reconciled(t, r).Detail, "3 audit events; "))
}

func TestAnAuditEventThatIsNotValidIsNotLookedUp(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit_1", nil), b.event("evt_audit_2", nil))
	segment := b.path("journal", "demo-bank/kyc/actions", fmt.Sprintf("%020d.events", 3))
	data, err := os.ReadFile(segment)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(segment, bytes.Replace(data, []byte(`"read_2"`), []byte(`"read_9"`), 1), 0o644))
	r := b.verify(b.path("journal")).journals["jrn_actions"]
	require.Equal(t, journal.CodeRecordHashMismatch, r.FirstBad.Code)
	require.Equal(t, uint64(8), r.Reconciled.IDs)
	require.Empty(t, unresolved(r))
}

func TestAnAuditEventWithThousandsOfIDs(t *testing.T) {
	b := newBank(t)
	const many = 20_000
	ids := func(n int) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = fmt.Sprintf("e%d", i)
		}
		all[n/2] = "evt_jrn_actions_2"
		return all
	}
	b.chain(b.event("evt_audit_1", func(e map[string]any) { e["lineage"].(map[string]any)["event_ids"] = ids(many) }),
		b.event("evt_audit_2", func(e map[string]any) { e["lineage"].(map[string]any)["event_ids"] = ids(1 << 16) }),
		b.event("evt_audit_3", nil))
	a := b.verify(b.path("journal"), "--policy", b.demands("lineage"))
	require.Equal(t, 2, a.code)
	r := a.journals["jrn_actions"]
	require.Equal(t, uint64(many+6+8), r.Reconciled.IDs)
	require.Equal(t, uint64(15), r.Reconciled.Found)
	require.Equal(t, uint64(many-1), r.Counts[journal.CodeLineageUnresolved])
	require.Equal(t, []string{"unchecked 3 /lineage/event_ids/0"}, unresolved(r)[:1])
	f := reconciled(t, r)
	require.Equal(t, journal.ClassUnchecked, f.Class)
	require.Contains(t, f.Detail, "; of 1 nothing was looked up, because they name more than is looked up of one, or are of one organization too many; ")
}

func TestArtifactsAreHeldAgainstTheFilesGiven(t *testing.T) {
	b := newBank(t)
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	names := func(digests ...string) func(map[string]any) {
		return func(e map[string]any) {
			artifacts := []any{}
			for i, d := range digests {
				artifacts = append(artifacts, map[string]any{"artifact_ref": fmt.Sprint("part/", i), "digest": d})
			}
			e["evidence"].(map[string]any)["artifacts"] = artifacts
		}
	}
	policy, scan := "sha256:"+digest("the policy"), "sha256:"+digest("a scan")
	b.file("artifacts/"+digest("the policy"), "the policy")
	b.file("artifacts/"+digest("a scan"), "a scan")
	b.chain(b.event("evt_audit_1", names(policy, scan)), b.event("evt_audit_2", names(policy)), b.event("evt_audit_3", names()))

	demanded := b.demands("artifacts")
	a := b.verify(b.path("journal"), "--artifacts", b.path("artifacts"), "--policy", demanded)
	require.Zero(t, a.code, a.stdout)
	r := a.journals["jrn_actions"]
	require.Equal(t, []any{journal.Valid, uint64(3), uint64(3)}, []any{r.Reconciled.Artifacts, r.Reconciled.ArtifactsNamed, r.Reconciled.ArtifactsCompared})
	require.Contains(t, a.stdout, "\nartifacts: valid\nartifacts_compared: 3 of 3\n")

	// Without files nothing is missing, and nothing is valid.
	a = b.verify(b.path("journal"))
	require.Zero(t, a.code)
	require.Contains(t, a.stdout, "3 artifacts not compared: no files were given")
	a = b.verify(b.path("journal"), "--policy", demanded)
	require.Equal(t, 2, a.code)
	require.Equal(t, journal.ClassUnchecked, reconciled(t, a.journals["jrn_actions"]).Class)

	b.file("artifacts/"+digest("a scan"), "another scan")
	a = b.verify(b.path("journal"), "--artifacts", b.path("artifacts"))
	require.Equal(t, 1, a.code)
	r = a.journals["jrn_actions"]
	require.Equal(t, journal.CodeArtifactDigestMismatch, r.FirstBad.Code)
	require.Equal(t, uint64(3), r.FirstBad.Sequence)
	require.Contains(t, r.FirstBad.Detail, "/evidence/artifacts/1: the file "+digest("a scan")+" has sha256:"+digest("another scan"))
	require.Equal(t, journal.Failed, r.Reconciled.Artifacts)
	require.Equal(t, journal.Valid, r.Reconciled.Lineage, "what it names of entries is another matter")

	require.NoError(t, os.Remove(b.path("artifacts", digest("a scan"))))
	a = b.verify(b.path("journal"), "--artifacts", b.path("artifacts"))
	require.Equal(t, 1, a.code)
	require.Equal(t, journal.CodeArtifactMissing, a.journals["jrn_actions"].FirstBad.Code)

	// A link is no file.
	require.NoError(t, os.Symlink(b.path("artifacts", digest("the policy")), b.path("artifacts", digest("a scan"))))
	a = b.verify(b.path("journal"), "--artifacts", b.path("artifacts"))
	require.Equal(t, journal.CodeArtifactMissing, a.journals["jrn_actions"].FirstBad.Code)
	require.Contains(t, a.journals["jrn_actions"].FirstBad.Detail, "cannot be read")

	for _, target := range []string{"absent", "keys.json"} {
		a = b.verify(b.path("journal"), "--artifacts", b.path(target))
		require.Equal(t, 2, a.code)
		require.Contains(t, a.stderr, "artifacts: ")
	}
	require.Equal(t, 64, b.run("verify", b.path("journal"), "--artifacts", "").code)
}

func TestAKeyedDigestOfAnArtifactIsNotCompared(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", func(e map[string]any) {
		e["evidence"].(map[string]any)["artifacts"] = []any{map[string]any{"artifact_ref": "scan", "digest": "hmac-sha256:k1:" + strings.Repeat("0", 64)}}
	}))
	a := b.verify(b.path("journal"), "--artifacts", b.dir, "--policy", b.demands("artifacts"))
	require.Equal(t, 2, a.code)
	require.Equal(t, journal.NotPerformed, a.journals["jrn_actions"].Reconciled.Artifacts)
	require.Contains(t, a.stdout, "1 artifact not compared: the digest is keyed")
}

// An archive never has the end of a journal: what is not in it may come.
func TestAnArchiveDoesNotShowThatAnIDIsNowhere(t *testing.T) {
	s3test.Credentials(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", s3test.Start(t).URL)
	b := newBank(t)
	b.chain(append(append([]kept{b.event("evt_audit", nil)}, b.action("act_2", "")...), b.action("act_3", "")...)...)
	out := b.run("archive", "push", b.path("journal"), "s3://evidence/readtrail", "--keep", "kyc=3660")
	require.Zero(t, out.code, out.stderr)
	a := b.verify("s3://evidence/readtrail")
	require.Zero(t, a.code, a.stdout)
	r := a.journals["jrn_actions"]
	require.Equal(t, uint64(5), r.Reconciled.Found, "what the last segment of reads has is not in the archive yet")
	require.Empty(t, unresolved(r))
	require.Contains(t, reconciled(t, r).Detail, "3 ids not found, the first at sequence 3, /read_ids/1; not looked through: what is not archived yet, ")
}

func TestABundleIsHeldAgainstItself(t *testing.T) {
	b := newBank(t)
	b.chain(b.event("evt_audit", nil))
	manifest := b.path("manifest")
	require.Zero(t, b.run("keys", "new", "--out", manifest).code)
	packed, empty := b.path("all.tar"), b.path("checkpoints")
	require.NoError(t, os.Mkdir(empty, 0o755))
	out := b.run("bundle", b.path("journal"), "--sequence", "1-9", "--checkpoints", empty, "--keys", b.path("keys.json"), "--manifest-key", filepath.Join(manifest, "signing-key.pem"), "--out", packed)
	require.Zero(t, out.code, out.stderr)
	a := b.run("bundle", "verify", packed, "--keys", b.path("keys.json"), "--manifest-keys", filepath.Join(manifest, "keys.json"))
	require.Contains(t, a.stdout, "\naudit_events: 1\nlineage: valid\nlineage_ids_found: 8 of 8, in the bundle\nartifacts: not_performed\nartifacts_compared: 0 of 2\neffects: not_performed\n")
	require.Contains(t, a.stdout, "note: reconcile_not_performed; ")
}
