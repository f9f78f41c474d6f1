// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "slices"

// rows is the recognition table: dialects that a scope or a key of their own
// gives away, then the OpenTelemetry conventions, which others build on, then
// what a tool touches. The numbers in the files of the rows are those of the
// mapping table in the dialect survey that the project started from.
func rows() []row {
	return slices.Concat(
		vercelRows(),
		openInferenceRows(),
		mcpRows(),
		otelRows(),
		otelLogRows(),
		effectRows(),
		otelRest(),
	)
}
