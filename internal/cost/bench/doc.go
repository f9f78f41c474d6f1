// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench compares what a span costs the read_record processor with what
// it costs processors of OpenTelemetry's contrib distribution and bare loops: see
// BenchmarkCost. It is a module of its own and has no other code.
package bench
