// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

// deciding is examples/synchronous.yaml with settings of the receiver.
func deciding(t *testing.T, settings string) *house {
	t.Helper()
	h := newHouse(t, "examples/synchronous.yaml")
	text, err := os.ReadFile(h.config)
	require.NoError(t, err)
	changed := strings.Replace(string(text), "    clients:\n", settings+"    clients:\n", 1)
	require.NotEqual(t, string(text), changed)
	h.config = filepath.Join(h.base, "collector.yaml")
	require.NoError(t, os.WriteFile(h.config, []byte(changed), 0o600))
	return h
}

func startDeciding(t *testing.T, h *house) *rig.Collector {
	t.Helper()
	c := h.start()
	c.Token = "e2e-token"
	return c
}

var sum8f = strings.Repeat("8f", 32)

// span is a span of an execution and step, with more attributes given as key, value.
func span(n int, execution, step string, attributes ...string) string {
	var texts []string
	for i := 0; i < len(attributes); i += 2 {
		texts = append(texts, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attributes[i], attributes[i+1]))
	}
	texts = append(texts,
		fmt.Sprintf(`{"key":"readtrail.execution.id","value":{"stringValue":%q}}`, execution),
		fmt.Sprintf(`{"key":"readtrail.step.id","value":{"stringValue":%q}}`, step))
	return fmt.Sprintf(`{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"%016x","name":"execute_tool","kind":1,`+
		`"startTimeUnixNano":"1791533523140000000","endTimeUnixNano":"1791533523400000000","attributes":[%s]}`, n, strings.Join(texts, ","))
}

func spans(s ...string) []byte {
	return []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(s, ",") + `]}]}]}`)
}

