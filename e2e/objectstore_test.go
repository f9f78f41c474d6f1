// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

// objectStore is an S3 server in a process of its own.
type objectStore struct {
	t        *testing.T
	endpoint string
	client   *s3.Client
	argv     []string
	process  *exec.Cmd
}

const (
	storeUser   = "readtrail-e2e"
	storeSecret = "readtrail-e2e-secret"
	// storeStart is how long a server may take to answer on a machine that is busy.
	storeStart = 3 * time.Minute
)

// serverBinary returns a server that `make e2e` built.
func serverBinary(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(root, "bin", "servers", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("READTRAIL_E2E") != "" {
			t.Fatalf("make bin/servers/%s first: %v", name, err)
		}
		t.Skipf("%s is not built; `make e2e` builds it", name)
	}
	return path
}

// freePorts returns ports that nobody listens at, below those for outgoing calls
// so that 10000 can be added to each.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for port := 20000 + os.Getpid()%5000; len(ports) < n && port < 30000; port++ {
		for _, p := range []int{port, port + 10000} {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p))
			if err != nil {
				break
			}
			require.NoError(t, l.Close())
			if p > port {
				ports = append(ports, port)
			}
		}
	}
	require.Len(t, ports, n, "no free ports")
	return ports
}

// startVersity runs versitygw on a directory of the test.
func startVersity(t *testing.T) *objectStore {
	t.Helper()
	bin, dir := serverBinary(t, "versitygw"), t.TempDir()
	for _, d := range []string{"data", "versions", "iam"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o700))
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)[0])
	s := newStore(t, address, bin, "--port", address, "--access", storeUser, "--secret", storeSecret, "--quiet",
		"--iam-dir", filepath.Join(dir, "iam"), "posix", "--versioning-dir", filepath.Join(dir, "versions"), filepath.Join(dir, "data"))
	s.start()
	return s
}

// startSeaweed runs SeaweedFS, all of its servers in one process.
func startSeaweed(t *testing.T) *objectStore {
	t.Helper()
	bin, dir := serverBinary(t, "weed"), t.TempDir()
	identities := filepath.Join(dir, "s3.json")
	require.NoError(t, os.WriteFile(identities, fmt.Appendf(nil,
		`{"identities":[{"name":"e2e","credentials":[{"accessKey":%q,"secretKey":%q}],"actions":["Admin","Read","Write","List","Tagging"]}]}`,
		storeUser, storeSecret), 0o600))
	data := filepath.Join(dir, "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	p := freePorts(t, 4)
	flag := func(name string, port int) string { return fmt.Sprintf("-%s=%d", name, port) }
	s := newStore(t, fmt.Sprintf("127.0.0.1:%d", p[3]), bin, "-logtostderr=true", "-v=0", "server", "-dir="+data, "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
		flag("master.port", p[0]), flag("volume.port", p[1]), flag("filer.port", p[2]), flag("s3.port", p[3]), "-filer", "-s3", "-s3.config="+identities,
		"-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=100", "-master.volumeSizeLimitMB=64")
	s.start()
	return s
}

func newStore(t *testing.T, address string, argv ...string) *objectStore {
	s := &objectStore{t: t, endpoint: "http://" + address, argv: argv}
	s.client = s.as(storeUser, storeSecret)
	return s
}

// as returns a client with credentials of its own.
func (s *objectStore) as(user, secret string) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: &s.endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(user, secret, ""),
	})
}

// start starts the server and waits until it answers.
func (s *objectStore) start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.t.TempDir(), "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(s.t, err)
	s.process = exec.Command(s.argv[0], s.argv[1:]...)
	s.process.Stdout, s.process.Stderr = log, log
	// A group of its own: SeaweedFS may hang when it is told to end.
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(s.t, s.process.Start())
	require.NoError(s.t, log.Close())
	s.t.Cleanup(s.kill)
	ctx, cancel := context.WithTimeout(s.t.Context(), storeStart)
	defer cancel()
	for {
		_, err := s.client.ListBuckets(ctx, &s3.ListBucketsInput{})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			said, _ := os.ReadFile(log.Name())
			s.t.Fatalf("the server does not answer: %v\n%s", err, said[max(0, len(said)-4000):])
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kill ends the server at once, as often as it is called.
func (s *objectStore) kill() {
	if s.process.ProcessState == nil {
		_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
		_ = s.process.Wait()
	}
}

// bucket makes a bucket, with Object Lock or without.
func (s *objectStore) bucket(name string, lock bool) {
	s.t.Helper()
	var err error
	require.Eventually(s.t, func() bool {
		_, err = s.client.CreateBucket(context.WithoutCancel(s.t.Context()), &s3.CreateBucketInput{Bucket: &name, ObjectLockEnabledForBucket: aws.Bool(lock)})
		return err == nil
	}, storeStart, 100*time.Millisecond, "%v", &err)
}

// env is what the CLI and the collector need to talk to the server.
func (s *objectStore) env(user, secret string) []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + s.endpoint, "AWS_ACCESS_KEY_ID=" + user, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null",
	}
}

// cliTo runs the CLI against the server.
func (h *house) cliTo(env []string, args ...string) (int, string) {
	h.t.Helper()
	cmd := exec.Command(cliBin, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(h.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
