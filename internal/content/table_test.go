// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryKeyStandsOnOneList(t *testing.T) {
	lists := map[string]string{"content": contentPlaces, "urls": urlPlaces, "headers": headerPlaces, "credentials": credentialPlaces}
	seen := map[string]string{}
	add := func(list, keys string) {
		for key := range strings.FieldsSeq(keys) {
			assert.Empty(t, seen[key], "%s is on the lists %s and %s", key, seen[key], list)
			seen[key] = list
			first := parsePattern(key)[0]
			assert.NotContains(t, first, "*", key)
			assert.NotEqual(t, "N", first, key)
			if i := strings.Index(key, "**"); i >= 0 {
				assert.Equal(t, len(key)-2, i, key)
			}
		}
	}
	for list, keys := range lists {
		add(list, keys)
	}
	for _, row := range harmlessRows {
		add("harmless", row.keys)
		assert.NotNil(t, row.shape.match, row.keys)
		for key := range strings.FieldsSeq(row.keys) {
			assert.False(t, NamesSecret(key), key)
		}
	}
}

func policy(t *testing.T, keep ...Keep) *Policy {
	t.Helper()
	p, err := NewPolicy(nil, keep)
	require.NoError(t, err)
	return p
}

func TestTheTablesKnowTheirPlaces(t *testing.T) {
	for key, want := range map[string]Rule{
		"gen_ai.tool.call.arguments":                 {Class: Content},
		"gen_ai.prompt":                              {Class: Content},
		"gen_ai.prompt.0.content":                    {Class: Content},
		"gen_ai.prompt.0.Marta":                      {Class: Content, Free: true},
		"gen_ai.prompt.0.role":                       {Class: Harmless},
		"gen_ai.prompt.name":                         {Class: Harmless},
		"gen_ai.prompt.version":                      {Class: Harmless},
		"gen_ai.prompt.variable.customer":            {Class: Content, Free: true},
		"gen_ai.prompt.unheard_of":                   {},
		"gen_ai.input.messages_ref":                  {Class: Harmless},
		"body_ref":                                   {Class: Harmless},
		"customer_ref":                               {},
		"gen_ai.usage.input_tokens":                  {Class: Harmless},
		"gen_ai.usage.Marta":                         {},
		"llm.input_messages.12.message.content":      {Class: Content},
		"llm.input_messages.1234567.message.content": {Class: Content, Free: true},
		"llm.output_messages.0.message.tool_calls.1.tool_call.function.name":      {Class: Harmless},
		"llm.output_messages.0.message.tool_calls.1.tool_call.function.arguments": {Class: Content},
		"retrieval.documents.3.document.id":                                       {Class: Harmless},
		"retrieval.documents.3.document.score":                                    {Class: Harmless},
		"retrieval.documents.3.document.content":                                  {Class: Content},
		"reranker.top_k":                                                          {Class: Harmless},
		"reranker.query":                                                          {Class: Content},
		"ai.toolCall.args":                                                        {Class: Content},
		"ai.toolCall.name":                                                        {Class: Harmless},
		"ai.response.text":                                                        {Class: Content},
		"ai.telemetry.metadata.note":                                              {Class: Content, Free: true},
		"ai.telemetry.metadata.sessionId":                                         {Class: Harmless},
		"ai.request.headers.user-agent":                                           {Class: Content, Free: true},
		"ai.request.headers.authorization":                                        {Class: Secret, Free: true},
		"metadata":                                                                {Class: Content},
		"metadata.note":                                                           {Class: Content, Free: true},
		"traceloop.association.properties.note":                                   {Class: Content, Free: true},
		"mcp.request.argument.customer_id":                                        {Class: Content, Free: true},
		"mcp.request.argument.password":                                           {Class: Secret, Free: true},
		"mastra.agent_run.output":                                                 {Class: Content},
		"mastra.span.type":                                                        {Class: Harmless},
		"haystack.component.input":                                                {Class: Content},
		"lk.pii.function_tool.arguments":                                          {Class: Content},
		"lk.pii.marta":                                                            {Class: Content, Free: true},
		"app.pii.name":                                                            {Class: Content, Free: true},
		"code.function.parameters.customer_id.value":                              {Class: Content, Free: true},
		"db.query.text":                                                           {Class: Content},
		"db.query.parameter.0":                                                    {Class: Content},
		"db.query.parameter.iban":                                                 {Class: Content, Free: true},
		"url.full":                                                                {Class: Address},
		"process.command_args":                                                    {Class: Address},
		"http.request.header.x-kyc-case":                                          {Class: Content, Free: true},
		"http.request.header.x-goog-api-key":                                      {Class: Secret, Free: true},
		"http.request.header.cookie":                                              {Class: Secret, Free: true},
		"process.environment_variable.DATABASE_DSN":                               {Class: Secret, Free: true},
		"rpc.request.metadata.authorization":                                      {Class: Secret, Free: true},
		"my.app.Api-Key":                                                          {Class: Secret, Free: true},
		"my.app.accessToken":                                                      {Class: Secret, Free: true},
		"gen_ai.prompt.0.11111.22222":                                             {Class: Content, Free: true},
		"llm.input_messages.11111.22222.33333":                                    {Class: Content, Free: true},
		"ai.11111.22222":                                                          {Class: Content, Free: true},
		"db.query.parameter.11111.22222":                                          {Class: Content, Free: true},
		"llm.headers":                                                             {Class: Secret},
		"service.name":                                                            {Class: Harmless},
		"exception.message":                                                       {Class: Content},
		"user.id":                                                                 {},
		"customer.name":                                                           {},
		"message":                                                                 {},
		"":                                                                        {},
		".":                                                                       {},
		"\xff.\xff":                                                               {},
		"ai.":                                                                     {Class: Content, Free: true},
		"llm.prompts.":                                                            {Class: Content, Free: true},
	} {
		got := *policy(t).Rule(key, 0)
		got.Shape = Shape{}
		assert.Equal(t, want, got, key)
	}
}

