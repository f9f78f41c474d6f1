// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectMLflow = "mlflow"

// mlflowType holds for spans of one of the types. MLflow writes every attribute
// as JSON, so that a word stands in quotes; other exporters write it bare.
func mlflowType(types ...string) condition {
	var spellings []string
	for _, t := range types {
		spellings = append(spellings, t, `"`+t+`"`)
	}
	return isAnyCase("mlflow.spanType", spellings...)
}

var (
	mlflowInputs  = attr("mlflow.spanInputs")
	mlflowOutputs = attr("mlflow.spanOutputs")
)

// mlflowReads are the types of MLflow's spans that are reads. A tool's name is that of its span.
func mlflowReads() []row {
	return []row{
		{
			dialect: dialectMLflow, when: mlflowType("TOOL"), class: ClassTool,
			fields: otelTool.plus(fields{
				toolName:  first(attr("gen_ai.tool.name"), spanName()),
				arguments: first(mlflowInputs, otelTool[arguments]),
				result:    first(mlflowOutputs, otelTool[result]),
			}),
			names: []string{"{tool}"},
		},
		{
			dialect: dialectMLflow, when: mlflowType("RETRIEVER", "RERANKER"), class: ClassRetrieval,
			fields: otelRetrieval.plus(fields{
				query:     first(inside(mlflowInputs, "query"), otelRetrieval[query]),
				arguments: mlflowInputs,
				result:    first(mlflowOutputs, otelRetrieval[result]),
			}),
			documents: []documentSource{documentsIn(first(mlflowOutputs, attr("gen_ai.retrieval.documents")))},
		},
		{
			dialect: dialectMLflow, when: mlflowType("MEMORY"), class: ClassMemory,
			fields: otelMemoryCommon.plus(fields{
				arguments: mlflowInputs,
				result:    mlflowOutputs,
			}),
			documents: []documentSource{documentsIn(mlflowOutputs)},
		},
	}
}

// mlflowOthers are the types that are no reads.
func mlflowOthers() []row {
	return []row{
		{dialect: dialectMLflow, when: mlflowType("CHAT_MODEL", "LLM"), class: ClassInference, fields: otelCommon},
		{dialect: dialectMLflow, when: mlflowType("EMBEDDING"), class: ClassEmbedding, fields: otelCommon},
		{dialect: dialectMLflow, when: mlflowType("AGENT"), class: ClassAgent, fields: otelCommon},
		{
			dialect: dialectMLflow, class: ClassOther, fields: otelCommon,
			when: mlflowType("CHAIN", "PARSER", "WORKFLOW", "TASK", "GUARDRAIL", "EVALUATOR", "UNKNOWN"),
		},
	}
}
