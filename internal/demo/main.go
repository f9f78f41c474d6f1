// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo runs the main job of Readtrail on real telemetry, as `make demo`:
// it makes a key, starts the built collector, replays captured telemetry and a
// KYC run, shows and verifies what stands in the journal, and then changes one
// byte of a copy to show how the verifier names the place. It uses free ports,
// writes below .demo/ only and leaves nothing running.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/readtrail/readtrail/internal/rig"
)

const (
	dir       = ".demo"
	cli       = "bin/readtrail"
	collector = "bin/readtrail-collector"
)

// kycTrace is the trace of the KYC run.
const kycTrace = "5bd0193e5f6a4c1c9a0e2f7b8c4d1193"

// captures are telemetry that real libraries emitted, and the KYC run.
var captures = []string{
	"testdata/corpus/otel-js-db-http-0.76.0.traces.jsonl",
	"testdata/corpus/openinference-js-langchain-4.1.1.traces.jsonl",
	"testdata/corpus/vercel-ai-6.0.326.traces.jsonl",
	"testdata/corpus/otel-js-openai-0.21.0.logs.jsonl",
	"testdata/kyc/kyc.traces.jsonl",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	keys := filepath.Join(dir, "keys")
	journal := filepath.Join(dir, "journal")

	step("Make a signing key and the registry that the auditor trusts.")
	if _, err := command(ctx, cli, "keys", "new", "--out", keys); err != nil {
		return err
	}

	step("Start the collector (examples/kyc.yaml, on free ports) and replay telemetry that real libraries captured, and a KYC run.")
	if err := record(ctx, keys, journal); err != nil {
		return err
	}

	step("What the KYC agent read, as the journal holds it: digests and references, no content. The CRM call was seen by the agent's framework, the MCP client and the MCP server.")
	if _, err := command(ctx, cli, "show", journal, "--kind", "read_record", "--trace", kycTrace); err != nil {
		return err
	}

	step("One read in full: the CRM record behind the KYC decision (stored as one line, indented here).")
	result, err := showRead(ctx, journal)
	if err != nil {
		return err
	}

	step("Recompute its result_digest from the CRM's history of that version, as an auditor would years later.")
	if err := recompute(ctx, result); err != nil {
		return err
	}

	step("All reads of the libraries whose telemetry was replayed.")
	if _, err := command(ctx, cli, "show", journal, "--kind", "read_record"); err != nil {
		return err
	}

	registry := filepath.Join(keys, "keys.json")
	step("Verify the journal with nothing but the files and the registry.")
	if _, err := command(ctx, cli, "verify", journal, "--keys", registry); err != nil {
		return err
	}

	step("Change one byte in a copy, and verify the copy.")
	tampered, err := tamper(journal)
	if err != nil {
		return err
	}
	code, err := command(ctx, cli, "verify", tampered, "--keys", registry)
	if code != 1 {
		return fmt.Errorf("verify of the changed copy ended with %d (%w), expected exit code 1", code, errors.Join(err, errors.New("tampering went unnoticed")))
	}
	fmt.Printf("\nThe change was found. Everything that the demo wrote is in %s/: the journal, the keys and, in tracing.jsonl, what your tracing would have got.\n", dir)
	return nil
}

func record(ctx context.Context, keys, journal string) error {
	c, err := rig.Start(ctx, rig.Config{
		Command:    []string{collector},
		ConfigFile: "examples/kyc.yaml",
		Env: []string{
			"READTRAIL_JOURNAL=" + journal,
			"READTRAIL_KEY=" + filepath.Join(keys, "signing-key.pem"),
			"READTRAIL_TRACING=" + filepath.Join(dir, "tracing.jsonl"),
		},
	})
	if err != nil {
		return err
	}
	for _, file := range captures {
		fmt.Println("  replaying", file)
		if err := c.Replay(ctx, file); err != nil {
			c.Kill()
			return err
		}
	}
	if err := c.Stop(); err != nil {
		return fmt.Errorf("stop collector: %w\n%s", err, c.Output())
	}
	return nil
}

// showRead prints the CRM read indented and returns its result digest.
func showRead(ctx context.Context, journal string) (string, error) {
	args := []string{"show", journal, "--tool-call", "call_syn_0193_02", "--json"}
	fmt.Printf("$ %s %s\n", cli, strings.Join(args, " "))
	line, err := exec.CommandContext(ctx, cli, args...).Output()
	if err != nil {
		return "", err
	}
	var entry struct {
		Read struct {
			Response struct {
				ResultDigest string `json:"result_digest"`
			} `json:"response"`
		} `json:"read_record"`
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return "", err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, line, "", "  "); err != nil {
		return "", err
	}
	fmt.Println(indented.String())
	return entry.Read.Response.ResultDigest, nil
}

// recompute digests the source's content and demands the recorded digest.
func recompute(ctx context.Context, recorded string) error {
	const source = "testdata/kyc/crm_customer_v41.json"
	fmt.Printf("$ %s digest %s\n", cli, source)
	out, err := exec.CommandContext(ctx, cli, "digest", source).Output()
	if err != nil {
		return err
	}
	fmt.Print(string(out))
	if recorded == "" || !strings.Contains(string(out), recorded) {
		return fmt.Errorf("the digest of %s is not the recorded %s", source, recorded)
	}
	fmt.Println("It is the digest that was recorded.")
	return nil
}

// tamper copies the journal and replaces one digit of a read's version in it.
func tamper(journal string) (string, error) {
	tampered := filepath.Join(dir, "tampered")
	if err := os.CopyFS(tampered, os.DirFS(journal)); err != nil {
		return "", err
	}
	segments, err := filepath.Glob(filepath.Join(tampered, "*", "*", "*", "*.events"))
	if err != nil || len(segments) == 0 {
		return "", errors.Join(fmt.Errorf("no segment below %s", tampered), err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		return "", err
	}
	const before, after = `"source_record_version":"v41"`, `"source_record_version":"v42"`
	if !strings.Contains(string(data), before) {
		return "", fmt.Errorf("no read of version v41 in %s", segments[0])
	}
	fmt.Printf("  %s becomes %s in %s\n", before, after, segments[0])
	return tampered, os.WriteFile(segments[0], []byte(strings.Replace(string(data), before, after, 1)), 0o600)
}

func step(text string) { fmt.Printf("\n== %s\n", text) }

// command prints and runs a command and returns its exit code.
func command(ctx context.Context, name string, args ...string) (int, error) {
	fmt.Printf("$ %s %s\n", name, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	return cmd.ProcessState.ExitCode(), err
}
