// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// The examples of audit events are made here. They are frozen like the schema that
// they stand beside (requirement E6).
var update = flag.Bool("update", false, "write the published examples anew")

// exampleSeed is the whole secret of the key that signs the published examples. It
// stands here for everyone to read: the key is worth nothing.
const exampleSeed = "readtrail example key, worthless"

func exampleKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed([]byte(exampleSeed)) }

func july(seconds int) record.Time {
	return record.NewTime(time.Date(2026, 7, 28, 9, 30, seconds, 418_000_000, time.UTC))
}

// of is a digest as an example shows one.
func of(text string) string { return journal.SpellHash(sha256.Sum256([]byte(text))) }

// completeExecution is the fictional credit decision of the published dictionary, from
// the request to the proof.
func completeExecution() *record.AuditEvent {
	return &record.AuditEvent{
		EventID: "evt_01JZ8V4R9K2Q7M1W3D5N6P8X0A", EventType: record.AuditActionCompleted, OccurredAt: july(41),
		Correlation: record.AuditCorrelation{
			CorrelationID: "case_syn_20260728_0193", ExecutionID: "run_syn_0193",
			TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331",
		},
		Actors: record.AuditActors{
			Requester: "user_syn_credit_clerk", Agent: "agent_credit_review", AccountableOwner: "role_head_credit_operations",
			DelegatedUser: "user_syn_credit_clerk", ServiceIdentity: "spiffe://bank.example/agents/credit-review",
		},
		Components: record.AuditComponents{
			Agent:          record.AuditAgent{Release: "2026.7.3", ConfigDigest: of("agent configuration")},
			Model:          &record.AuditModel{Provider: "example", Name: "example-model", Version: "2026-06-01", ConfigDigest: of("model configuration")},
			PromptTemplate: &record.AuditPromptTemplate{ID: "credit-review", Version: "12", Digest: of("prompt template")},
			Orchestrator:   &record.AuditOrchestrator{Name: "example-orchestrator", Version: "1.9.0"},
		},
		Requested: record.AuditRequestedAction{
			Action: "credit.application.set_disposition", Purpose: "credit-decision", Resource: "credit_application:syn_0193",
			DataBoundaryRef: "boundary_eu_credit", Environment: "production",
			Amount: &record.AuditMoney{Value: "48000.00", Currency: "EUR"},
		},
		Policy: record.AuditPolicy{
			DecisionID: "pdec_syn_0193", PolicyID: "credit-disposition", PolicyVersion: "4.2.1",
			PolicyDigest: of("policy 4.2.1"), InputsDigest: of("policy inputs"), Decision: record.PolicyRequireApproval,
			MatchedRuleIDs: []string{"amount-above-25000"}, ReasonCodes: []string{"senior_underwriter_required"}, EvaluatedAt: july(4),
		},
		Approval: &record.AuditApproval{
			RequestID: "areq_syn_0193", RequiredRole: "senior_underwriter", Decision: record.AuditApproved,
			Reviewer:    &record.AuditReviewer{Identity: "user_syn_senior_underwriter", Kind: record.AuditReviewerHuman, Role: "senior_underwriter"},
			RequestedAt: july(5), DecidedAt: july(38), ExpiresAt: july(605),
		},
		ToolCalls: []record.AuditToolCall{{
			CallID: "call_syn_0193_07", Attempt: 1, ToolID: "loan.application.update", ToolVersion: "2026-05-11", Status: record.AuditCallSucceeded,
			ArgumentsDigest: of(`{"disposition":"approved"}`), ArgumentsCanonicalization: "jcs", ArgumentsSize: 26,
			ResultDigest: of(`{"ok":true}`), ResultCanonicalization: "jcs", ResultSize: 11,
			StartedAt: july(39), EndedAt: july(40), IdempotencyToken: "idem_syn_0193",
			DownstreamEffects: []record.AuditDownstreamEffect{{
				Target: "loan-origination", Receipt: "rcpt_syn_88213", BeforeDigest: of("application before"), AfterDigest: of("application after"), OccurredAt: july(40),
			}},
		}},
		Execution: record.AuditExecution{Status: record.AuditExecutionSucceeded, BusinessOutcome: record.AuditOutcomeAchieved},
		Lineage: record.AuditLineage{
			LineageRef: "lineage_syn_0193",
			EventIDs:   []string{"evt_syn_request", "evt_syn_policy", "evt_syn_approval", "evt_syn_tool"},
		},
		Evidence: record.AuditEvidence{
			ManifestRef: "manifest_syn_0193",
			Artifacts: []record.AuditArtifact{
				{ArtifactRef: "policy/4.2.1", Digest: of("policy 4.2.1"), MediaType: "application/json"},
				{ArtifactRef: "approval/areq_syn_0193", Digest: of("approval view"), MediaType: "application/json"},
			},
		},
		Privacy: record.AuditPrivacy{
			Classification: "confidential", RedactionStatus: record.AuditRedacted, AccessPolicyRef: "access_credit_audit",
			Redactions: []record.AuditRedaction{{Pointer: "/tool_calls/0/arguments_digest", Method: "digest", ReasonCode: "customer_data"}},
		},
	}
}

