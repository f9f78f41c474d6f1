// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectSpringAI = "spring-ai"

func springKind(kinds ...string) condition { return is("spring.ai.kind", kinds...) }

var springCommon = otelCommon.plus(fields{
	conversationID: first(attr("spring.ai.chat.client.conversation.id"), otelCommon[conversationID]),
})

// springReads are Spring AI's observations. Adding to and deleting from
// a vector store are what a tool does to a database.
func springReads() []row {
	return []row{
		{
			dialect: dialectSpringAI, when: springKind("tool_call"), class: ClassTool,
			fields: otelTool.plus(springCommon).plus(fields{
				toolName:   first(attr("spring.ai.tool.definition.name"), otelTool[toolName]),
				toolCallID: attr("spring.ai.tool.call.id", "gen_ai.tool.call.id"),
				arguments:  first(attr("spring.ai.tool.call.arguments"), otelTool[arguments]),
				result:     first(attr("spring.ai.tool.call.result"), otelTool[result]),
			}),
			names: []string{"execute_tool {spring.ai.tool.definition.name}", "tool_call {spring.ai.tool.definition.name}"},
		},
		{
			dialect: dialectSpringAI, when: all(springKind("vector_store"), isAnyCase("db.operation.name", "query")), class: ClassRetrieval,
			fields: springCommon.plus(fields{
				query:     attr("db.vector.query.content"),
				arguments: attr("db.vector.query.filter"),
				result:    attr("db.vector.query.response.documents"),
				topK:      attr("db.vector.query.top_k"),
				indexID:   attr("db.collection.name"),
			}),
			documents: []documentSource{documentsIn(attr("db.vector.query.response.documents"))},
			names:     []string{"{db.system} {db.operation.name}"},
		},
	}
}

// springOthers are the observations that are no reads.
func springOthers() []row {
	return []row{
		{
			dialect: dialectSpringAI, when: springKind("vector_store"), class: ClassDB, fields: springCommon,
			names: []string{"{db.system} {db.operation.name}"},
		},
		{
			dialect: dialectSpringAI, when: springKind("chat_client", "advisor"), class: ClassOther, fields: springCommon,
			names: []string{"{gen_ai.system} {spring.ai.kind}"},
		},
	}
}
