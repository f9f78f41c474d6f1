// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/readtrail/readtrail/journal"
)

// runEnvelope verifies one entry that was taken out of its journal.
func (v *verification) runEnvelope(ctx context.Context) error {
	if err := v.readOptions(ctx); err != nil {
		return err
	}
	text, err := readEnvelope(v.envelope)
	if err != nil {
		return err
	}
	e := journal.VerifyEnvelope(text, v.options)
	code := e.ExitCode()
	switch {
	case v.json:
		document := struct {
			Verifier string            `json:"verifier"`
			Target   string            `json:"target"`
			ExitCode int               `json:"exit_code"`
			Envelope *journal.Envelope `json:"envelope"`
			Next     string            `json:"next,omitzero"`
		}{Verifier: journal.VerifierVersion, Target: v.envelope, ExitCode: code, Envelope: e}
		if bad := e.Report().FirstBad; bad != nil {
			document.Next = bad.Code.Doc().Next
		}
		if err := writeJSON(v.con.out, document); err != nil {
			return err
		}
	case !v.quiet:
		writeEnvelope(v.con.out, v.envelope, e)
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

func readEnvelope(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, journal.MaxEnvelopeBytes+1))
	if err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	return text, nil
}

// writeEnvelope prints what was checked of one entry, and that its place was not.
func writeEnvelope(w io.Writer, path string, e *journal.Envelope) {
	line := func(name string, value any) { fmt.Fprintf(w, "%s: %s\n", name, escape(fmt.Sprint(value))) }
	line("envelope", path)
	line("journal", orElse(e.JournalID, "unknown"))
	line("sequence", e.Sequence)
	line("kind", orElse(e.Kind, "unknown"))
	line("record_hash", orElse(e.RecordHash, "unknown"))
	line("hash", e.Hash)
	line("signature", e.Signature)
	line("schema", e.Schema)
	line("chain", e.Chain)
	line("place", e.Place)
	r := e.Report()
	if r.FirstBad != nil {
		doc := r.FirstBad.Code.Doc()
		line("code", doc.Code)
		line("meaning", doc.Meaning)
		if r.FirstBad.Detail != "" {
			line("detail", r.FirstBad.Detail)
		}
		if r.FirstBad.ExpectedRecordHash != "" {
			line("expected_record_hash", r.FirstBad.ExpectedRecordHash)
		}
		line("next", doc.Next)
	}
	writeFindings(line, r)
}
