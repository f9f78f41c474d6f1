// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package cost measures what the read_record processor costs a span, as ratios
// against named baselines that work on the same spans in the same run. It has
// no code of its own: see BenchmarkCost, and docs/operate.md for the figures.
package cost
