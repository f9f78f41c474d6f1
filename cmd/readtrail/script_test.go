// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/readtrail/readtrail/journal"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"readtrail": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fixture":        cmdFixture,
			"fixtureactions": cmdFixtureActions,
			"fixtureaudited": cmdFixtureAudited,
			"exits":          cmdExits,
			"damage":         cmdDamage,
			"mode":           cmdMode,
			"copies":         cmdCopies,
			"flip":           cmdFlip,
			"outside":        cmdOutside,
			"receipt":        cmdReceipt,

			"contexts": cmdContexts,

			"checkpoints": cmdCheckpoints,
		},
	})
}

// cmdFixture writes the example journal below a folder: fixture DIR [TOOL].
// The name of the tool may hold Go escapes.
func cmdFixture(ts *testscript.TestScript, _ bool, args []string) {
	tool := "crm.customer.get"
	if len(args) == 2 {
		var err error
		tool, err = strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(writeFixture(dir, tool))
}

// cmdExits runs a program and demands its exit code: exits CODE PROGRAM [ARG...].
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if got := exit; (got == nil && want != 0) || (got != nil && got.ExitCode() != want) {
		ts.Fatalf("exit code is not %d: %v", want, err)
	}
}

// cmdDamage does to the lines of a file what an attacker or a bad disk does:
// damage FILE replace OLD NEW | drop LINE | swap LINE LINE | cut LINE BYTES.
func cmdDamage(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	number := func(i int) int {
		n, err := strconv.Atoi(args[i])
		ts.Check(err)
		return n
	}
	switch args[1] {
	case "replace":
		if !bytes.Contains(data, []byte(args[2])) {
			ts.Fatalf("%s does not contain %s", args[0], args[2])
		}
		data = bytes.Replace(data, []byte(args[2]), []byte(args[3]), 1)
	case "drop":
		data = bytes.Join(append(lines[:number(2)-1:number(2)-1], lines[number(2):]...), nil)
	case "swap":
		a, b := number(2)-1, number(3)-1
		lines[a], lines[b] = lines[b], lines[a]
		data = bytes.Join(lines, nil)
	case "cut":
		line := &lines[number(2)-1]
		*line = append((*line)[:number(3):number(3)], '\n')
		data = bytes.Join(lines, nil)
	default:
		ts.Fatalf("unknown damage %s", args[1])
	}
	ts.Check(os.WriteFile(name, data, 0o644))
}

// cmdMode demands the permissions of a file: mode FILE OCTAL.
func cmdMode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// cmdCopies writes the journal, the store and the keys of the reads whose content
// is kept: copies DIR.
func cmdCopies(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(writeEvidenceFixture(dir))
}

// cmdFlip flips the lowest bit of a byte of a file: flip FILE OFFSET.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(name, data, 0o644))
}

// cmdReceipt writes what a client was answered for an entry in a file of its own, with
// a proof if there is one: receipt ENTRY OUT [PROOF].
func cmdReceipt(ts *testscript.TestScript, _ bool, args []string) {
	proof := ""
	if len(args) == 3 {
		proof = ts.ReadFile(args[2])
	}
	ts.Check(writeReceipt(ts.MkAbs(args[0]), ts.MkAbs(args[1]), proof))
}

func writeReceipt(entry, out, proof string) error {
	line, err := os.ReadFile(entry)
	if err != nil {
		return err
	}
	e, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil {
		return err
	}
	checkpoint := ""
	if proof != "" {
		parsed, err := journal.ParseProof([]byte(proof))
		if err != nil {
			return err
		}
		checkpoint = string(parsed.Checkpoint.Note)
	}
	text, err := json.Marshal(journal.KeptReceipt{Proof: proof, Checkpoint: checkpoint, Receipt: journal.Receipt{
		EventID: e.Header.EventID, JournalID: e.Header.JournalID, Sequence: e.Header.Sequence, RecordHash: e.Integrity.RecordHash,
		KeyID: e.Integrity.Signature.KeyID, Signature: e.Integrity.Signature.Value, RecordedAt: e.Header.RecordedAt,
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}
