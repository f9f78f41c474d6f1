// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package sshtest is an SSH server on loopback for tests: it lets one account in with
// one key and answers commands as the test says.
package sshtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// Command is what a client asked to run.
type Command struct {
	Account, Line string
	Input         []byte
}

// Server is a running server.
type Server struct {
	// Address is host:port.
	Address string
	// HostKey is the server's, Login the key that lets Account in.
	HostKey ssh.PublicKey
	Login   ssh.Signer
	Account string

	config *ssh.ServerConfig
	answer func(Command) (output string, status int)

	mu       sync.Mutex
	commands []Command
	wg       sync.WaitGroup
	closing  bool
	open     map[net.Conn]bool
}

// Start starts a server that ends with the test. answer is asked for the output and
// exit status of each command; a status below 0 closes the connection instead.
func Start(t testing.TB, account string, answer func(Command) (string, int)) *Server {
	t.Helper()
	s := &Server{Account: account, answer: answer, Login: NewSigner(t), open: map[net.Conn]bool{}}
	host := NewSigner(t)
	s.HostKey = host.PublicKey()
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != account || string(key.Marshal()) != string(s.Login.PublicKey().Marshal()) {
			return nil, io.EOF
		}
		return nil, nil
	}}
	s.config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.Address = listener.Addr().String()
	s.wg.Go(func() { s.accept(listener) })
	t.Cleanup(func() {
		listener.Close()
		s.mu.Lock()
		s.closing = true
		for conn := range s.open {
			conn.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// NewSigner makes a key.
func NewSigner(t testing.TB) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return signer
}

// Commands returns what clients asked to run.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Command(nil), s.commands...)
}

func (s *Server) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closing {
			conn.Close()
		} else {
			s.open[conn] = true
			s.wg.Go(func() { s.serve(conn) })
		}
		s.mu.Unlock()
	}
}

func (s *Server) serve(raw net.Conn) {
	defer func() {
		raw.Close()
		s.mu.Lock()
		delete(s.open, raw)
		s.mu.Unlock()
	}()
	conn, channels, requests, err := ssh.NewServerConn(raw, s.config)
	if err != nil {
		return
	}
	s.wg.Go(func() { ssh.DiscardRequests(requests) })
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "")
			continue
		}
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.session(conn, channel, requests) })
	}
}

func (s *Server) session(conn *ssh.ServerConn, channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for r := range requests {
		if r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		var exec struct{ Line string }
		if ssh.Unmarshal(r.Payload, &exec) != nil {
			return
		}
		_ = r.Reply(true, nil)
		input, err := io.ReadAll(channel)
		if err != nil {
			return
		}
		command := Command{conn.User(), exec.Line, input}
		s.mu.Lock()
		s.commands = append(s.commands, command)
		s.mu.Unlock()
		output, status := s.answer(command)
		if status < 0 {
			conn.Close()
			return
		}
		_, _ = io.WriteString(channel, output)
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		return
	}
}
