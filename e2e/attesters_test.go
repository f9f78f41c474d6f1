// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"filippo.io/torchwood"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// attesterStart is how long a server may take to answer on a machine that is busy.
const attesterStart = 2 * time.Minute

// freeAddress returns an address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// background runs a server until it is stopped or the test ends.
func background(t *testing.T, ready string, argv ...string) (stop func()) {
	t.Helper()
	var output bytes.Buffer
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	deadline := time.After(attesterStart)
	for {
		response, err := http.Get(ready)
		if err == nil {
			response.Body.Close()
			return stop
		}
		select {
		case <-ended:
			require.FailNow(t, "server ended", "%v: %s", argv, output.String())
		case <-deadline:
			stop()
			require.FailNow(t, "server did not answer", "%v: %s", argv, output.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// witness is a litewitness in a process of its own. Its key is in an agent of this
// one.
type witness struct {
	t                             *testing.T
	address, database, socket     string
	key                           ed25519.PrivateKey
	fingerprint, verifierKey, url string
	stop                          func()
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	dir, err := os.MkdirTemp("", "witness") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	public, err := ssh.NewPublicKey(private.Public())
	require.NoError(t, err)
	verifier, err := torchwood.NewCosignatureVerifierFromKey("witness.example.com", private.Public())
	require.NoError(t, err)
	w := &witness{
		t: t, address: freeAddress(t), database: filepath.Join(dir, "witness.db"), socket: filepath.Join(dir, "agent"),
		key: private, fingerprint: ssh.FingerprintSHA256(public), verifierKey: verifier.String(),
	}
	w.url = "http://" + w.address
	w.serveKey()
	w.start()
	return w
}

// serveKey runs an agent for as long as the test does.
func (w *witness) serveKey() {
	keyring := agent.NewKeyring()
	require.NoError(w.t, keyring.Add(agent.AddedKey{PrivateKey: w.key}))
	l, err := net.Listen("unix", w.socket)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(keyring, conn) }()
		}
	}()
}

func (w *witness) start() {
	w.stop = background(w.t, w.url, serverBinary(w.t, "litewitness"),
		"-name", "witness.example.com", "-db", w.database, "-ssh-agent", w.socket, "-key", w.fingerprint, "-listen", w.address)
}

// trust has the witness take the checkpoints of a journal.
func (w *witness) trust(verifierKey string) {
	w.t.Helper()
	out, err := exec.Command(serverBinary(w.t, "trustlog"), w.database, verifierKey).CombinedOutput()
	require.NoError(w.t, err, string(out))
}

// startAuthority runs sigstore's time stamp authority with a key in memory, and
// returns its URL and a file with the certificates above its own.
func startAuthority(t *testing.T) (url, roots string) {
	t.Helper()
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	chainURL := "http://" + address + "/api/v1/timestamp/certchain"
	background(t, chainURL, serverBinary(t, "timestamp-server"), "serve",
		"--host", host, "--port", port, "--timestamp-signer", "memory", "--disable-ntp-monitoring")
	response, err := http.Get(chainURL)
	require.NoError(t, err)
	defer response.Body.Close()
	chain, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	// The tokens carry the first certificate of the chain, the signer's, alone.
	signer, above := pem.Decode(chain)
	require.NotNil(t, signer, string(chain))
	roots = filepath.Join(t.TempDir(), "tsa-roots.pem")
	require.NoError(t, os.WriteFile(roots, above, 0o600))
	return "http://" + address + "/api/v1/timestamp", roots
}
