// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/record"
)

// The functions above the tests are those that docs/boundary.md shows.

func newExecutor(collector, token, stateDir string) (*boundary.Executor, error) {
	executor := &boundary.Executor{
		Journal: &boundary.Client{
			URL: collector, // such as https://collector:4319
			Authorize: func(r *http.Request) error {
				r.Header.Set("Authorization", "Bearer "+token)
				return nil
			},
		},
		Actor:    boundary.NewActor("agent_process", "spiffe://acme/deployer"),
		Attempts: boundary.Directory(stateDir),
	}
	// What another life of this process left without an outcome.
	_, err := executor.Recover(context.Background())
	return executor, err
}

// vault resolves references where secrets are kept.
type vault struct{ dir string }

func (v vault) Secret(_ context.Context, ref string, _ record.ActionTarget) (string, error) {
	token, err := os.ReadFile(filepath.Join(v.dir, ref))
	return "Bearer " + strings.TrimSpace(string(token)), err
}

func publish(ctx context.Context, executor *boundary.Executor, vault boundary.Credentials, base *http.Transport, baseURL string) error {
	client := &http.Client{Transport: &boundary.Transport{Executor: executor, Credentials: vault, Base: boundary.Counting(base)}}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // not http.Client.Timeout, which hides the error
	defer cancel()
	ctx = boundary.WithCall(ctx, boundary.Call{
		ExecutionID:     "run_8d43",
		TraceID:         "4bf92f3577b34da6a3ce929d0e0e4736",
		ParentSpanID:    "b7ad6b7169203331",
		ToolID:          "publish_release",
		CallID:          "call_1",
		ArgumentsDigest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		CredentialRef:   "ops-deploy",
		PathTemplate:    "/v1/releases/{name}",
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/v1/releases/customer-api", strings.NewReader(`{"release":"2025.03.08-rc2"}`))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return boundary.Failure(ctx, err) // nothing was sent, or it may have had an effect: the *boundary.Error says which
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return boundary.Failure(ctx, err)
}

// explain is what a tool may tell its agent.
func explain(err error) string {
	var failed *boundary.Error
	switch {
	case err == nil:
		return "done"
	case !errors.As(err, &failed):
		return "whether anything was sent is not known"
	case failed.MayHaveHadEffect():
		return fmt.Sprintf("it may have had an effect: %s, action %s", failed.Code, failed.ActionID)
	default:
		return "nothing was sent: " + failed.Code
	}
}

// reviewDesk asks people, one for each action that changes something.
type reviewDesk struct {
	ask func(context.Context, boundary.ApprovalRequest) (bool, record.Reviewer, error)
}

func (d reviewDesk) Terms(_ context.Context, p boundary.Pending) (boundary.Terms, error) {
	if p.Target.Method == http.MethodGet {
		return boundary.Terms{}, nil // none is needed
	}
	return boundary.Terms{ValidFor: 15 * time.Minute, EffectSummary: "Publishes a release", RequiredRole: "release_manager"}, nil
}

func (d reviewDesk) Decide(ctx context.Context, r boundary.ApprovalRequest) (boundary.Decision, error) {
	approved, reviewer, err := d.ask(ctx, r) // shows r.Pending.Target, the account, the credential reference
	return boundary.Decision{Approved: approved, Reviewer: reviewer}, err
}

func restartUnit(ctx context.Context, executor *boundary.Executor, inventory boundary.HostResolver, identities boundary.Identities, knownHosts string) (*boundary.Result, error) {
	hostKey, err := knownhosts.New(knownHosts)
	if err != nil {
		return nil, err
	}
	runner := &boundary.SSHRunner{Executor: executor, Resolver: inventory, Identities: identities, HostKey: hostKey}
	ctx = boundary.WithCall(ctx, boundary.Call{ExecutionID: "run_8d43", ToolID: "restart_service", CallID: "call_2"})
	return runner.Run(ctx, boundary.Command{
		Host: "prod", Template: "systemctl restart {unit}", Values: map[string]string{"unit": "customer-api"},
	})
}

// toolServer carries out calls that come over HTTP from whoever they come.
func toolServer(run func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upstream := boundary.Upstream{Traceparent: r.Header.Get("Traceparent")}
		if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
			upstream.AuthenticatedBy = r.TLS.VerifiedChains[0][0].Subject.String()
		}
		ctx := boundary.WithCall(r.Context(), boundary.Call{ExecutionID: r.Header.Get("Execution-Id"), CallID: r.Header.Get("Call-Id"), Upstream: upstream})
		if err := run(ctx); err != nil {
			http.Error(w, explain(err), http.StatusBadGateway)
		}
	})
}

func enqueue(ctx context.Context, transport *boundary.Transport, req *http.Request) ([]byte, error) {
	plan, err := transport.Plan(req.WithContext(ctx)) // planned, and approved if it has to be; not sent
	if err != nil {
		return nil, err
	}
	return json.Marshal(boundary.Job{ExecutionID: plan.ExecutionID, TraceID: plan.TraceID, SpanID: plan.SpanID, Plan: plan})
}