// shownToRun1 are the spans of run_1, in step s1 unless it is said, and of run_2.
func shownToRun1() []byte {
	tool := []string{"gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "crm.customer.get", "gen_ai.tool.call.id"}
	return spans(
		span(1, "run_1", "s1", append(tool, "call_1", "gen_ai.tool.call.result", `{"address":{"country":"FR"}}`)...),
		span(2, "run_2", "s1", append(tool, "call_2", "readtrail.read_id", "read_of_run_2")...),
		span(3, "run_1", "s1", append(tool, "call_3", "gen_ai.tool.call.result", "a passport", "readtrail.documents", `[{"id":"doc_1","checksum_sha256":"`+sum8f+`","with_content":true},{"id":"doc_named","checksum_sha256":"`+sum8f+`","with_content":false}]`)...),
		span(4, "run_1", "s2", append(tool, "call_4", "readtrail.documents", `[{"id":"doc_other_step","checksum_sha256":"`+sum8f+`","with_content":true}]`)...),
		span(7, "run_1", "s1", append(tool, "call_7", "readtrail.documents", `[{"id":"doc_not_captured","checksum_sha256":"`+sum8f+`","with_content":true}]`)...),
		span(5, "run_1", "s1", append(tool, "call_5", "readtrail.read_id", "read_retrieval", "readtrail.retrieval.index_id", "manual", "readtrail.retrieval.chunks", `[{"id":"chunk_1","score":0.5}]`)...),
		span(6, "run_1", "s1", append(tool, "call_6", "readtrail.read_id", "read_memory", "readtrail.memory.store_id", "notes", "readtrail.memory.entries", `[{"id":"mem_1","written_at":"2026-10-01T00:00:00Z"}]`)...),
	)
}

// decision is a decision of run_1 in step s1.
func decision(id string, sources map[string]string) string {
	fields, provenance := map[string]any{}, map[string]json.RawMessage{}
	for name, source := range sources {
		if fields[name] = struct{}{}; source != "" {
			provenance[name] = json.RawMessage(source)
		}
	}
	text, err := json.Marshal(map[string]any{"schema_version": "1.0.0", "decision_record": map[string]any{
		"decision_id": id, "occurred_at": "2026-10-09T08:15:00Z", "correlation": map[string]string{"execution_id": "run_1", "step_id": "s1"},
		"outcome": map[string]string{"name": "refer_to_analyst"}, "fields": fields, "field_provenance": provenance,
		"boundary": map[string]string{"data_boundary_ref": "boundary_eu_kyc", "purpose": "kyc-periodic-review"},
	}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func document(id, sum string) string {
	return fmt.Sprintf(`{"source":"document","document_id":%q,"checksum_sha256":%q,"page":1}`, id, sum)
}

// good are sources that run_1 was shown, one of each kind.
var good = map[string]string{
	"residence_country": `{"source":"tool","tool_call_id":"call_1","path":"$.address.country"}`,
	"id_expiry":         document("doc_1", sum8f),
	"policy":            `{"source":"retrieval","read_id":"read_retrieval","chunk_id":"chunk_1"}`,
	"note":              `{"source":"memory","read_id":"read_memory","entry_id":"mem_1"}`,
	"summary":           `{"source":"model","marked_for_reviewer":true}`,
}

// planted are violations of requirements B2 and B4, each of one field.
var planted = map[string]struct{ source, code string }{
	"no_source":           {"", "missing_field_provenance"},
	"call_that_was_not":   {`{"source":"tool","tool_call_id":"call_9","path":"$"}`, "missing_field_provenance"},
	"call_of_another_run": {`{"source":"tool","tool_call_id":"call_2","path":"$"}`, "missing_field_provenance"},
	"read_of_another_run": {`{"source":"tool","read_id":"read_of_run_2","path":"$"}`, "citation_wrong_execution"},
	"path_that_is_none":   {`{"source":"tool","tool_call_id":"call_1","path":"address.country"}`, "missing_field_provenance"},
	"other_step":          {document("doc_other_step", sum8f), "citation_not_shown"},
	"only_named":          {document("doc_named", sum8f), "citation_not_shown"},
	"result_not_captured": {`{"source":"tool","tool_call_id":"call_7","path":"$"}`, "content_unavailable"},
	"not_captured":        {document("doc_not_captured", sum8f), "content_unavailable"},
	"other_version":       {document("doc_1", strings.Repeat("00", 32)), "citation_not_shown"},
	"never_there":         {document("doc_9", sum8f), "missing_field_provenance"},
	"chunk_not_returned":  {`{"source":"retrieval","read_id":"read_retrieval","chunk_id":"chunk_2"}`, "citation_not_shown"},
	"memory_not_recalled": {`{"source":"memory","read_id":"read_memory","entry_id":"mem_2"}`, "citation_not_shown"},
	"not_marked":          {`{"source":"model","marked_for_reviewer":false}`, "model_value_unmarked"},
	"mark_unknown":        {`{"source":"model","marked_for_reviewer":"unknown"}`, "model_value_unmarked"},
}

type unmetField struct {
	Field string `json:"field"`
	Code  string `json:"code"`
}

// unmetIn returns what an answer with one receipt says is unmet.
func unmetIn(t *testing.T, answer string) []unmetField {
	t.Helper()
	var got struct {
		Receipts []struct {
			EventID string       `json:"event_id"`
			Unmet   []unmetField `json:"unmet"`
		} `json:"receipts"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
	require.Len(t, got.Receipts, 1, answer)
	require.NotEmpty(t, got.Receipts[0].EventID)
	return got.Receipts[0].Unmet
}

// recordedDecisions returns the decisions of the journal of actions, by their ids.
func (h *house) recordedDecisions() map[string][]unmetField {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "actions", "*.events"))
	require.NoError(h.t, err)
	out := map[string][]unmetField{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(h.t, err)
		for line := range strings.Lines(string(text)) {
			var e struct {
				Decision *struct {
					ID    string       `json:"decision_id"`
					Unmet []unmetField `json:"unmet"`
				} `json:"decision_record"`
			}
			require.NoError(h.t, json.Unmarshal([]byte(line), &e))
			if e.Decision != nil {
				require.NotContains(h.t, out, e.Decision.ID)
				out[e.Decision.ID] = e.Decision.Unmet
			}
		}
	}
	return out
}

// TestEachViolationOfProvenanceIsRefusedUnderEnforceAndRecordedInEitherMode plants each
// once, over a restart, beside a decision without any.
func TestEachViolationOfProvenanceIsRefusedUnderEnforceAndRecordedInEitherMode(t *testing.T) {
	for mode, refused := range map[string]int{"enforce": http.StatusUnprocessableEntity, "report": http.StatusOK} {
		t.Run(mode, func(t *testing.T) {
			h := deciding(t, "    field_provenance: "+mode+"\n    provenance_wait: 0s\n")
			c := startDeciding(t, h)
			status, text, err := c.Post(t.Context(), "/v1/traces", shownToRun1())
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status, text)
			for round := range 2 {
				code, text, _ := ask(t, c, "POST", "/v1/records", decision(fmt.Sprint("dec_good_", round), good))
				require.Equal(t, http.StatusOK, code, text)
				require.Empty(t, unmetIn(t, text))
				for name, p := range planted {
					body := decision(fmt.Sprint("dec_", name, "_", round), map[string]string{name: p.source, "residence_country": good["residence_country"]})
					code, text, _ := ask(t, c, "POST", "/v1/records", body)
					require.Equal(t, refused, code, text)
					require.Equal(t, []unmetField{{name, p.code}}, unmetIn(t, text))
					code, again, _ := ask(t, c, "POST", "/v1/records", body)
					require.Equal(t, refused, code, again)
					require.Equal(t, strings.ReplaceAll(text, `"repeat":false`, `"repeat":true`), again, "the same answer")
				}
				// A client does not say itself what is unmet.
				code, text, _ = ask(t, c, "POST", "/v1/records", strings.Replace(decision("dec_own", good), `"decision_id"`, `"unmet":[],"decision_id"`, 1))
				require.Equal(t, http.StatusBadRequest, code, text)
				require.Contains(t, text, "#/decision_record/unmet")
				if round == 0 {
					c.Kill() // the captures survive it
					c = startDeciding(t, h)
				}
			}
			require.NoError(t, c.Stop())
			h.requireVerified()
			got := h.recordedDecisions()
			require.Len(t, got, 2*len(planted)+2)
			for name, p := range planted {
				for round := range 2 {
					assert.Equal(t, []unmetField{{name, p.code}}, got[fmt.Sprint("dec_", name, "_", round)])
				}
			}
			require.Empty(t, got["dec_good_0"])
		})
	}
}

var waitingNow = regexp.MustCompile(`(?m)^otelcol_receiver_audit_event_waiting\S* 1$`)

// TestADecisionWhoseReadsArriveLaterIsAccepted sends the reads once the decision waits.
func TestADecisionWhoseReadsArriveLaterIsAccepted(t *testing.T) {
	h := deciding(t, "    field_provenance: enforce\n    provenance_wait: 20s\n")
	c := startDeciding(t, h)
	type answer struct {
		code int
		text string
	}
	answers := make(chan answer, 1)
	go func() {
		code, text, _ := ask(t, c, "POST", "/v1/records", decision("dec_1", good))
		answers <- answer{code, text}
	}()
	require.Eventually(t, func() bool {
		metrics, err := c.MetricsText(t.Context())
		return err == nil && waitingNow.MatchString(metrics)
	}, 15*time.Second, 20*time.Millisecond)
	require.Empty(t, answers)
	status, text, err := c.Post(t.Context(), "/v1/traces", shownToRun1())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, text)
	got := <-answers
	require.Equal(t, http.StatusOK, got.code, got.text)
	require.NoError(t, c.Stop())
	h.requireVerified()
	require.Equal(t, map[string][]unmetField{"dec_1": nil}, h.recordedDecisions())
}

// claiming is a context with one entry and a claim that cites some.
func claiming(id, execution, entry, cites string) string {
	return fmt.Sprintf(`{"schema_version":"1.0.0","context_record":{"context_id":%q,"occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":%q},`+
		`"model":{"request":"m"},"entries":[{"entry_id":%q,"object_id":"o","object_type":"t","property":"p","side":"data","origin":{"source":"s"}}],`+
		`"context_digest":"sha256:%s","context_canonicalization":"jcs","context_form":"entries","tool_calls_requested":[],"claims":[{"claim_id":"c1","entry_ids":[%s]}]}}`,
		id, execution, entry, sum8f, cites)
}

func TestClaimsAreMarkedOrRefused(t *testing.T) {
	for mode, refused := range map[string]int{"mark": http.StatusOK, "refuse": http.StatusUnprocessableEntity} {
		t.Run(mode, func(t *testing.T) {
			h := deciding(t, "    claims: "+mode+"\n    provenance_wait: 0s\n")
			c := startDeciding(t, h)
			for _, s := range []struct {
				body string
				code int
			}{
				{claiming("ctx_1", "run_1", "e1", `"e1"`), http.StatusOK},
				{claiming("ctx_2", "run_1", "e2", `"e1","e2"`), http.StatusOK},
				{claiming("ctx_3", "run_2", "e3", `"e1"`), refused},
				{claiming("ctx_4", "run_1", "e4", ``), refused},
			} {
				code, text, _ := ask(t, c, "POST", "/v1/records", s.body)
				require.Equal(t, s.code, code, text)
				if s.code != http.StatusOK {
					require.Contains(t, text, `"pointer":"#/context_record/claims/0"`)
				}
			}
			require.NoError(t, c.Stop())
			h.requireVerified()
			files, err := filepath.Glob(filepath.Join(h.journal, "*", "standard", "reads", "*.events"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			text, err := os.ReadFile(files[0])
			require.NoError(t, err)
			require.Equal(t, 2, strings.Count(string(text), `"supported":true`))
			unsupported := map[string]int{"mark": 2, "refuse": 0}[mode]
			require.Equal(t, unsupported, strings.Count(string(text), `"supported":false`))
		})
	}
}

// TestTheCommandsOfTheDecisionsDocumentPrintWhatItShows runs docs/decisions.md, in its
// order.
func TestTheCommandsOfTheDecisionsDocumentPrintWhatItShows(t *testing.T) {
	for _, program := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is missing")
		}
	}
	h := deciding(t, "    provenance_wait: 1s\n") // the document waits ten times as long
	c := startDeciding(t, h)
	text, err := os.ReadFile(filepath.Join(root, "docs", "decisions.md"))
	require.NoError(t, err)
	examples := shown.FindAllStringSubmatch(string(text), -1)
	require.Len(t, examples, 3)
	for _, example := range examples {
		script := strings.NewReplacer("http://localhost:4319", "http://"+c.API, "http://localhost:4318", "http://"+c.HTTP).Replace(example[1])
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir, cmd.Env = h.base, append(os.Environ(), "READTRAIL_TOKEN=e2e-token")
		got, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, got)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(example[2]), "…", ".*")
		require.Regexp(t, "^"+pattern+"$", string(got), script)
	}
	require.NoError(t, c.Stop())
	h.requireVerified()
}
