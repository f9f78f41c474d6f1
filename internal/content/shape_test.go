// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShapesAdmitWhatTheyDocument(t *testing.T) {
	for _, c := range []struct {
		shape   Shape
		in, out []string
	}{
		{ShapeIdentifier, []string{"call_000bkyc", "e2ae68dd-c727-4b2c", "arn:aws:bedrock:eu:1:kb/x", "a@b", strings.Repeat("x", 256)}, []string{"", "a b", "ä", "{x}", "a\"b", "a\nb", strings.Repeat("x", 257)}},
		{ShapeName, []string{"lookup_customer", "KYC agent 2", "@openlit/instrumentation-pg", "x.y:z"}, []string{"", " a", "a ", "a  b", "a,b", "Zoë", "a\tb", strings.Repeat("x", 129)}},
		{ShapeToken, []string{"tool_calls", "tools/call", "500", "_OTHER"}, []string{"", "two words", "a@b", strings.Repeat("x", 65)}},
		{ShapeVersion, []string{"1.2.3-rc.1+build", "2026-09-30", "22.23.5"}, []string{"", "v 1", "1,2"}},
		{ShapeTypeName, []string{"java.lang.Error", "Foo::Bar", "T`1"}, []string{"", "Error: x", "a b"}},
		{ShapeNumber, []string{"1", "-0.5", "1e3"}, []string{"", "NaN", "Infinity", "0x1", "1_000", "1e999", "one", "1 2"}},
		{ShapeBool, []string{"true", "False"}, []string{"", "yes", "1"}},
		{ShapeTimestamp, []string{"2026-11-30T01:18:52.670Z", "2026-11-30", "1700000000"}, []string{"", "2026-11-30T01:18:52 by Marta", "yesterday"}},
		{ShapeHex, []string{"0af7", "0AF7"}, []string{"", "xyz"}},
		{ShapeDigest, []string{sum("x")}, []string{"", "sha256:00", "sha256:" + strings.Repeat("A", 64), strings.Repeat("0", 64)}},
		{ShapeMIMEType, []string{"application/json", "text/plain; charset=utf-8"}, []string{"", "json", "/", "text/plain; a b c", "text/Marta Exempel"}},
		{ShapeHost, []string{"127.0.0.1", "::1", "api.example.com"}, []string{"", "/tmp/socket", "a b", "user@host"}},
		{ShapePort, []string{"443"}, []string{"", "https", "443000"}},
		{ShapeHTTPMethod, []string{"GET", "_OTHER"}, []string{"", "get", "MARTA"}},
		{ShapeURLScheme, []string{"https"}, []string{"", "https:", "HTTPS"}},
		{ShapeRoute, []string{"/v1/messages", "/customers/{id}/accounts/:n", "/a/*"}, []string{"", "/customers/123456", "/a?b=c", "/a b"}},
		{ShapeLocation, []string{"s3://bucket/run/1_inputs.json", "/var/x.json"}, []string{"", "https://u:p@h/x", "https://h/x?sig=1", "a b"}},
		{ShapeEventName, []string{"exception", "gen_ai.choice", "codex.turn_ttft"}, []string{"", "codex.Marta", "codex.", "approved Marta"}},
		{OneOf("color", "red", "green"), []string{"red"}, []string{"", "Red", "blue"}},
		{ShapeToken.List(), []string{"stop", `["stop","tool_calls"]`, `["stop", "length"]`}, []string{"[]x", `["a b"]`, `[stop]`, `["a","]`, `["a\","b"]`, `["a",]`}},
	} {
		for _, s := range c.in {
			assert.True(t, c.shape.Matches(s), "%s %q", c.shape, s)
		}
		for _, s := range c.out {
			assert.False(t, c.shape.Matches(s), "%s %q", c.shape, s)
		}
	}
}

func TestShapesHaveTheNamesThatConfigurationUses(t *testing.T) {
	for _, name := range ShapeNames() {
		s, ok := ShapeNamed(name)
		require.True(t, ok)
		require.Equal(t, name, s.String())
		require.False(t, s.Matches(""))
	}
	_, ok := ShapeNamed("anything")
	require.False(t, ok)
	require.False(t, Shape{}.Takes(KindInt))
}

func TestNamesAndURLsOfConventionsAreKnown(t *testing.T) {
	assert.True(t, KnownSpanName("GET"))
	assert.False(t, KnownSpanName("GET /customers/Marta"))
	assert.True(t, KnownSeverity("warn"))
	assert.False(t, KnownSeverity("Marta"))
	assert.True(t, IsSchemaURL("https://opentelemetry.io/schemas/1.37.0"))
	for _, url := range []string{"", "https://opentelemetry.io/schemas/", "https://opentelemetry.io/schemas/Marta", "https://example.com/1.37.0"} {
		assert.False(t, IsSchemaURL(url), url)
	}
	for state, want := range map[string]string{
		"": "", "ot=th:8": "ot=th:8", "a=b,ot=th:c;rv:0123456789abcd;p:8;Marta:1, x=y": "ot=th:c;rv:0123456789abcd", "ot=th:Marta": "", "sentry.url=http://x": "", "ot=": "",
	} {
		assert.Equal(t, want, Threshold(state), state)
	}
}
