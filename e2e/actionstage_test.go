// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/internal/rig"
	"github.com/readtrail/readtrail/internal/sshtest"
	"github.com/readtrail/readtrail/record"
)

// A stage is a collector with the synchronous path, an executor, and the two kinds of
// target on loopback.
type stage struct {
	*house
	collector *rig.Collector
	executor  *boundary.Executor
	web       *webTarget
	ssh       *sshtest.Server
	// places is what both resolvers say.
	places *places
	api    string

	// sshAnswer is what the SSH server does with a command, nil for status 0.
	sshAnswer func(sshtest.Command) (string, int)
}

const (
	apiToken  = "CANARY-token-1"
	webSecret = "Bearer CANARY-secret-1"
)

func newStage(t *testing.T) *stage {
	t.Helper()
	h := newHouse(t, "e2e/testdata/actions.yaml")
	api := freeAddress(t)
	h.extraEnv = []string{"READTRAIL_ACTIONS=" + api, "READTRAIL_TOKEN=" + apiToken}
	s := &stage{house: h, api: api, web: newWebTarget(t)}
	s.ssh = sshtest.Start(t, "deploy", func(c sshtest.Command) (string, int) {
		if s.sshAnswer != nil {
			return s.sshAnswer(c)
		}
		return "CANARY-output-1", 0
	})
	s.places = &places{web: s.web.URL, ssh: s.ssh.Address, webRef: "ops-deploy", sshRef: "ops-ssh"}
	s.executor = &boundary.Executor{Journal: s.client(), Actor: boundary.NewActor("agent_process", "spiffe://acme/deployer"), RecordTimeout: 30 * time.Second}
	s.collector = h.start()
	return s
}

// client takes only receipts that the journal's own key signed.
func (s *stage) client() *boundary.Client {
	s.t.Helper()
	text, err := os.ReadFile(s.registry)
	require.NoError(s.t, err)
	var registry struct {
		Keys []struct{ X, Kid string }
	}
	require.NoError(s.t, json.Unmarshal(text, &registry))
	c := journalClient(s.api)
	c.Keys = map[string]ed25519.PublicKey{}
	for _, key := range registry.Keys {
		c.Keys[key.Kid], err = base64.RawURLEncoding.DecodeString(key.X)
		require.NoError(s.t, err)
	}
	return c
}

func journalClient(api string) *boundary.Client {
	return &boundary.Client{URL: "http://" + api, MaxTries: 3, MaxWait: time.Second, Authorize: func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+apiToken)
		return nil
	}}
}

// end stops the collector and demands that all journals verify.
func (s *stage) end() {
	s.t.Helper()
	require.NoError(s.t, s.collector.Stop())
	s.requireVerified()
}

type webPlaces struct{ *places }

type sshPlaces struct{ *places }

// keyring gives out the secrets.
type keyring struct{ login ssh.Signer }

func (keyring) Secret(context.Context, string, record.ActionTarget) (string, error) {
	return webSecret, nil
}

func (k keyring) Signers(context.Context, string, record.ActionTarget) ([]ssh.Signer, error) {
	return []ssh.Signer{k.login}, nil
}

// A channel is one of the ways out of the executor.
type channel struct {
	name string
	// act carries out the same action each time.
	act func(context.Context) error
	// arrived counts what reached the target.
	arrived func() int
	// hold has the next thing that reaches the target wait; it says when it is there.
	hold func() (there <-chan struct{}, release func())
}

func (s *stage) channels() []channel {
	return []channel{
		{"http", s.post, s.web.count, s.web.hold},
		{"ssh", s.restart, func() int { return len(s.ssh.Commands()) }, s.holdSSH},
	}
}

func (s *stage) transport() *boundary.Transport {
	return &boundary.Transport{Executor: s.executor, Credentials: keyring{}, Resolver: webPlaces{s.places}}
}

func (s *stage) post(ctx context.Context) error {
	return postThrough(ctx, s.transport())
}

func postThrough(ctx context.Context, transport *boundary.Transport) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://prod/v1/releases/CANARY-path-1?q=CANARY-query-1", strings.NewReader("CANARY-body-1"))
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}

func (s *stage) restart(ctx context.Context) error {
	runner := &boundary.SSHRunner{Executor: s.executor, Resolver: sshPlaces{s.places}, Identities: keyring{s.ssh.Login}, HostKey: ssh.FixedHostKey(s.ssh.HostKey)}
	_, err := runner.Run(ctx, boundary.Command{
		Host: "prod", Template: "systemctl restart {unit}", Values: map[string]string{"unit": "CANARY-unit-1"}, Input: []byte("CANARY-input-1"),
	})
	return err
}

// aCall is what the tool publish_release was called with.
func aCall() boundary.Call {
	return boundary.Call{
		ExecutionID: "run_8d43", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", ParentSpanID: "b7ad6b7169203331", ToolID: "publish_release", CallID: "call_1",
		ArgumentsDigest: "sha256:" + strings.Repeat("1", 64), PathTemplate: "/v1/releases/{name}",
	}
}

// actionEntry is an entry about an action or an approval as a stranger reads it.
type actionEntry struct {
	Kind string `json:"-"`
	header
	ActionID   string            `json:"action_id"`
	AttemptID  string            `json:"attempt_id"`
	Attempt    int               `json:"attempt"`
	EdgeType   string            `json:"edge_type"`
	State      string            `json:"state"`
	Actor      map[string]string `json:"actor"`
	Requested  map[string]any    `json:"requested"`
	Action     map[string]any    `json:"action"`
	Token      string            `json:"idempotency_token"`
	ApprovalID string            `json:"approval_id"`
	Outcome    map[string]any    `json:"outcome"`
	AttemptIDs []string          `json:"attempt_ids"`
	LinkedSpan map[string]string `json:"linked_span"`
	OccurredAt string            `json:"occurred_at"`

	ApprovalKind string         `json:"kind"`
	Binds        map[string]any `json:"binds"`
	Decision     string         `json:"decision"`
	ExpiresAt    string         `json:"expires_at"`
}

// name is what happened: planned, sent, ..., approval requested, ...
func (e *actionEntry) name() string {
	if e.Kind == "approval_record" {
		return "approval " + e.ApprovalKind
	}
	return e.State
}

// actions returns the entries about actions and approvals from the segment files.
func (h *house) actions() []actionEntry {
	h.t.Helper()
	var all []actionEntry
	for _, line := range h.lines() {
		var bodies map[string]json.RawMessage
		require.NoError(h.t, json.Unmarshal(line, &bodies))
		for _, kind := range []string{"action_record", "approval_record"} {
			if bodies[kind] == nil {
				continue
			}
			e := actionEntry{Kind: kind}
			require.NoError(h.t, json.Unmarshal(bodies[kind], &e), string(line))
			all = append(all, e)
		}
	}
	return all
}

func stepsOf(entries []actionEntry) []string {
	var all []string
	for i := range entries {
		all = append(all, entries[i].name())
	}
	return all
}

// only returns the entries about one action.
func only(entries []actionEntry, actionID string) []actionEntry {
	var own []actionEntry
	for _, e := range entries {
		if e.ActionID == actionID {
			own = append(own, e)
		}
	}
	return own
}
