// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"strconv"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/readtrail/readtrail/record"
)

// DefaultMaxOutputBytes bounds each output of a command that is kept.
const DefaultMaxOutputBytes = 8 << 20

// SSHRunner runs commands on other hosts and records them. Its fields are not changed
// once it is in use.
type SSHRunner struct {
	// Executor does the recording. Required.
	Executor *Executor
	// Resolver says where a host that was asked for is, and with which account and
	// identity the command runs there. Required. It is asked twice, as that of a Transport.
	Resolver HostResolver
	// Identities resolves identity references to keys. Required.
	Identities Identities
	// HostKey verifies the server (golang.org/x/crypto/ssh/knownhosts). Required: a host
	// that nobody verified is not the host that was approved.
	HostKey ssh.HostKeyCallback
	// Dial connects. nil is that of net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// MaxOutputBytes bounds each of the command's outputs that is kept; what is over is
	// read and dropped. 0 is DefaultMaxOutputBytes.
	MaxOutputBytes int
}

// HostResolver resolves what was asked for to where it is.
type HostResolver interface {
	Resolve(ctx context.Context, host string, c Call) (Host, error)
}

// Host is a resolved SSH server.
type Host struct {
	// Name is a name or an address, Port its port: 0 is 22.
	Name string
	Port int
	// Account is the user there.
	Account string
	// IdentityRef names the identity to log in with, never its key. "" is that of
	// Call.CredentialRef.
	IdentityRef string
}

// Identities resolves references. It is asked once for each attempt, after the journal
// has permitted it.
type Identities interface {
	// Signers returns the keys of an identity. The text of its error is not passed on.
	Signers(ctx context.Context, ref string, to record.ActionTarget) ([]ssh.Signer, error)
}

// Result is what a command gave. It stands in no record but for the exit status.
type Result struct {
	Stdout, Stderr []byte
	// Truncated says that an output was longer than what is kept.
	Truncated bool
	// ExitStatus is the command's.
	ExitStatus int
}

// Run runs a command. Its context is from [WithCall], and its end ends the attempt. A
// command that ran and gave an exit status other than 0 is completed and no error. An
// error is an *[Error].
func (r *SSHRunner) Run(ctx context.Context, cmd Command) (*Result, error) {
	result, err := r.run(ctx, cmd)
	return result, noted(ctx, false, err)
}

func (r *SSHRunner) run(ctx context.Context, cmd Command) (*Result, error) {
	c, a, line, err := r.prepare(ctx, &cmd)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := r.Executor.plan(ctx, c, a); err != nil {
		return nil, err
	}
	target, err := r.resolve(ctx, c, &cmd, line)
	if err != nil {
		return nil, r.Executor.abandon(ctx, c, a, CodeResolutionFailed, err)
	}
	t, err := r.Executor.begin(ctx, c, a, *target)
	if err != nil {
		return nil, err
	}
	return r.send(ctx, c, t, line, cmd.Input)
}

// Plan makes a command durable as planned without running it, as [Transport.Plan] does.
func (r *SSHRunner) Plan(ctx context.Context, cmd Command) (*Plan, error) {
	c, a, _, err := r.prepare(ctx, &cmd)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := r.Executor.plan(ctx, c, a); err != nil {
		return nil, err
	}
	return a.asPlan(c), nil
}