func TestGenericNamesAreContentOnlyUnderAGate(t *testing.T) {
	p := policy(t)
	for _, key := range []string{"input", "message", "content", "arguments", "request.params.arguments"} {
		assert.Equal(t, Unknown, p.Rule(key, 0).Class, key)
		assert.Equal(t, Content, p.Rule(key, GateGeneric).Class, key)
	}
	assert.Equal(t, Unknown, p.Rule("owner", GateGeneric).Class)
	assert.Equal(t, &Rule{Class: Content, Free: true}, p.Rule("owner", GateWhole))
	assert.Equal(t, &Rule{Class: Content}, p.Rule("text", GateWhole))
	assert.Equal(t, Harmless, p.Rule("db.query.result.id", GateWhole).Class)

	for scope, want := range map[string]Gate{
		"ai": GateGeneric, "airline": 0, "logfire.openai_agents": GateGeneric, "codex_otel.log_only": GateGeneric, "@mastra/otel-exporter": GateGeneric,
		"com.anthropic.claude_code.events": GateGeneric, "@opentelemetry/instrumentation-http": 0, "": 0,
	} {
		assert.Equal(t, want, ScopeGate(scope), scope)
	}
	for event, want := range map[string]Gate{
		"gen_ai.choice": GateGeneric | GateWhole, "pinecone.query.result.3.metadata": GateGeneric | GateWhole, "codex.tool_result": GateGeneric, "checkout": 0, "": 0,
	} {
		assert.Equal(t, want, EventGate(event), event)
	}
}

