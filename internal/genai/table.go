// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "slices"

// rows is the recognition table: what says by a key of its own that something
// was read, in every convention, then what says that it was something else,
// then what a tool touches. So where two conventions describe one span, the one
// that says more specifically what was executed wins.
func rows() []row {
	return slices.Concat(
		logfirePending(), // before what it repeats
		mastraRows(),     // before OpenInference, whose kinds it writes too
		pydanticRows(),
		logfireRows(),
		adkRows(),
		genkitRows(),
		strandsRows(),
		agentCoreRows(),
		microsoftRows(),
		crewAIRows(),
		flueRows(),
		liveKitRows(),
		pipecatRows(),
		claudeCodeRows(),
		codexRows(),
		copilotRows(),
		geminiRows(),
		qwenRows(),
		voltAgentRows(),

		langfuseReads(),
		langSmithReads(),
		vercelRows(),
		openInferenceReads(),
		openLITReads(),
		traceloopReads(),
		springReads(),
		haystackReads(),
		aliyunReads(),
		mlflowReads(),
		sentryReads(),
		vectorReads(),
		mcpReads(),
		otelReads(""),
		langfuseOthers(),
		langSmithOthers(),
		springOthers(),
		haystackOthers(),
		mlflowOthers(),
		openInferenceOthers(),
		mcpOthers(),
		openLITOthers(),
		traceloopSteps(),
		traceloopModels(),
		otelOthers(),
		traceloopOthers(),
		aliyunOthers(),
		sentryOthers(),
		litellmRows(),
		aliyunLogs(),
		otelLogRows(),
		effectRows(),
		otelRest(),
		openInferenceRest(),
	)
}