// deniedAction is an action that the policy blocked: no tool was called.
func deniedAction() *record.AuditEvent {
	e := completeExecution()
	e.EventID, e.EventType, e.OccurredAt = "evt_01JZ8V7C0T4E9H2J5K6M8N1P3Q", record.AuditActionDenied, july(4)
	e.Correlation.CorrelationID, e.Correlation.ExecutionID = "case_syn_20260728_0194", "run_syn_0194"
	e.Correlation.TraceID, e.Correlation.SpanID = "1bf7651916cd43dd8448eb211c80319d", "c7ad6b7169203332"
	e.Requested.Resource, e.Requested.Amount = "credit_application:syn_0194", &record.AuditMoney{Value: "510000.00", Currency: "EUR"}
	e.Policy.DecisionID, e.Policy.Decision = "pdec_syn_0194", record.PolicyBlock
	e.Policy.MatchedRuleIDs, e.Policy.ReasonCodes = []string{"amount-above-500000"}, []string{"agent_not_authorized_for_amount"}
	e.Approval, e.ToolCalls = nil, []record.AuditToolCall{}
	e.Execution = record.AuditExecution{Status: record.AuditExecutionDenied, BusinessOutcome: record.AuditOutcomeNotAchieved}
	e.Lineage = record.AuditLineage{LineageRef: "lineage_syn_0194", EventIDs: []string{"evt_syn_request_0194", "evt_syn_policy_0194"}}
	e.Evidence = record.AuditEvidence{ManifestRef: "manifest_syn_0194", Artifacts: e.Evidence.Artifacts[:1]}
	e.Privacy.RedactionStatus, e.Privacy.Redactions = record.AuditRedactionNone, []record.AuditRedaction{}
	return e
}

// extendedExecution is completeExecution with what 1.1.0 adds.
func extendedExecution() *record.AuditEvent {
	e := completeExecution()
	e.EventID = "evt_01JZ8V9F2V6G0J4K7M8P0R3S5T"
	e.FieldProvenance = map[string]record.FieldSource{
		"disposition":   {Source: record.FromModel, MarkedForReviewer: record.MarkedYes},
		"annual_income": {Source: record.FromDocument, DocumentID: "doc_syn_771", ChecksumSHA256: strings.TrimPrefix(of("payslip"), "sha256:"), Page: 2},
		"risk_class":    {Source: record.FromTool, ToolCallID: "call_syn_0193_02", Path: "$.risk.class"},
		"sector":        {Source: record.FromRetrieval, ReadID: "read_syn_0193_03", ChunkID: "c-17"},
		"preference":    {Source: record.FromMemory, ReadID: "read_syn_0193_04", EntryID: "m-3"},
	}
	e.ContextIDs, e.ActionIDs, e.ReadIDs = []string{"ctx_syn_0193_05"}, []string{"act_syn_0193"}, []string{"read_syn_0193_02", "read_syn_0193_03"}
	return e
}

// envelopeOf seals an event as its producer did: with a verification that was made
// before it was published.
func envelopeOf(t *testing.T, e *record.AuditEvent, version string, sequence uint64, verification map[string]any) map[string]any {
	draft, err := record.NewBodyDraft(record.KindAuditEvent, version, true, e)
	require.NoError(t, err)
	body := draft.Complete(record.Completion{
		EventID: e.EventID, Sequence: sequence, RecordedAt: record.NewTime(e.OccurredAt.Std().Add(120 * time.Millisecond)),
		Scope: record.Scope{OrganizationRef: "org_syn_bank", Environment: "production", RetentionClass: "credit-7y", Region: "eu-central"},
	})
	public := exampleKey().Public().(ed25519.PublicKey)
	signature := map[string]any{"algorithm": "Ed25519", "key_id": journal.KeyID(public), "public_key": base64.StdEncoding.EncodeToString(public)}
	integrity := map[string]any{"canonicalization": "RFC8785", "hash_algorithm": "SHA-256", "signature": signature, "verification": verification}
	envelope := map[string]any{"schema_version": version, "audit_event": jsontext.Value(body), "integrity": integrity}
	resign(t, envelope)
	return envelope
}

// resign hashes and signs an envelope as it is.
func resign(t *testing.T, envelope map[string]any) {
	integrity := envelope["integrity"].(map[string]any)
	signature := integrity["signature"].(map[string]any)
	delete(integrity, "record_hash")
	delete(signature, "value")
	digest := sha256.Sum256(canonical(t, envelope))
	integrity["record_hash"] = journal.SpellHash(digest)
	signature["value"] = base64.StdEncoding.EncodeToString(ed25519.Sign(exampleKey(), digest[:]))
}

