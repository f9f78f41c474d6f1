// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// Counting returns a copy of a base transport that counts what it writes: every
// attempt has a connection of its own, HTTP/1.1, so that bytes_sent is known and
// nothing is sent again behind the executor's back, as net/http does on a connection
// that was kept alive. The bytes are those of the connection that DialContext gives, once
// it stands: those of TLS records with TLS, but for its handshake. nil copies the zero
// http.Transport, which uses no proxy.
func Counting(base *http.Transport) *http.Transport {
	if base == nil {
		base = &http.Transport{}
	}
	t := base.Clone()
	dial := t.DialContext
	//lint:ignore SA1019 who set it means it
	if old := t.Dial; dial == nil && old != nil {
		dial = func(_ context.Context, network, address string) (net.Conn, error) { return old(network, address) }
	}
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: c}, nil
	}
	if dialTLS := t.DialTLSContext; dialTLS != nil {
		t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialTLS(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &countedConn{Conn: c}, nil
		}
	}
	t.DisableKeepAlives = true
	// Clone has arranged for HTTP/2 wherever the original could speak it.
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = nil
	}
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	return t
}

// countedConn counts what is handed to a connection. Once it is sealed nothing more
// is.
type countedConn struct {
	net.Conn
	mu     sync.Mutex
	bytes  int64
	sealed bool
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.sealed {
		c.mu.Unlock()
		return 0, net.ErrClosed
	}
	// Counted before it leaves: whoever looks meanwhile learns too much, not too little.
	c.bytes += int64(len(p))
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.bytes -= int64(len(p) - n)
	c.mu.Unlock()
	return n, err
}

func (c *countedConn) count(seal bool) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sealed = c.sealed || seal
	return c.bytes
}

// sending watches one attempt.
type sending struct {
	mu sync.Mutex
	// conn is the connection, if it is counted; begun is what had been written to it, of
	// the TLS handshake, when the request got it.
	conn  *countedConn
	begun int64
	// reached says that the request got a connection.
	reached bool
	// again ends an attempt whose base transport sends a second time.
	again context.CancelCauseFunc
}

// watch returns the context in which the attempt is sent.
func watch(ctx context.Context) (context.Context, *sending) {
	s := &sending{}
	ctx, s.again = context.WithCancelCause(ctx)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.gotConn}), s
}

func (s *sending) gotConn(info httptrace.GotConnInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached {
		s.again(errSentAgain)
		if s.conn != nil {
			s.conn.count(true)
		}
		return
	}
	s.reached = true
	conn := info.Conn
	if outer, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = outer.NetConn()
	}
	if counted, ok := conn.(*countedConn); ok {
		s.conn, s.begun = counted, counted.count(false)
	}
}

// written returns how many bytes left, and whether that is known. If nothing of the
// request left so far, nothing will.
func (s *sending) written(ended bool) (bytes int64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.conn != nil:
		return s.conn.count(ended) - s.begun, true
	default:
		return 0, !s.reached
	}
}