func TestKeepExtendsWhatIsHarmlessButNotIntoContent(t *testing.T) {
	p := policy(t, Keep{"tenant.id", ShapeIdentifier}, Keep{"ai.telemetry.metadata.*", ShapeToken}, Keep{"http.request.header.x-request-id", ShapeIdentifier}, Keep{"host.name", ShapeName})
	for _, key := range []string{"tenant.id", "ai.telemetry.metadata.team", "http.request.header.x-request-id"} {
		assert.Equal(t, Harmless, p.Rule(key, 0).Class, key)
	}
	assert.Equal(t, "name", p.Rule("host.name", 0).Shape.String())
	assert.Equal(t, Secret, p.Rule("ai.telemetry.metadata.token", 0).Class)
	assert.Equal(t, &Rule{Class: Content, Free: true}, p.Rule("ai.telemetry.metadata.Marta Exempel", 0))
	assert.Equal(t, Unknown, p.Rule("tenant.id.x", 0).Class)
	assert.Equal(t, Content, policy(t, Keep{"message", ShapeName}).Rule("message", GateGeneric).Class)
	assert.Equal(t, Harmless, policy(t, Keep{"message", ShapeName}).Rule("message", 0).Class)

	wide := policy(t, Keep{"ai.*", ShapeName}, Keep{"http.request.header.*", ShapeName}, Keep{"app.*", ShapeName}, Keep{"output.*", ShapeName}, Keep{"process.environment_variable.*", ShapeName})
	for key, want := range map[string]Class{
		"ai.prompt": Content, "ai.toolCall.args": Content, "ai.response.text": Content, "ai.request.headers.x-api-secret": Secret, "ai.telemetry.metadata.team": Harmless, "ai.toolCall.name": Harmless,
		"http.request.header.x-vault-token": Secret, "http.request.header.x-auth-user": Secret, "http.request.header.x-case": Harmless, "app.pii.name": Content, "app.team": Harmless,
		"app.accessToken": Secret, "output.text": Content, "process.environment_variable.PGPASSWORD": Secret,
	} {
		assert.Equal(t, want, wide.Rule(key, GateGeneric).Class, key)
	}

	for _, c := range []struct {
		keep Keep
		want string
	}{
		{Keep{"gen_ai.tool.call.result", ShapeName}, `keep[0]: key "gen_ai.tool.call.result" is known to hold content and can't be kept`},
		{Keep{"url.full", ShapeLocation}, `keep[0]: key "url.full" is known to hold content and can't be kept`},
		{Keep{"gen_ai.prompt.0.content", ShapeName}, `keep[0]: key "gen_ai.prompt.0.content" is known to hold content and can't be kept`},
		{Keep{"ai.toolCall.args", ShapeName}, `keep[0]: key "ai.toolCall.args" is known to hold content and can't be kept`},
		{Keep{"app.pii.name", ShapeName}, `keep[0]: key "app.pii.name" is known to hold content and can't be kept`},
		{Keep{"http.request.header.x-vault-token", ShapeName}, `keep[0]: key "http.request.header.x-vault-token" is the name of a credential and can't be kept`},
		{Keep{"app.clientSecret.*", ShapeName}, `keep[0]: key "app.clientSecret.*" is the name of a credential and can't be kept`},
		{Keep{"http.request.header.cookie", ShapeName}, `keep[0]: key "http.request.header.cookie" is the name of a credential and can't be kept`},
		{Keep{"", ShapeName}, `keep[0]: key "" must be an attribute key of at most 128 bytes, or a prefix that ends with .*`},
		{Keep{".*", ShapeName}, `keep[0]: key ".*" must be an attribute key of at most 128 bytes, or a prefix that ends with .*`},
		{Keep{"a*", ShapeName}, `keep[0]: key "a*" must be an attribute key of at most 128 bytes, or a prefix that ends with .*`},
		{Keep{"a", Shape{}}, `keep[0]: key "a" has no shape; give one of ` + strings.Join(ShapeNames(), ", ")},
	} {
		_, err := NewPolicy(nil, []Keep{c.keep})
		require.EqualError(t, err, c.want)
	}
}

func TestARuleCostsNoAllocation(t *testing.T) {
	p := policy(t, Keep{"tenant.*", ShapeName})
	for _, key := range []string{"service.name", "some.unknown.key", "llm.input_messages.0.message.content", "http.request.header.x-kyc-case", "tenant.id", "some.camelCasedKey"} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { p.Rule(key, GateGeneric) }), key)
	}
}
