// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The fixture is the same to the byte in every run: a fixed key and fixed times,
// so that docs/cli.md can show what the commands print.
var fixtureStart = time.Date(2026, 10, 9, 9, 12, 3, 418_000_000, time.UTC)

const (
	fixtureJournal = "jrn_01M4G7X2Q0N5T8V3B6K9D1F4H7"
	fixtureSegment = "journal/demo-bank/kyc/reads/"
	trace          = "0af7651916cd43dd8448eb211c80319c"
	secondTrace    = "5b8aa5a2d2c872e8321cf37308d69df2"
)

// writeFixture writes a journal of two segments, its signing key and its
// registry below dir. tool is the name of the tool that most reads ran.
func writeFixture(dir, tool string) error {
	signer, err := writeFixtureKeys(dir)
	if err != nil {
		return err
	}
	drafts, err := fixtureDrafts(tool)
	if err != nil {
		return err
	}
	return writeSegments(filepath.Join(dir, filepath.FromSlash(fixtureSegment)), drafts, signer)
}

// writeFixtureKeys writes the signing key and the registry.
func writeFixtureKeys(dir string) (journal.Signer, error) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	public := private.Public().(ed25519.PublicKey)
	registry := fmt.Sprintf(`{"keys":[{"alg":"EdDSA","crv":"Ed25519","kid":%q,"kty":"OKP","valid_from":"2026-01-01T00:00:00.000000000Z","x":%q}]}`,
		journal.KeyID(public), base64.RawURLEncoding.EncodeToString(public))
	key := filepath.Join(dir, "signing-key.pem")
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "keys.json"), []byte(registry), 0o644); err != nil {
		return nil, err
	}
	return journal.NewFileSigner(key)
}

// writeSegments seals the drafts into segments of four entries. edit may change a
// body before it is sealed.
func writeSegments(dir string, drafts []*record.Draft, signer journal.Signer) error {
	return writeJournal(dir, fixtureJournal, drafts, signer)
}

// writeJournal is writeSegments for a journal of any id.
func writeJournal(dir, journalID string, drafts []*record.Draft, signer journal.Signer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	previous := ""
	var segment []byte
	for i, d := range drafts {
		sequence := uint64(i + 1)
		body := d.Complete(record.Completion{
			EventID:     orElse(d.EventID(), record.EventID(fmt.Sprintf("01M4G7X2Q0%016d", sequence))),
			JournalID:   journalID,
			Sequence:    sequence,
			RecordedAt:  record.NewTime(fixtureStart.Add(time.Duration(sequence) * time.Second)),
			Scope:       record.Scope{OrganizationRef: "demo-bank", Environment: "production", RetentionClass: "kyc", Region: "eu"},
			CollectorID: "collector-1",
			Parts:       d.Parts(),
		})
		unsigned := journal.Assemble(d.Kind(), record.SchemaVersion, body, previous, signer)
		previous = unsigned.RecordHash()
		line, err := unsigned.Sign(signer)
		if err != nil {
			return err
		}
		segment = append(segment, line...)
		if sequence%4 == 0 || i == len(drafts)-1 {
			name := fmt.Sprintf("%020d.events", (sequence-1)/4*4+1)
			if err := os.WriteFile(filepath.Join(dir, name), segment, 0o644); err != nil {
				return err
			}
			segment = nil
		}
	}
	return nil
}