func pretty(t *testing.T, v any) []byte {
	value := jsontext.Value(canonical(t, v))
	require.NoError(t, value.Indent(jsontext.WithIndent("  ")))
	return append(value, '\n')
}

func canonical(t *testing.T, v any) []byte {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	value := jsontext.Value(text)
	require.NoError(t, value.Canonicalize())
	return value
}

func verified(status string, codes ...any) map[string]any {
	return map[string]any{"status": status, "failure_codes": append([]any{}, codes...), "verifier_version": "readtrail/0.1.0"}
}

// tampered is an event whose business outcome was changed after it was signed.
func tampered(t *testing.T) map[string]any {
	e := envelopeOf(t, completeExecution(), record.AuditEventVersion, 184, verified("failed", "record_hash_mismatch"))
	body := canonical(t, e["audit_event"])
	changed := bytes.Replace(body, []byte(`"business_outcome":"achieved"`), []byte(`"business_outcome":"not_achieved"`), 1)
	require.NotEqual(t, body, changed)
	e["audit_event"] = jsontext.Value(changed)
	return e
}

func exampleRegistry(t *testing.T) []byte {
	registry := &journal.Registry{}
	require.NoError(t, registry.Add(journal.TrustedKey(exampleKey().Public().(ed25519.PublicKey), time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))))
	text, err := registry.Marshal()
	require.NoError(t, err)
	return text
}

func TestThePublishedExamplesAreWhatTheirGeneratorMakes(t *testing.T) {
	for name, text := range map[string][]byte{
		"1.0.0/examples/complete-execution.json": pretty(t, envelopeOf(t, completeExecution(), record.AuditEventVersion, 184, verified("valid"))),
		"1.0.0/examples/denied-action.json":      pretty(t, envelopeOf(t, deniedAction(), record.AuditEventVersion, 185, verified("valid"))),
		"1.0.0/examples/tamper-failure.json":     pretty(t, tampered(t)),
		"1.0.0/examples/keys.json":               exampleRegistry(t),
		"1.1.0/examples/complete-execution.json": pretty(t, envelopeOf(t, extendedExecution(), record.AuditEventVersionExtended, 186, verified("valid"))),
		"1.1.0/examples/keys.json":               exampleRegistry(t),
	} {
		path := filepath.Join("audit-event", name)
		if *update {
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}
		published, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(published), string(text), name)
	}
}

func example(t *testing.T, name string) []byte {
	text, err := os.ReadFile(filepath.Join("audit-event", name))
	require.NoError(t, err)
	return text
}

func TestThePublishedExamplesFitTheirSchema(t *testing.T) {
	for _, name := range []string{"complete-execution", "denied-action", "tamper-failure"} {
		require.NoError(t, schema.Validate(record.KindAuditEvent, "1.0.0", example(t, "1.0.0/examples/"+name+".json")), name)
	}
	extended := example(t, "1.1.0/examples/complete-execution.json")
	require.NoError(t, schema.Validate(record.KindAuditEvent, "1.1.0", extended))
	require.Error(t, schema.Validate(record.KindAuditEvent, "1.0.0", extended), "a minor version is a version of its own (requirement E6)")
}

func TestThePublishedExamplesVerifyAsTheyShould(t *testing.T) {
	registry, err := journal.ParseRegistry(example(t, "1.0.0/examples/keys.json"))
	require.NoError(t, err)
	for name, want := range map[string]int{
		"1.0.0/examples/complete-execution.json": 0, "1.0.0/examples/denied-action.json": 0, "1.1.0/examples/complete-execution.json": 0,
		"1.0.0/examples/tamper-failure.json": 1,
	} {
		e := journal.VerifyEnvelope(example(t, name), journal.Options{Registry: registry})
		require.Equal(t, want, e.ExitCode(), "%s: %+v", name, e)
		if want == 1 {
			require.Equal(t, journal.CodeRecordHashMismatch, e.Report().FirstBad.Code)
			require.Equal(t, journal.Failed, e.Hash)
		}
	}
}

// A key that an envelope carries proves nothing (requirement E5).
func TestAnExampleWithoutTheRegistryIsNotVerified(t *testing.T) {
	e := journal.VerifyEnvelope(example(t, "1.0.0/examples/complete-execution.json"), journal.Options{})
	require.Equal(t, journal.NotPerformed, e.Signature)
	require.Equal(t, 2, e.ExitCode())
	other, _, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	registry := &journal.Registry{}
	require.NoError(t, registry.Add(journal.TrustedKey(other, time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))))
	e = journal.VerifyEnvelope(example(t, "1.0.0/examples/complete-execution.json"), journal.Options{Registry: registry})
	require.Equal(t, journal.CodeKeyUnknown, e.Report().FirstBad.Code)
	require.Equal(t, 1, e.ExitCode())
}