// prepare finds the action that a command is, without writing anything.
func (r *SSHRunner) prepare(ctx context.Context, cmd *Command) (*call, *action, string, error) {
	c, err := callOf(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	line, err := cmd.line()
	if err != nil {
		return nil, nil, "", &Error{Code: CodeCommandInvalid, cause: err}
	}
	target, err := r.resolve(ctx, c, cmd, line)
	if err != nil {
		return nil, nil, "", &Error{Code: CodeResolutionFailed, cause: err}
	}
	f := fingerprint(sha256.Sum256([]byte("ssh\n" + target.Host + "\n" + target.Account + "\n" + strconv.FormatInt(target.Port, 10) + "\n" + line)))
	a, err := c.action(f, *target, "")
	return c, a, line, err
}

func (r *SSHRunner) resolve(ctx context.Context, c *call, cmd *Command, line string) (*record.ActionTarget, error) {
	h, err := r.Resolver.Resolve(ctx, cmd.Host, c.Call)
	if err != nil {
		return nil, err
	}
	ref := first(h.IdentityRef, c.CredentialRef)
	if h.Port == 0 {
		h.Port = 22
	}
	if h.Name == "" || h.Account == "" || ref == "" || h.Port < 0 || h.Port > 65535 {
		return nil, errors.New("boundary: the resolver left out the name, the account or the identity")
	}
	target := &record.ActionTarget{
		Channel: record.ChannelSSH, Host: h.Name, Port: int64(h.Port), Protocol: "ssh", Account: h.Account, CredentialRef: ref,
		CommandTemplate: cmd.Template, CommandDigest: r.Executor.digest([]byte(line)), Redaction: record.RedactionValues,
	}
	if cmd.Input != nil {
		target.BodyDigest = r.Executor.digest(cmd.Input)
	}
	return target, nil
}

// send runs a command that the journal has permitted.
func (r *SSHRunner) send(ctx context.Context, c *call, t *attempt, line string, input []byte) (*Result, error) {
	signers, err := r.Identities.Signers(ctx, t.to.CredentialRef, t.to)
	if err != nil || len(signers) == 0 {
		return nil, r.Executor.giveUp(ctx, c, t, CodeCredentialUnavailable, errNoCredentials)
	}
	session, conn, code, err := r.connect(ctx, t.to, signers)
	if err != nil {
		return nil, r.Executor.giveUp(ctx, c, t, code, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	stdout, stderr := &bounded{max: r.maxOutput()}, &bounded{max: r.maxOutput()}
	sent := &countedInput{r: bytes.NewReader(input)}
	session.Stdout, session.Stderr, session.Stdin = stdout, stderr, sent
	if err := ctx.Err(); err != nil {
		return nil, r.Executor.giveUp(ctx, c, t, endedBy(ctx, nil, err), err)
	}
	// From here on the command may be on its way.
	err = session.Run(line)
	bytes := int64(len(line)) + sent.n.Load()
	o := record.Outcome{BytesSent: &bytes, RemoteEffect: record.EffectUnknown}
	var exit *ssh.ExitError
	if err == nil || errors.As(err, &exit) {
		status := int64(0)
		if exit != nil {
			status = int64(exit.ExitStatus())
		} else {
			o.RemoteEffect = record.EffectConfirmed
		}
		o.ExitStatus = &status
		if err := r.Executor.end(ctx, c, t, record.ActionCompleted, o, nil); err != nil {
			return nil, err
		}
		return &Result{stdout.bytes(), stderr.bytes(), stdout.over || stderr.over, int(status)}, nil
	}
	o.Error = first(endedBy(ctx, nil, err), CodeConnectionLost)
	state := record.ActionUnknown
	if o.Error == CodeTimeout {
		state = record.ActionTimeout
	}
	return nil, r.Executor.end(ctx, c, t, state, o, err)
}

var errHostKey = errors.New("boundary: the server's host key is not the one that is known")

// connect logs in and opens a session. Nothing of the command leaves with it.
func (r *SSHRunner) connect(ctx context.Context, to record.ActionTarget, signers []ssh.Signer) (*ssh.Session, io.Closer, string, error) {
	if r.HostKey == nil {
		return nil, nil, CodeHostKeyRefused, errHostKey
	}
	dial := r.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	address := net.JoinHostPort(to.Host, strconv.FormatInt(to.Port, 10))
	raw, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, nil, first(endedBy(ctx, nil, err), CodeConnectionFailed), err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	var accepted, refused atomic.Bool
	conn, channels, requests, err := ssh.NewClientConn(raw, address, &ssh.ClientConfig{
		User: to.Account, Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyCallback: func(hostname string, remote net.Addr, key ssh.PublicKey) error {
			if r.HostKey(hostname, remote, key) != nil {
				refused.Store(true)
				return errHostKey
			}
			accepted.Store(true)
			return nil
		},
	})
	if err != nil {
		raw.Close()
		code := CodeConnectionFailed
		var broken net.Error
		switch {
		case refused.Load():
			code = CodeHostKeyRefused
		case accepted.Load() && ctx.Err() == nil && !errors.As(err, &broken) && !errors.Is(err, io.EOF):
			code = CodeLoginRefused
		}
		return nil, nil, first(endedBy(ctx, nil, err), code), err
	}
	client := ssh.NewClient(conn, channels, requests)
	session, err := client.NewSession()
	if err != nil {
		client.Close()
		return nil, nil, first(endedBy(ctx, nil, err), CodeConnectionFailed), err
	}
	return session, client, "", nil
}

func (r *SSHRunner) maxOutput() int {
	if r.MaxOutputBytes <= 0 {
		return DefaultMaxOutputBytes
	}
	return r.MaxOutputBytes
}
