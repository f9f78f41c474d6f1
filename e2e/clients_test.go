// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/readtrail/readtrail/internal/rig"
)

// tenants is the collector of e2e/testdata/clients.yaml.
type tenants struct {
	*house
	collector *rig.Collector
	// refusals are the texts that clients got.
	refusals []string

	ca                          *certificates
	grpcTLS, httpTLS, httpToken string
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	s := &tenants{
		house: newHouse(t, "e2e/testdata/clients.yaml"), ca: newCertificates(t),
		grpcTLS: freeAddress(t), httpTLS: freeAddress(t), httpToken: freeAddress(t),
	}
	s.ca.issue("server", &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}})
	for _, organization := range []string{"Acme", "Beta"} {
		s.ca.issue(organization, &x509.Certificate{Subject: pkix.Name{CommonName: "agents", Organization: []string{organization}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	s.extraEnv = []string{
		"READTRAIL_GRPC_CERTIFICATES=" + s.grpcTLS, "READTRAIL_HTTP_CERTIFICATES=" + s.httpTLS, "READTRAIL_HTTP_TOKEN=" + s.httpToken, "READTRAIL_TLS=" + s.ca.dir,
	}
	return s
}

// basic is the header of a client of basicauth.
func basic(user string) string {
	password := map[string]string{"agents-acme": "CANARY-password-1", "agents-beta": "CANARY-password-2", "agents-gone": "CANARY-password-3"}[user]
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// tenant is a request whose only resource chooses an organization.
func tenant(organization string, body []byte) []byte {
	return []byte(strings.Replace(string(body), `{"scopeSpans":`, `{"resource":{"attributes":[{"key":"tenant","value":{"stringValue":"`+organization+`"}}]},"scopeSpans":`, 1))
}

// post sends over OTLP/HTTP and returns the HTTP status.
func (s *tenants) post(client *http.Client, url, authorization string, body []byte) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, url+"/v1/traces", bytes.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := client.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	if res.StatusCode != http.StatusOK {
		s.refusals = append(s.refusals, string(text))
	}
	return res.StatusCode
}

// export sends over OTLP/gRPC and returns the code.
func (s *tenants) export(address string, security credentials.TransportCredentials, authorization string, body []byte) codes.Code {
	s.t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(security))
	require.NoError(s.t, err)
	defer conn.Close()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(body)
	require.NoError(s.t, err)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if authorization != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
	}
	_, err = ptraceotlp.NewGRPCClient(conn).Export(ctx, ptraceotlp.NewExportRequestFromTraces(td), grpc.WaitForReady(true))
	if err != nil {
		s.refusals = append(s.refusals, err.Error())
	}
	return status.Code(err)
}

// decide sends a decision of acme that cites one read of run_1.
func (s *tenants) decide(id string) (int, []unmetField) {
	s.t.Helper()
	code, text, _ := ask(s.t, s.collector, "POST", "/v1/records", decision(id, map[string]string{"residence_country": good["residence_country"]}), "Authorization", basic("agents-acme"))
	return code, unmetIn(s.t, text)
}

// readsFor is how many reads stand in the journal of an organization.
func (s *tenants) readsFor(organization string) int {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.journal, organization, "default", "reads", "*.events"))
	require.NoError(s.t, err)
	require.NotEmpty(s.t, files)
	n := 0
	for _, file := range files {
		n += strings.Count(readFile(s.t, file), `"read_record":`)
	}
	return n
}

// readOfRun1 is the read that the decision cites.
var readOfRun1 = spans(span(1, "run_1", "s1", "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "crm.customer.get", "gen_ai.tool.call.id", "call_1",
	"gen_ai.tool.call.arguments", `{"id":"CANARY-arguments-1"}`, "gen_ai.tool.call.result", `{"address":{"country":"CANARY-country-1"}}`))

var forbiddenScope = regexp.MustCompile(`(?m)^otelcol_exporter_audit_journal_refusals\S*\{.*reason="scope_forbidden".*\} (\d+)$`)

