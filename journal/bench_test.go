// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"testing"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func BenchmarkAssembleAndSign(b *testing.B) {
	draft, err := record.NewReadDraft(exampleRead(2), true)
	if err != nil {
		b.Fatal(err)
	}
	body := draft.Complete(record.Completion{JournalID: "j", Sequence: 2, RecordedAt: record.NewTime(epoch)})
	previous := "sha256:" + sha256Hex(nil)
	signer := trusted
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Assemble(draft.Kind(), record.SchemaVersion, body, previous, signer).Sign(signer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseLine(b *testing.B) {
	line := bytes.TrimSuffix(journalOf(b, 2).lines[1], []byte("\n"))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.ParseLine(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	w := journalOf(b, 5000)
	sources, err := journal.Open(store(b, 1, w.lines...))
	if err != nil {
		b.Fatal(err)
	}
	registry := registryOf(b, trustedKey(trusted))
	b.SetBytes(sources[0].Size())
	b.ReportAllocs()
	for b.Loop() {
		report, err := journal.Verify(b.Context(), sources[0], journal.Options{Registry: registry})
		if err != nil || report.ExitCode() != 0 {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/5000, "us/record")
}
