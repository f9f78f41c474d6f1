// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"math"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
)

func TestTheCanonicalFormIsThatOfTheDraft(t *testing.T) {
	body := otlp.Map(
		otlp.Member{Name: "int", Value: otlp.Integer(123)},
		otlp.Member{Name: "large", Value: otlp.Integer(9007199254740993)},
		otlp.Member{Name: "edge", Value: otlp.Integer(-9007199254740992)},
		otlp.Member{Name: "list", Value: otlp.Array(otlp.Bool(true), otlp.Double(1.5), otlp.Double(1e21), otlp.Bytes([]byte{0xff}), otlp.Value{})},
		otlp.Member{Name: "not", Value: otlp.Double(math.NaN())},
	)
	rec := &otlp.Record{
		Timestamp: 1714041600000000001, Observed: 1714041600001000000, EventName: "a\u00e9\U0001F600", Body: &body,
		TraceID: [16]byte{0xab}, SpanID: [8]byte{0xcd},
		Attributes: otlp.Map(
			otlp.Member{Name: "\U0001F600", Value: otlp.String("")},
			otlp.Member{Name: "\uFB33", Value: otlp.String("<>&\u2028")},
			otlp.Member{Name: "audit.integrity.value", Value: otlp.String("not covered")},
		),
	}
	got, err := canonical(rec, formDataModel)
	require.NoError(t, err)
	assert.Equal(t, `{"Attributes":{"`+"\U0001F600"+`":{"stringValue":""},"`+"\uFB33"+`":{"stringValue":"<>&`+"\u2028"+`"}},`+
		`"Body":{"kvlistValue":{"values":[{"key":"int","value":{"intValue":123}},{"key":"large","value":{"intValue":"9007199254740993"}},`+
		`{"key":"edge","value":{"intValue":-9007199254740992}},{"key":"list","value":{"arrayValue":{"values":[{"boolValue":true},{"doubleValue":1.5},`+
		`{"doubleValue":1e+21},{"bytesValue":"/w=="},{}]}}},{"key":"not","value":{"doubleValue":"NaN"}}]}},`+
		`"EventName":"a`+"\u00e9\U0001F600"+`","ObservedTimestamp":"1714041600001000000","SpanId":"cd00000000000000","Timestamp":"1714041600000000001",`+
		`"TraceId":"ab000000000000000000000000000000"}`, string(got))
	for _, f := range []form{formDataModel, formOTLPJSON} {
		got, err := canonical(rec, f)
		require.NoError(t, err)
		again, err := jcs.Transform(got)
		require.NoError(t, err)
		assert.Equal(t, string(again), string(got), "another implementation of RFC 8785 agrees")
	}
	empty := otlp.String("")
	with, err := canonical(&otlp.Record{Body: &empty}, formDataModel)
	require.NoError(t, err)
	without, err := canonical(&otlp.Record{}, formDataModel)
	require.NoError(t, err)
	assert.NotEqual(t, string(with), string(without), "a body that is empty is not one that is absent")
}
