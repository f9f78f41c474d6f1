// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/internal/sshtest"
)

// places resolve what agents ask for. A test moves them.
type places struct {
	mu                       sync.Mutex
	web, ssh, webRef, sshRef string
}

func (p *places) move(web, ssh, ref string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if web != "" {
		p.web = web
	}
	if ssh != "" {
		p.ssh = ssh
	}
	if ref != "" {
		p.webRef, p.sshRef = ref, ref
	}
}

func (p webPlaces) Resolve(_ context.Context, r *http.Request, _ boundary.Call) (boundary.Resolved, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := *r.URL
	u.Scheme, u.Host = "http", strings.TrimPrefix(p.web, "http://")
	return boundary.Resolved{URL: &u, CredentialRef: p.webRef}, nil
}

func (p sshPlaces) Resolve(context.Context, string, boundary.Call) (boundary.Host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, port, err := net.SplitHostPort(p.ssh)
	if err != nil {
		return boundary.Host{}, err
	}
	n, err := strconv.Atoi(port)
	return boundary.Host{Name: name, Port: n, Account: "deploy", IdentityRef: p.sshRef}, err
}

// webTarget is an HTTP server that remembers what it was asked.
type webTarget struct {
	*httptest.Server
	mu     sync.Mutex
	tokens []string
	held   func()
}

func newWebTarget(t *testing.T) *webTarget {
	w := &webTarget{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.mu.Lock()
		w.tokens = append(w.tokens, r.Header.Get("Idempotency-Key"))
		held := w.held
		w.held = nil
		w.mu.Unlock()
		if held != nil {
			held()
		}
		if strings.HasSuffix(r.URL.Path, "/conflict") {
			rw.WriteHeader(http.StatusConflict)
		}
		_, _ = io.WriteString(rw, "CANARY-answer-1")
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *webTarget) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tokens)
}

func (w *webTarget) hold() (<-chan struct{}, func()) {
	there, released := make(chan struct{}), make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = func() {
		close(there)
		<-released
	}
	var end sync.Once
	return there, func() { end.Do(func() { close(released) }) }
}

func (s *stage) holdSSH() (<-chan struct{}, func()) {
	there, released := make(chan struct{}), make(chan struct{})
	var first, end sync.Once
	s.sshAnswer = func(sshtest.Command) (string, int) {
		first.Do(func() {
			close(there)
			<-released
		})
		return "", 0
	}
	return there, func() { end.Do(func() { close(released) }) }
}
