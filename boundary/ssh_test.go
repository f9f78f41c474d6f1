// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/readtrail/readtrail/internal/sshtest"
	"github.com/readtrail/readtrail/record"
)

// aliases resolves every name to one server.
type aliases struct{ host Host }

func (a aliases) Resolve(context.Context, string, Call) (Host, error) { return a.host, nil }

// identities has one identity.
type identities struct {
	signer ssh.Signer
	err    error
}

func (i identities) Signers(context.Context, string, record.ActionTarget) ([]ssh.Signer, error) {
	return []ssh.Signer{i.signer}, i.err
}

func newRunner(t *testing.T, f *fakeJournal, s *sshtest.Server) *SSHRunner {
	t.Helper()
	name, port, err := net.SplitHostPort(s.Address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return &SSHRunner{
		Executor: &Executor{Journal: f.client(), Actor: NewActor("agent_process", "deployer")},
		Resolver: aliases{Host{Name: name, Port: n, Account: "deploy", IdentityRef: "ops-ssh"}}, Identities: identities{signer: s.Login},
		HostKey: ssh.FixedHostKey(s.HostKey),
	}
}

func restart() Command {
	return Command{Host: "prod", Template: "systemctl restart {unit}", Values: map[string]string{"unit": "CANARY-unit-1; it's"}, Input: []byte("CANARY-input-1")}
}

func TestACommandIsPlannedThenPermittedThenRunThenRecorded(t *testing.T) {
	f := newFakeJournal(t)
	var atArrival []string
	s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) {
		atArrival = f.states()
		return "CANARY-output-1", 0
	})
	result, err := newRunner(t, f, s).Run(WithCall(t.Context(), aCall()), restart())
	require.NoError(t, err)
	require.Equal(t, &Result{Stdout: []byte("CANARY-output-1"), Stderr: nil}, result)
	require.Equal(t, []string{"planned", "sent"}, atArrival)
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())

	line := `systemctl restart 'CANARY-unit-1; it'\''s'`
	require.Equal(t, []sshtest.Command{{Account: "deploy", Line: line, Input: []byte("CANARY-input-1")}}, s.Commands())
	sent, completed := f.all()[1].Action, f.all()[2].Action
	e := &Executor{}
	require.Equal(t, record.ActionTarget{
		Channel: "ssh", Host: "127.0.0.1", Port: sent.Target.Port, Protocol: "ssh", Account: "deploy", CredentialRef: "ops-ssh", CommandTemplate: "systemctl restart {unit}",
		CommandDigest: e.digest([]byte(line)), BodyDigest: e.digest([]byte("CANARY-input-1")), Redaction: "values_left_out",
	}, sent.Target)
	require.Zero(t, *completed.Outcome.ExitStatus)
	require.Equal(t, int64(len(line)+len("CANARY-input-1")), *completed.Outcome.BytesSent)
	require.NotContains(t, f.text(), "CANARY")
}

func TestACommandThatLacksAValueIsToldFromAHostThatIsNotKnown(t *testing.T) {
	f := newFakeJournal(t)
	r := newRunner(t, f, sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) { return "", 0 }))
	_, err := r.Run(WithCall(t.Context(), aCall()), Command{Host: "prod", Template: "systemctl restart {unit}"})
	require.Equal(t, CodeCommandInvalid, failed(t, err).Code)
	r.Resolver = aliases{}
	_, err = r.Run(WithCall(t.Context(), aCall()), restart())
	require.Equal(t, CodeResolutionFailed, failed(t, err).Code)
	require.Empty(t, f.states())
}

func TestAnExitStatusIsAnOutcomeAndNoError(t *testing.T) {
	f := newFakeJournal(t)
	s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) { return "", 3 })
	result, err := newRunner(t, f, s).Run(WithCall(t.Context(), aCall()), restart())
	require.NoError(t, err)
	require.Equal(t, 3, result.ExitStatus)
	require.Equal(t, int64(3), *f.all()[2].Action.Outcome.ExitStatus)
	require.Equal(t, record.EffectUnknown, f.all()[2].Action.Outcome.RemoteEffect)
}

