// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/extension/auditjournalextension"
	"github.com/readtrail/readtrail/internal/headroom"
)

// BenchmarkApart is BenchmarkLatency with the receiver, the bare handler and the clients
// in a process each, as users have them: the garbage of the clients and of the other
// server is no longer collected in the time of a request.
func BenchmarkApart(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(clientGC))
	benchLatencies(b, func(b *testing.B, signatures auditjournalextension.Signatures) (ours, bare string) {
		return serveApart(b, string(signatures)), serveApart(b, bareServer)
	})
}

// clientGC lets the clients, which are elsewhere as a rule, leave the processors to the
// servers: a cycle of their garbage collector takes all of them for some milliseconds.
const clientGC = 1600

const (
	// servedVariable says what a process of this test serves: bareServer or the
	// signatures of a journal.
	servedVariable = "READTRAIL_LATENCY_SERVED"
	bareServer     = "bare"
	// servedAt begins the line in which it says where.
	servedAt = "served at "
)

// serveApart starts a server in another process of this test and returns where it is.
func serveApart(b *testing.B, what string) (url string) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestServedApart$")
	cmd.Env = append(os.Environ(), servedVariable+"="+what)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close() // which ends it
		_, _ = io.Copy(io.Discard, out)
		require.NoError(b, cmd.Wait())
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), servedAt); found {
			return url
		}
	}
	b.Fatal("the server did not start")
	return ""
}

// TestServedApart is a server of BenchmarkApart until its input ends.
func TestServedApart(t *testing.T) {
	what := os.Getenv(servedVariable)
	if what == "" {
		t.Skip("only BenchmarkApart starts it")
	}
	defer headroom.Keep(headroom.Default)() // as the distribution does
	var url string
	switch what {
	case bareServer:
		url = newBareHandler(t)
	default:
		url = newCollector(t, auditjournalextension.Signatures(what))
	}
	fmt.Println(servedAt + url)
	_, err := io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
}
