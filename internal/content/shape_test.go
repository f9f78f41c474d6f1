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
		{ShapeIdentifier, []string{
			"call_000bkyc", "call_abc|fc_0123", "4d61727461204578656d70656c", "e2ae68dd-c727-4b2c", "arn:aws:bedrock:eu:1:kb/x", "a@b", strings.Repeat("x", 256), "chatcmpl-BtR5XcqY2QpZ3vLw8nK1mD7sE0aJf", "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "toolu_01A09q90qw90lq917835lq9",
			"resp_" + strings.Repeat("67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", 2), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "c0a8c12f6104453a77e77facac60a775", "444444444444444444444444", "lookup@1.2.0",
		}, []string{
			"", "a b", "ä", "{x}", "a\"b", "a\nb", strings.Repeat("x", 257), "jane@example.com", "jane.doe+x@mail.example.co.uk", "x/jane@163.com", "case:jane@xn--e1afmkfd.xn--p1ai", "Marta%20Exempel", "50%",
			"TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy", "id_TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy", "SsO2cmcgTcO8bGxlciBoYXQgS3JlYnM", "4d61727461204578656d70656c206861732063616e636572", "id-4D61727461204578656D70656C206861732063616E636572",
		}},
		{ShapeName, []string{"lookup_customer", "KYC agent 2", "@openlit/instrumentation-pg", "x.y:z", "claude-3-5-sonnet@20240620", "gemini@default", "@cf/meta/llama-3", "OpenAI Chat Completions", "one two three four five"}, []string{
			"", " a", "a ", "a  b", "a,b", "Zoë", "a\tb", strings.Repeat("x", 129), "Marta Exempel of Bonn has cancer", "jane@example.com", "mail jane@163.com", "Jane@home", "a @b", "a@1@2", "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy",
		}},
		{ShapeToken, []string{"tool_calls", "tools/call", "500", "_OTHER"}, []string{"", "two words", "a@b", strings.Repeat("x", 65), "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy"}},
		{ShapeVersion, []string{"1.2.3-rc.1+build", "2026-09-30", "22.23.5"}, []string{"", "v 1", "1,2"}},
		{ShapeTypeName, []string{"java.lang.Error", "Foo::Bar", "T`1", "timeout", "500", "*errors.errorString", "net/http.ProtocolError", "*github.com/jackc/pgx-v5/pgconn.PgError"}, []string{
			"", "Error: x", "a b", "/marta-exempel", "customers/marta.exempel", "customers/marta", "net/http", "*", "net/http.", "github.com/marta exempel/x.Y",
		}},
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
		{ShapeLocation, []string{"s3://bucket/run/1_inputs.json", "/var/x.json", "gs://b/dt=2026-01-01/a%2Fb.json", "file:///srv/x"}, []string{
			"", "https://u:p@h/x", "https://h/x?sig=1", "a b", "data:text/plain,Marta", "data://text/plain,Marta", "javascript:x", "javascript://x", "mailto:jane", "Marta", "TWFydGE=", "//h/x", "://x", "s3://",
			"https://h/Marta%20Exempel", "https://h/jane%40example.com", "https://h/M%C3%A4rta", "https://h/x%253Fa", "https://hooks.slack.com/services/T0/B0/abc", "s3://b/token=S", "s3://b/TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy",
			"/ghp_0123456789abcdefABCDEF0123",
		}},
		{ShapeWhereabouts, []string{"s3://bucket/k", "crm-eu record history"}, []string{"", "https://h/x?sig=1", "Marta Exempel of Bonn has cancer", "jane@example.com"}},
		{ShapeChecksum, []string{strings.Repeat("aB", 32), "sha256:" + strings.Repeat("ab", 32), "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE="}, []string{
			"", "ab", "sha256:", "sha256:Marta", "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2VyIGluIEJvbm4=", strings.Repeat("g", 64), "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE",
		}},
		{ShapeEventName, []string{"exception", "gen_ai.choice", "codex.turn_ttft", "claude_code.tool_result", "gemini_cli.conseca.verdict"}, []string{
			"", "codex.Marta", "codex.", "approved Marta", "codex.marta_exempel_has_cancer", "mcp.marta", "claude_code.marta", "gemini_cli.marta.exempel",
		}},
		{ShapeQuerySummary, []string{"SELECT customers", "GET", "SELECT a.b INSERT c_d SELECT e SELECT f"}, []string{"", "Marta Exempel has cancer", "SELECT customers a@b", "SELECT  a", "SELECT a/b", "select a", "SELECT "}},
		{ShapeProgram, []string{"node", "java.exe", "g++"}, []string{"", "/home/marta/bin/x", "review of Marta", "a@b", strings.Repeat("x", 65)}},
		{oneOf("color", "red", "green"), []string{"red"}, []string{"", "Red", "blue"}},
		{ShapeToken.List(), []string{"stop", `["stop","tool_calls"]`, `["stop", "length"]`}, []string{"[]x", `["sk-0123456789abcdefABCD"]`, `["stop","https://u:p@h/"]`, `["a b"]`, `[stop]`, `["a","]`, `["a\","b"]`, `["a",]`}},
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
		"": "", "ot=th:8": "ot=th:8", "a=b,ot=th:c;rv:0123456789abcd;p:8;Marta:1, x=y": "ot=th:c;rv:0123456789abcd",
		"ot=th:1;th:2;rv:3;rv:4;th:5;rv:6": "ot=th:1;rv:3", "ot=th:Marta;th:1": "ot=th:1", "ot=th:Marta": "", "sentry.url=http://x": "", "ot=": "",
	} {
		assert.Equal(t, want, Threshold(state), state)
	}
}