func TestACommandIsNotRunWithoutPermissionOrOnAnotherHost(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*fakeJournal, *SSHRunner)
		code   string
		states []string
	}{
		"refused": {
			func(f *fakeJournal, _ *SSHRunner) { f.setRefusal("sent", 409, "approval_not_bound") },
			"approval_not_bound",
			[]string{"planned", "failed_before_send"},
		},
		"another host key": {
			func(_ *fakeJournal, r *SSHRunner) { r.HostKey = ssh.FixedHostKey(sshtest.NewSigner(t).PublicKey()) },
			CodeHostKeyRefused,
			[]string{"planned", "sent", "failed_before_send"},
		},
		"no host keys": {
			func(_ *fakeJournal, r *SSHRunner) { r.HostKey = nil },
			CodeHostKeyRefused,
			[]string{"planned", "sent", "failed_before_send"},
		},
		"another identity": {
			func(_ *fakeJournal, r *SSHRunner) { r.Identities = identities{signer: sshtest.NewSigner(t)} },
			CodeLoginRefused,
			[]string{"planned", "sent", "failed_before_send"},
		},
		"no identity": {
			func(_ *fakeJournal, r *SSHRunner) { r.Identities = identities{err: errors.New("CANARY-key-1")} },
			CodeCredentialUnavailable,
			[]string{"planned", "sent", "failed_before_send"},
		},
		"nobody there": {
			func(_ *fakeJournal, r *SSHRunner) {
				r.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("CANARY-dial-1") }
			},
			CodeConnectionFailed,
			[]string{"planned", "sent", "failed_before_send"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeJournal(t)
			s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) { return "", 0 })
			r := newRunner(t, f, s)
			test.change(f, r)
			_, err := r.Run(WithCall(t.Context(), aCall()), restart())
			e := failed(t, err)
			require.Equal(t, test.code, e.Code)
			require.Equal(t, record.ActionFailedBeforeSend, e.State)
			require.Equal(t, test.states, f.states())
			require.Empty(t, s.Commands())
			require.NotContains(t, f.text(), "CANARY")
		})
	}
}

func TestACommandThatGivesNoStatusIsNotCalledFailed(t *testing.T) {
	t.Run("timeout", func(t *testing.T) {
		f := newFakeJournal(t)
		arrived, ended := make(chan struct{}), make(chan struct{})
		s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) {
			close(arrived)
			<-ended
			return "", 0
		})
		_, err := newRunner(t, f, s).Run(&untilReached{WithCall(t.Context(), aCall()), arrived}, restart())
		close(ended)
		require.Equal(t, record.ActionTimeout, failed(t, err).State)
		require.Equal(t, record.EffectUnknown, f.all()[2].Action.Outcome.RemoteEffect)
		require.Positive(t, *f.all()[2].Action.Outcome.BytesSent)
	})
	t.Run("lost", func(t *testing.T) {
		f := newFakeJournal(t)
		s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) { return "", -1 })
		_, err := newRunner(t, f, s).Run(WithCall(t.Context(), aCall()), restart())
		require.Equal(t, record.ActionUnknown, failed(t, err).State)
		require.Equal(t, CodeConnectionLost, f.all()[2].Action.Outcome.Error)
	})
}

func TestOutputIsBounded(t *testing.T) {
	f := newFakeJournal(t)
	s := sshtest.Start(t, "deploy", func(sshtest.Command) (string, int) { return strings.Repeat("x", 100), 0 })
	r := newRunner(t, f, s)
	r.MaxOutputBytes = 10
	result, err := r.Run(WithCall(t.Context(), aCall()), restart())
	require.NoError(t, err)
	require.Len(t, result.Stdout, 10)
	require.True(t, result.Truncated)
}

func TestACommandIsItsTemplateWithQuotedValues(t *testing.T) {
	line, err := (&Command{Template: "cp {a} {b} && ls {a}", Values: map[string]string{"a": "x y", "b": "$(id)"}}).line()
	require.NoError(t, err)
	require.Equal(t, "cp 'x y' '$(id)' && ls 'x y'", line)
	for _, c := range []Command{
		{Template: ""},
		{Template: "ls {a}"},
		{Template: "ls {a", Values: map[string]string{"a": "x"}},
		{Template: "ls }", Values: nil},
		{Template: "ls", Values: map[string]string{"a": "x"}},
		{Template: "ls {a}", Values: map[string]string{"a": "x\x00y"}},
	} {
		_, err := c.line()
		require.ErrorIs(t, err, errTemplate)
	}
}