// carryOut returns, with an error, the payload to deliver if the job is to be tried again.
func carryOut(ctx context.Context, client *http.Client, payload []byte, queue string, req *http.Request) (again []byte, err error) {
	job, err := boundary.ParseJob(payload)
	if err != nil {
		return nil, err
	}
	ctx = boundary.WithCall(ctx, boundary.Call{Job: job, CredentialRef: "ops-deploy", Upstream: boundary.Upstream{AuthenticatedBy: queue}})
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		job.Plan = boundary.PlanOf(ctx) // which knows the attempts so far
		again, unspelled := json.Marshal(job)
		return again, errors.Join(boundary.Failure(ctx, err), unspelled)
	}
	return nil, resp.Body.Close()
}

// goBlock is a block of Go in a document.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

func TestTheGoOfTheDocumentIsTheGoThatIsTested(t *testing.T) {
	document, err := os.ReadFile(filepath.Join(root, "docs", "boundary.md"))
	require.NoError(t, err)
	source, err := os.ReadFile("boundarydocs_test.go")
	require.NoError(t, err)
	blocks := goBlock.FindAllStringSubmatch(string(document), -1)
	require.Greater(t, len(blocks), 6)
	for _, block := range blocks {
		require.Contains(t, string(source), block[1])
	}
}

// TestTheExecutorOfTheDocumentWorks does what docs/boundary.md says, against the
// collector.
func TestTheExecutorOfTheDocumentWorks(t *testing.T) {
	s := newStage(t)
	secrets := vault{t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(secrets.dir, "ops-deploy"), []byte("CANARY-secret-1\n"), 0o600))
	executor, err := newExecutor("http://"+s.api, apiToken, s.notes())
	require.NoError(t, err)
	require.Equal(t, "done", explain(publish(t.Context(), executor, secrets, &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}, s.web.URL)))

	asked := 0
	executor.Approver = reviewDesk{func(_ context.Context, r boundary.ApprovalRequest) (bool, record.Reviewer, error) {
		asked++
		return asked == 1, record.Reviewer{Identity: "erika", Role: "release_manager"}, nil
	}}
	known := filepath.Join(s.base, "known_hosts")
	require.NoError(t, os.WriteFile(known, []byte(knownhosts.Line([]string{s.ssh.Address}, s.ssh.HostKey)+"\n"), 0o600))
	result, err := restartUnit(t.Context(), executor, sshPlaces{s.places}, keyring{s.ssh.Login}, known)
	require.NoError(t, err)
	require.Zero(t, result.ExitStatus)
	_, err = restartUnit(t.Context(), executor, sshPlaces{s.places}, keyring{s.ssh.Login}, known)
	require.Equal(t, "nothing was sent: conflict", explain(err), "the same call of the same run is the same action")
	executor.Approver = nil

	transport := &boundary.Transport{Executor: executor, Credentials: secrets}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.web.URL+"/v1/releases/x", nil)
	require.NoError(t, err)
	payload, err := enqueue(boundary.WithCall(t.Context(), boundary.Call{ExecutionID: "run_9", CallID: "call_9", CredentialRef: "ops-deploy"}), transport, req)
	require.NoError(t, err)
	transport.Credentials = vault{t.TempDir()} // where the secret is not yet
	client := &http.Client{Transport: transport}
	again, err := carryOut(t.Context(), client, payload, "CN=queue", req)
	require.Equal(t, "nothing was sent: credential_unavailable", explain(err))
	transport = &boundary.Transport{Executor: executor, Credentials: secrets}
	client = &http.Client{Transport: transport}
	_, err = carryOut(t.Context(), client, payload, "CN=queue", req)
	require.Equal(t, "nothing was sent: attempt_taken", explain(err), "the payload of before")
	_, err = carryOut(t.Context(), client, again, "CN=queue", req)
	require.NoError(t, err)
	require.Equal(t, 2, s.web.count())
	s.end()
	entries := s.actions()
	require.Equal(t, []string{
		"planned", "sent", "completed",
		"planned", "approval requested", "approval decided", "sent", "completed",
		"planned", "sent", "failed_before_send", "sent", "completed",
	}, stepsOf(entries))
	require.Equal(t, "authenticated:bearertokenauth", entries[9].ObservedBy["upstream_context_source"])
}

// signersOf is what an SSH agent or a file gives; it holds the interface of the document.
var _ boundary.Identities = keyring{ssh.Signer(nil)}

func TestTheToolServerOfTheDocumentMarksWhatNobodyVouchesFor(t *testing.T) {
	s := newStage(t)
	handler := toolServer(s.post)
	serve := func(r *http.Request) {
		r.Header.Set("Execution-Id", "run_8d43")
		r.Header.Set("Traceparent", "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01")
		handler.ServeHTTP(discardResponse{}, r)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://tool.example/", nil)
	require.NoError(t, err)
	serve(r)
	s.end()
	require.Equal(t, "unverified_input", s.actions()[0].ObservedBy["upstream_context_source"])
}

type discardResponse struct{}

func (discardResponse) Header() http.Header         { return http.Header{} }
func (discardResponse) Write(p []byte) (int, error) { return len(p), nil }
func (discardResponse) WriteHeader(int)             {}
