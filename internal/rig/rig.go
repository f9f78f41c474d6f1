// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package rig runs the built collector as a process of its own and sends
// telemetry to it, for the demo and the end-to-end tests.
package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Config says which collector to run.
type Config struct {
	// Command is the binary, preceded by a wrapper such as strace if any.
	Command []string
	// ConfigFile is a YAML file that takes its ports from READTRAIL_GRPC,
	// READTRAIL_HTTP, READTRAIL_API, READTRAIL_HEALTH and READTRAIL_METRICS, as those
	// in examples/ do.
	ConfigFile string
	// Env holds more variables of the form NAME=value.
	Env []string
}

// Collector is a running collector.
type Collector struct {
	// HTTP and GRPC are the OTLP endpoints, host:port.
	HTTP, GRPC string
	// API is where the audit_event receiver listens, host:port, if there is one.
	API string
	// Health is the base URL of the health check.
	Health string
	// Metrics is the URL of the collector's own metrics.
	Metrics string
	// Token is sent as a bearer token if it is set.
	Token string

	cmd    *exec.Cmd
	output *output
	done   chan struct{}
	err    error // how the process ended; valid once done is closed
}

// startTimeout bounds the start of a collector on a busy machine.
const startTimeout = 60 * time.Second

// Start starts the collector on free ports and returns when it is ready. On
// failure the error holds what the collector printed.
func Start(ctx context.Context, cfg Config) (*Collector, error) {
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	c := &Collector{
		GRPC: ports[0], HTTP: ports[1], API: ports[4], Health: "http://" + ports[2], Metrics: "http://" + ports[3] + "/metrics",
		output: &output{}, done: make(chan struct{}),
	}
	args := append(append([]string{}, cfg.Command[1:]...), "--config", cfg.ConfigFile)
	c.cmd = exec.Command(cfg.Command[0], args...)
	c.cmd.Env = append(os.Environ(), "READTRAIL_GRPC="+c.GRPC, "READTRAIL_HTTP="+c.HTTP, "READTRAIL_API="+c.API, "READTRAIL_HEALTH="+ports[2],
		"READTRAIL_METRICS="+ports[3][strings.LastIndexByte(ports[3], ':')+1:])
	c.cmd.Env = append(c.cmd.Env, cfg.Env...)
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	// A group of its own, so that a wrapper and what it wraps end together.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start collector: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.waitReady(ctx); err != nil {
		c.Kill()
		return nil, fmt.Errorf("collector did not become ready: %w\n%s", err, c.Output())
	}
	return c, nil
}

// waitReady polls the health check until it answers 200 twice in a row: the
// collector arranges for SIGTERM a moment after its health check answers.
func (c *Collector) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for healthy := 0; ; {
		if status, _, err := c.Status(ctx); err != nil || status != http.StatusOK {
			healthy = 0
		} else if healthy++; healthy == 2 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return fmt.Errorf("collector ended: %w", errors.Join(errors.New("before it was ready"), c.err))
		case <-tick.C:
		}
	}
}

// Status asks the health check and returns its HTTP status and body.
func (c *Collector) Status(ctx context.Context) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Health+"/status?verbose", nil)
	if err != nil {
		return 0, "", err
	}
	return do(req)
}

// MetricsText fetches the collector's own metrics in Prometheus' text form.
func (c *Collector) MetricsText(ctx context.Context) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Metrics, nil)
	if err != nil {
		return "", err
	}
	_, text, err := do(req)
	return text, err
}

// Post sends one OTLP request as JSON to a path such as /v1/traces and returns
// the HTTP status and the body of the answer.
func (c *Collector) Post(ctx context.Context, path string, body []byte) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.HTTP+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return do(req)
}

func do(req *http.Request) (int, string, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, string(answer), err
}

// Replay sends each line of an OTLP/JSON file as a request of its own, traces
// or logs by the file's name, and demands that each is accepted.
func (c *Collector) Replay(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		status, answer, err := c.Post(ctx, SignalPath(file), line)
		if err != nil {
			return fmt.Errorf("replay %s line %d: %w", file, i+1, err)
		}
		if status != http.StatusOK {
			return fmt.Errorf("replay %s line %d: status %d: %s", file, i+1, status, answer)
		}
	}
	return nil
}

// SignalPath is the OTLP/HTTP path for a file named *.traces.jsonl or
// *.logs.jsonl.
func SignalPath(file string) string {
	if strings.HasSuffix(file, ".logs.jsonl") {
		return "/v1/logs"
	}
	return "/v1/traces"
}

// PID returns the process id of the collector or its wrapper.
func (c *Collector) PID() int { return c.cmd.Process.Pid }

// Stop ends the collector as an operator would and returns how it ended.
func (c *Collector) Stop() error { return c.stop(c.cmd.Process.Pid) }

// StopGroup ends a collector that runs under a wrapper, which passes no signal
// on.
func (c *Collector) StopGroup() error { return c.stop(-c.cmd.Process.Pid) }

func (c *Collector) stop(pid int) error {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	select {
	case <-c.done:
		return c.err
	case <-time.After(startTimeout):
		c.Kill()
		return errors.New("collector did not end after SIGTERM")
	}
}

// Kill ends the collector and its wrapper with SIGKILL and waits for the end.
func (c *Collector) Kill() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.done
}

// Output returns what the collector printed so far.
func (c *Collector) Output() string { return c.output.String() }

// output collects what the process prints while others read it.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// freePorts returns n loopback addresses that are free now. All are held open
// until all are known, so that they differ.
func freePorts(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
