// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"context"
	"encoding/json/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// paper is a journal that keeps nothing and looks whether each draft would be valid.
type paper struct{ t *testing.T }

func (p paper) Append(_ context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	for _, d := range drafts {
		require.NoError(p.t, schema.ValidateDraft(d), "%s", d.Body())
	}
	return make([]journal.Receipt, len(drafts)), nil
}

func (p paper) Lookup(_ context.Context, ids ...string) ([]*journal.Entry, error) {
	return make([]*journal.Entry, len(ids)), nil
}

func (p paper) Name() string { return "paper" }

// FuzzReceive: every request has an answer of the draft, and what is taken is valid.
func FuzzReceive(f *testing.F) {
	texts := [][]byte{
		request(auditRecord(uuid)), request(auditRecord("a"), auditRecord("b")),
		requestOf(object{"service.name": "s", "audit.integrity.algorithm": "EdDSA", "audit.integrity.certificate": "k"},
			auditRecord(uuid, object{"audit.integrity.value": producers["EdDSA"].proof(exampleForm), "audit.integrity.new_value": "AAAA", "audit.integrity.value.0": "AAAA"})),
		request(auditRecord(uuid, object{"audit.sequence.number": 2, "audit.sequence.previous_hash": hashOf("x"), "audit.sequence.end": true})),
	}
	for _, text := range texts {
		f.Add(text, true)
		decoded := plogotlp.NewExportRequest()
		require.NoError(f, decoded.UnmarshalJSON(text))
		binary, err := decoded.MarshalProto()
		require.NoError(f, err)
		f.Add(binary, false)
	}
	f.Fuzz(func(t *testing.T, body []byte, isJSON bool) {
		service := auditlog.New(auditlog.Options{Unsigned: auditlog.Accept, Unverified: auditlog.Pending})
		r := auditlog.Request{Format: auditlog.Protobuf, Body: body, Source: "unverified_input", Journal: paper{t}}
		if isJSON {
			r.Format = auditlog.JSON
		}
		answer := service.Receive(t.Context(), r)
		require.Contains(t, []int{200, 202, 400, 413}, answer.HTTP)
		var read object
		require.NoError(t, json.Unmarshal(answer.Body, &read))
		require.NotEmpty(t, read["status"])
	})
}