// fixtureDrafts are one call that a span, an MCP client and a log record
// observed and that asked a database, a retrieval of another execution, and what
// the journal adds.
func fixtureDrafts(tool string) ([]*record.Draft, error) {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	span := fixtureRead("read_1", record.SignalSpan, tool, record.Correlation{
		ExecutionID: "run_1", TraceID: trace, SpanID: "b7ad6b7169203331", ParentSpanID: "00f067aa0ba902b7",
	})
	span.ToolCallID = "call_1"
	span.Source.System = "crm-eu"
	span.Request = record.Request{ArgumentsDigest: digest, ArgumentsCanonicalization: "jcs", ArgumentsSize: 27}
	span.Response = record.Response{
		Status: record.StatusOK, ResultDigest: digest, ResultCanonicalization: "jcs", ResultSize: 840, SourceRecordVersion: "v41",
	}
	span.Capture = record.Capture{Request: record.CapturedContent, Response: record.CapturedContent}

	mcp := fixtureRead("read_2", record.SignalSpan, tool, record.Correlation{
		ExecutionID: "run_1", TraceID: trace, SpanID: "b7ad6b7169203332", ParentSpanID: "b7ad6b7169203331",
	})
	logged := fixtureRead("read_3", record.SignalLog, tool, record.Correlation{ExecutionID: "run_1", TraceID: trace, SpanID: "00f067aa0ba902b7"})
	logged.ToolCallID = "call_1"

	retrieval := fixtureRead("read_4", record.SignalSpan, "", record.Correlation{
		ExecutionID: "run_2", TraceID: secondTrace, SpanID: "c7ad6b7169203331",
	})
	retrieval.EventType = record.EventReadRetrieval
	retrieval.Source = record.Source{Kind: record.SourceIndex, System: "policies"}
	retrieval.Retrieval = &record.Retrieval{
		IndexID: "policy-index", QueryDigest: digest, QueryCanonicalization: "bytes", QuerySize: 12, TopK: 2,
		Chunks: []record.Chunk{{ID: "p-1", Score: "0.91"}, {ID: "p-7", Score: "0.88"}},
	}
	retrieval.Capture.Request = record.CapturedContent

	var drafts []*record.Draft
	add := func(d *record.Draft, err error) error {
		drafts = append(drafts, d)
		return err
	}
	if err := add(record.NewJournalDraft(&record.Journal{Header: fixtureHeader(record.EventJournalOpened)})); err != nil {
		return nil, err
	}
	for _, r := range []*record.Read{span, mcp, logged, retrieval} {
		if err := add(record.NewReadDraft(r, true)); err != nil {
			return nil, err
		}
	}
	rows := int64(1)
	lineage := &record.Lineage{Header: span.Header}
	lineage.EventType = record.EventLineageSpans
	lineage.Correlation = record.Correlation{ExecutionID: "run_1", TraceID: trace}
	err := add(record.NewLineageDraft(lineage, []record.Span{
		{SpanID: "00f067aa0ba902b7", Name: "invoke_agent", Kind: "internal", Class: "agent", Status: record.StatusOK, StartedAt: span.OccurredAt, EndedAt: span.OccurredAt},
		{SpanID: "b7ad6b7169203331", Name: "execute_tool", Kind: "internal", Class: "tool", Status: record.StatusOK, StartedAt: span.OccurredAt, EndedAt: span.OccurredAt, ReadID: "read_1"},
		{
			SpanID: "b7ad6b7169203332", ParentSpanID: "b7ad6b7169203331", Name: "tools/call", Kind: "client", Class: "tool", Status: record.StatusUnknown,
			StartedAt: span.OccurredAt, EndedAt: span.OccurredAt, EdgeType: record.EdgeProtocolCall, ReadID: "read_2",
		},
		{
			SpanID: "b7ad6b7169203333", ParentSpanID: "b7ad6b7169203332", Name: "POST", Kind: "server", Class: "http", Status: record.StatusOK,
			StartedAt: span.OccurredAt, EndedAt: span.OccurredAt,
		},
		{
			SpanID: "b7ad6b7169203334", ParentSpanID: "b7ad6b7169203333", Name: "SELECT", Kind: "client", Class: "db", Status: record.StatusOK,
			StartedAt: span.OccurredAt, EndedAt: span.OccurredAt, EdgeType: record.EdgeExternalAction, Effect: &record.Effect{
				System: "postgresql", Operation: "SELECT", Namespace: "bank", Collection: "customers", Target: "db1", Rows: &rows,
				QueryDigest: digest, QueryCanonicalization: "bytes", QuerySize: 42,
			},
		},
	}))
	if err != nil {
		return nil, err
	}
	err = add(record.NewJournalDraft(&record.Journal{Header: fixtureHeader(record.EventJournalClosed)}))
	return drafts, err
}

func fixtureHeader(eventType string) record.Header { return record.Header{EventType: eventType} }

func fixtureRead(id string, signal record.Signal, tool string, c record.Correlation) *record.Read {
	return &record.Read{
		Header: record.Header{
			EventType:   record.EventReadTool,
			OccurredAt:  record.NewTime(fixtureStart),
			Correlation: c,
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: signal, Dialect: "otel"},
		},
		ReadID:      id,
		ExecutionID: c.ExecutionID,
		Source:      record.Source{Kind: record.SourceAPI, ToolID: tool},
		Response:    record.Response{Status: record.StatusUnknown},
		Retention:   record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:     record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
		Basis:       map[string]record.Basis{"read_id": record.BasisAttribute},
	}
}