// TestAClientPlantsNoReadsForAnotherOrganization has a client of beta send the read that
// a decision of acme cites (contract 7, requirements D5 and E2).
func TestAClientPlantsNoReadsForAnotherOrganization(t *testing.T) {
	s := newTenants(t)
	s.collector = s.start()
	c, plain := s.collector, insecure.NewCredentials()
	planted, own := tenant("acme", readOfRun1), tenant("beta", readOfRun1)
	overHTTP := "http://" + c.HTTP

	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, overHTTP, basic("agents-beta"), planted))
	require.Equal(t, codes.PermissionDenied, s.export(c.GRPC, plain, basic("agents-beta"), planted))
	both := []byte(strings.TrimSuffix(string(own), "]}") + "," + strings.TrimPrefix(string(planted), `{"resourceSpans":[`))
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, overHTTP, basic("agents-beta"), both), "as a whole")
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, overHTTP, basic("agents-beta"), readOfRun1), "the base scope is nobody's")
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, overHTTP, basic("agents-gone"), own), "it is in no binding")
	require.Equal(t, http.StatusUnauthorized, s.post(http.DefaultClient, overHTTP, "Basic CANARY-basic-1", own))
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, "http://"+s.httpToken, "Bearer e2e-token", planted), "a token says nothing of a client")
	require.Equal(t, codes.PermissionDenied, s.export(s.grpcTLS, s.ca.security("Beta"), "", planted))
	require.Equal(t, http.StatusForbidden, s.post(s.ca.client("Acme"), "https://"+s.httpTLS, "", planted), "a pipeline is told nothing of a certificate over HTTP")

	for _, organization := range []string{"platform", "acme", "beta"} {
		require.Zero(t, s.readsFor(organization), organization)
	}
	metrics, err := c.MetricsText(t.Context())
	require.NoError(t, err)
	counted := forbiddenScope.FindStringSubmatch(metrics)
	require.NotNil(t, counted, metrics)
	require.Equal(t, "8", counted[1])
	requireWell(t, c)
	code, unmet := s.decide("dec_planted")
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Equal(t, []unmetField{{"residence_country", "missing_field_provenance"}}, unmet)

	// What is a client's own is taken, by each of the ways on which it is known.
	require.Equal(t, http.StatusOK, s.post(http.DefaultClient, overHTTP, basic("agents-beta"), own))
	require.Equal(t, codes.OK, s.export(s.grpcTLS, s.ca.security("Beta"), "", tenant("beta", spans(span(2, "run_1", "s1", "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "f")))))
	code, _ = s.decide("dec_of_beta")
	require.Equal(t, http.StatusUnprocessableEntity, code, "what beta read is no read of acme")
	require.Equal(t, codes.OK, s.export(c.GRPC, plain, basic("agents-acme"), planted))
	code, unmet = s.decide("dec_own")
	require.Equal(t, http.StatusOK, code)
	require.Empty(t, unmet)

	require.NoError(t, c.Stop())
	s.requireVerified()
	require.Equal(t, []int{0, 1}, []int{s.readsFor("platform"), s.readsFor("acme")})
	require.Contains(t, c.Output(), "Refused telemetry that chooses an organization or retention class which its client may not write to")
	require.NotContains(t, c.Output(), "Every client may write for every organization")
	var sources []string
	for _, read := range s.reads() {
		sources = append(sources, read.ObservedBy["upstream_context_source"].(string))
	}
	require.ElementsMatch(t, []string{"authenticated:agents-acme", "authenticated:agents-beta", "authenticated:CN=agents,O=Beta"}, sources)
	require.NotContains(t, c.Output(), "CANARY-")
	require.Len(t, s.refusals, 9)
	require.Contains(t, s.refusals[0], "this client may not write for the organization, or to the retention class, that a resource of this request chooses")
	for _, text := range s.refusals {
		for _, secret := range []string{"CANARY-", "acme", "beta", "call_1", "run_1"} {
			assert.NotContains(t, text, secret)
		}
	}
}

// TestWithoutClientsAPlantedReadConfirmsAndTheCollectorWarns is the same attack where
// nobody is bound: the test above would not notice otherwise that it tests nothing.
func TestWithoutClientsAPlantedReadConfirmsAndTheCollectorWarns(t *testing.T) {
	s := newTenants(t)
	text := readFile(t, s.config)
	begin, end := strings.Index(text, "    clients:\n      - {subject: agents-acme"), strings.Index(text, "\nservice:")
	s.variant(text[begin:end], "")
	s.collector = s.start()
	require.Equal(t, http.StatusOK, s.post(http.DefaultClient, "http://"+s.collector.HTTP, basic("agents-beta"), tenant("acme", readOfRun1)))
	code, _ := s.decide("dec_planted")
	require.Equal(t, http.StatusOK, code)
	require.NoError(t, s.collector.Stop())
	require.Equal(t, 1, strings.Count(s.collector.Output(), "Every client may write for every organization: set exporters::audit_journal::clients to say who writes for whom"))
}

// TestAnExporterWithoutClientsDoesNotStartBesideOneThatHasSome leaves the list out of the
// exporter of one pipeline.
func TestAnExporterWithoutClientsDoesNotStartBesideOneThatHasSome(t *testing.T) {
	s := newTenants(t)
	s.variant("exporters:\n  audit_journal:\n", "exporters:\n  audit_journal/open:\n  audit_journal:\n",
		"processors: [read_record/token], exporters: [audit_journal]", "processors: [read_record/token], exporters: [audit_journal/open]")
	_, err := rig.Start(t.Context(), s.rigConfig())
	require.ErrorContains(t, err, "exporters::audit_journal/open::clients must be set, since exporters::audit_journal has clients and writes to the same journals of audit_journal")
}

// docs/operate.md: a shared token names nobody, so that each organization has an exporter.
func TestAnExporterForASharedTokenBindsAllOfItsClients(t *testing.T) {
	s := newTenants(t)
	s.variant("exporters:\n", "exporters:\n  audit_journal/acme: {clients: [{subject: \"*\", organization_ref: acme}]}\n",
		"processors: [read_record/token], exporters: [audit_journal]", "processors: [read_record/token], exporters: [audit_journal/acme]")
	s.collector = s.start()
	const token = "Bearer e2e-token"
	require.Equal(t, http.StatusOK, s.post(http.DefaultClient, "http://"+s.httpToken, token, tenant("acme", readOfRun1)))
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, "http://"+s.httpToken, token, tenant("beta", readOfRun1)))
	require.Equal(t, http.StatusForbidden, s.post(http.DefaultClient, "http://"+s.collector.HTTP, basic("agents-gone"), tenant("acme", readOfRun1)), "who comes by another port is not meant")
	require.NoError(t, s.collector.Stop())
	require.Equal(t, []int{1, 0}, []int{s.readsFor("acme"), s.readsFor("beta")})
	require.Equal(t, "authenticated:bearertokenauth", s.reads()[0].ObservedBy["upstream_context_source"])
}
