// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func TestTheExecutionOfABodyIsFoundInItsBytes(t *testing.T) {
	for body, want := range map[string]string{
		`{"correlation":{"execution_id":"run_1"}}`:                                                            "run_1",
		`{"basis":{"execution_id":"attribute"},"correlation":{"call_id":"}","execution_id":"run_1"}}`:         "run_1",
		`{"integrity":{},"read_record":{"correlation":{"call_id":"a\",\"execution_id\":\"b"}}}`:               "",
		`{"correlation":{"execution_id":"a\"b","trace_id":"0a"},"fields":{"correlation":{"value_digest":1}}}`: `a\"b`,
		`{"correlation":{}}`:                 "",
		`{"correlation":{"execution_id":1}}`: "",
		`{"correlation":{"execution_id":"a`:  "",
		`{"correlation":{"execution_id"`:     "",
		`{"correlation":{"call_id":"\`:       "",
		`{"execution_id":"run_1"}`:           "",
		``:                                   "",
	} {
		require.Equal(t, want, string(record.ExecutionIn([]byte(body))), body)
	}
}

func TestAnExecutionIDIsSpelledAsInABody(t *testing.T) {
	for _, id := range []string{"run_1", `a"b\c`, "ä€\t\x01", "</script>"} {
		d, err := record.NewReadDraft(&record.Read{Header: record.Header{Correlation: record.Correlation{ExecutionID: id}}}, false)
		require.NoError(t, err)
		require.Equal(t, string(record.SpellExecution(id)), string(d.Execution()))
		require.Equal(t, string(record.SpellExecution(id)), string(record.ExecutionIn(d.Complete(record.Completion{}))))
	}
}

// FuzzExecutionIn compares what is found in the bytes of a correlation with what a
// parser finds there, and has any other bytes do no harm.
func FuzzExecutionIn(f *testing.F) {
	f.Add("run_1", "call", []byte(`{"correlation":{"execution_id":"run_1"}}`))
	f.Add(`"}`, `\","execution_id":"`, []byte(`{"correlation":{"a":"\"`))
	f.Fuzz(func(t *testing.T, execution, call string, other []byte) {
		record.ExecutionIn(other)
		text, err := json.Marshal(map[string]any{"correlation": map[string]string{"call_id": call, "execution_id": execution}})
		if err != nil {
			return // no UTF-8
		}
		canonical := jsontext.Value(text)
		require.NoError(t, canonical.Canonicalize())
		require.Equal(t, string(record.SpellExecution(execution)), string(record.ExecutionIn(canonical)))
	})
}
